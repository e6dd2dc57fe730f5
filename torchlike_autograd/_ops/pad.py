"""Padding (layer 2): by a constant, by reflection, by the nearest element."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from . import held
from .conventions import always, only
from .memory import channels_last
from .registry import SMOOTH, call, op, real


def _pairs(pad, rank):
    """(before, after) of each dim; `pad` counts from the last dim."""
    out = [(0, 0)] * rank
    for k in range(len(pad) // 2):
        out[rank - 1 - k] = (pad[2 * k], pad[2 * k + 1])
    return out


def _check_constant(shape, pad):
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) // 2 > len(shape):
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
                           f"{len(pad)}while the input has {len(shape)}dimensions.")
    cropping = all(p <= 0 for p in pad)
    for k, (before, after) in enumerate(_pairs(pad, len(shape))):
        short = shape[k] + min(before, 0) + min(after, 0) < 0
        if short and (cropping or shape[k] + before + after >= 0):
            raise RuntimeError("narrow(): length must be non-negative.")
        if shape[k] + before + after < 0:
            raise RuntimeError(f"The input size {shape[k]}, plus negative padding {before} and {after} resulted in a negative output size, which is "
                               f"invalid. Check "
                               f"dimension {k} of your input.")


@op("constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", lies=channels_last, node="ConstantPadNdBackward0", method=False, lift=("value",), out=False,
    holds={"value": held.own},
    samples=[call(real(2, 3), (1, 2)), call(real(2, 3), (-1, 1, 0, 2), 1.5), call(real(3), (0, 0))], kinks=SMOOTH)
def constant_pad_nd(self, *, pad, value=0):
    """Some elements more (or, where negative, fewer) at the ends of each dim."""
    _check_constant(self.shape, pad)
    return lax.pad(self, jnp.asarray(value).astype(self.dtype), [(*p, 0) for p in _pairs(pad, self.ndim)])


_NAMES = {1: "one", 2: "two", 3: "three"}


def _indexed(x, padding, n, index):
    """Padding by a table of indices for each of the last n dims."""
    for k in range(n):
        dim = x.ndim - 1 - k
        before, after = padding[2 * k], padding[2 * k + 1]
        table = index(np.arange(-before, x.shape[dim] + after), x.shape[dim])
        x = _taken(x, table.tolist(), dim)
    return x


def _taken(x, table, dim):
    """The entries that a table names, which go up, down, or stay: slices, of which XLA makes one loop both ways, where a gather's way back scatters."""
    parts, at = [], 0
    while at < len(table):
        step, end = (table[at + 1] - table[at] if at + 1 < len(table) else 1), at + 1
        while end < len(table) and table[end] - table[end - 1] == step:
            end += 1
        first, last = sorted((table[at], table[end - 1]))
        part = lax.slice_in_dim(x, first, last + 1, axis=dim)
        parts.append(part if step > 0 else lax.rev(part, (dim,)) if step else jnp.repeat(part, end - at, dim))
        at = end
    if len(parts) > 1:
        return jnp.concatenate(parts, dim)
    return jnp.take(x, jnp.asarray(table, np.int64), axis=dim, mode="clip")  # torch adds its gradient to zeros too: -0 becomes 0


def _reflected(i, n):
    i = np.abs(i)
    return np.where(i >= n, 2 * (n - 1) - i, i)


def _check_rank(x, n, name):
    if x.ndim not in (n + 1, n + 2) or any(s == 0 for s in x.shape[-n - 1:]):
        raise RuntimeError(f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
                           f"{list(x.shape)}")


def _check_reflection(x, padding, n):
    for k in range(n):
        dim, before, after = x.ndim - 1 - k, padding[2 * k], padding[2 * k + 1]
        if before >= x.shape[dim] or after >= x.shape[dim]:
            raise RuntimeError(f"Argument #{4 + 2 * k}: Padding size should be less than the corresponding input dimension, but got: padding "
                               f"({before}, {after}) at "
                               f"dimension {dim} of input {list(x.shape)}")


_TOO_SMALL = {  # how PyTorch's kernels write the sizes that they were given, by the number of padded dims
    1: "W: {0}", 2: "H: {0}, W: {1}", 3: "D: {0} H: {1}, W: {2}"}


def _check_left(x, padding, n, name):
    """Refuse a cropping that leaves nothing in any dim; what leaves less than nothing in one of them cannot be made."""
    own = x.shape[-n:]
    left = [own[k] + padding[2 * (n - 1 - k)] + padding[2 * (n - 1 - k) + 1] for k in range(n)]
    if max(left) < 1:
        given = _TOO_SMALL[n].format(*own) + " " * (name == "replication" and n == 2)
        calculated = " ".join(f"{letter}: {size}" for letter, size in zip("DHW"[-n:], left))
        raise RuntimeError(f"input ({given}) is too small. Calculated output {calculated}")
    if min(left) < 0:
        size = [*x.shape[:-n], *left]
        raise RuntimeError(f"Trying to create tensor with negative dimension {next(s for s in size if s < 0)}: {size}")


def _family(n):
    shape = (2,) + (3,) * n
    padding = (1, 2) + (1, 0) * (n - 1)
    fields = {"method": False, "saves": {"self": ("self",)}, "kinks": SMOOTH, "out": False, "zero_second": always}

    @op(f"reflection_pad{n}d(Tensor self, int[{2 * n}] padding) -> Tensor", node=f"ReflectionPad{n}DBackward0", lies=channels_last, names=(),
        samples=[call(real(*shape), padding)], **fields)
    def reflection(self, *, padding):
        """Elements beyond an end are those before it, mirrored."""
        if len(padding) != 2 * n:
            raise RuntimeError(f"padding size is expected to be {2 * n}, but got: {len(padding)}")
        _check_rank(self, n, "reflection")
        _check_reflection(self, padding, n)
        _check_left(self, padding, n, "reflection")
        return _indexed(only(f"reflection_pad{n}d", self, "ifc"), padding, n, _reflected)

    @op(f"replication_pad{n}d(Tensor self, int[{2 * n}] padding) -> Tensor", node=f"ReplicationPad{n}DBackward0", lies=channels_last, names=(),
        samples=[call(real(*shape), padding)], **fields)
    def replication(self, *, padding):
        """Elements beyond an end are the last one."""
        if len(padding) != 2 * n:
            raise RuntimeError(f"padding size is expected to be {2 * n}")
        _check_rank(self, n, "replication")
        _check_left(self, padding, n, "replication")
        return _indexed(only(f"replication_pad{n}d", self, "ifc"), padding, n, lambda i, size: np.clip(i, 0, size - 1))


for _n in (1, 2, 3):
    _family(_n)
