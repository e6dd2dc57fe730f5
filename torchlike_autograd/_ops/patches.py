"""Blocks of images and channels moved (layer 2): im2col and back, pixels from channels, channels shuffled."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from .conventions import only
from .memory import channels_last
from .registry import SMOOTH, UNIMPLEMENTED, call, fails, op, real
from .windows import at_places, regular


def _check_two(kernel_size, dilation, padding, stride, output_size=None):
    fields = {"output_size": output_size, "kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    for word, values in fields.items():
        if values is not None and len(values) != 2:
            raise RuntimeError(f"It is expected {word} equals to 2, but got size {len(values)}")
    for word, short, values in (("kernel size", "kernel", kernel_size), ("stride", "stride", stride), ("dilation", "dilation", dilation)):
        if any(v <= 0 for v in values):
            raise RuntimeError(f"{word} should be greater than zero, but got {short}_height: {values[0]} {short}_width: {values[1]}")
    if any(v < 0 for v in padding):
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")


def _counts(sizes, kernel_size, dilation, padding, stride):
    return [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, d, p, t in zip(sizes, kernel_size, dilation, padding, stride)]


def _columns(x, kernel_size, dilation, padding, stride):
    """(N, C, H, W) to (N, C * kernel, places)."""
    counts = _counts(x.shape[2:], kernel_size, dilation, padding, stride)
    zero, parts = jnp.zeros((), x.dtype), []
    windows = [regular(c, k, s, p, d) for c, k, s, p, d in zip(counts, kernel_size, stride, padding, dilation)]
    for i in range(kernel_size[0]):
        rows = at_places(x, 2, windows[0].positions(i)[0], zero)
        parts += [at_places(rows, 3, windows[1].positions(j)[0], zero) for j in range(kernel_size[1])]
    return jnp.stack(parts, 2).reshape(x.shape[0], x.shape[1] * math.prod(kernel_size), math.prod(counts))


@op("im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor", node="Im2ColBackward0", names=(), out=False,
    samples=[call(real(1, 2, 3, 3), 2, 1, 0, 1)], kinks=SMOOTH)
def im2col(self, *, kernel_size, dilation, padding, stride):
    """The columns that hold every block of an image."""
    _check_two(kernel_size, dilation, padding, stride)
    valid = self.shape[-3:] if self.ndim in (3, 4) else ()
    if not valid or any(s == 0 for s in valid):
        if self.ndim < 3:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-self.ndim}, {self.ndim - 1}], but got 2)")
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
                           f"{list(self.shape)}")
    counts = _counts(self.shape[-2:], kernel_size, dilation, padding, stride)
    if any(c < 1 for c in counts):
        raise RuntimeError(f"Given input with spatial size {tuple(self.shape[-2:])}, kernel_size={tuple(kernel_size)}, dilation={tuple(dilation)}, padding="
                           f"{tuple(padding)}, calculated shape of the array of sliding blocks as {tuple(counts)}, but its components must be at least one.")
    x = only("im2col_out_cpu", self, "bifc" if self.dtype == bool else "fc")
    return _columns(x, kernel_size, dilation, padding, stride) if x.ndim == 4 else _columns(x[None], kernel_size, dilation, padding, stride)[0]


def _check_columns(x, output_size, kernel_size, dilation, padding, stride):
    if x.ndim not in (2, 3) or any(s == 0 for s in x.shape[-2:]):
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: "
                           f"{list(x.shape)}")
    planes, at = x.shape[-2], x.ndim - 2
    if math.prod(kernel_size) >= 2**63:
        raise RuntimeError(f"Given kernel_width = {kernel_size[1]} and kernel_height = {kernel_size[0]} the product of kernel_width and kernel_height overflowed.")
    if planes % math.prod(kernel_size):
        raise RuntimeError(f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={planes} and "
                           f"kernel_size={tuple(kernel_size)}.")
    counts = _counts(output_size, kernel_size, dilation, padding, stride)
    if x.shape[-1] != counts[0] * counts[1]:
        raise RuntimeError(f"Given output_size={tuple(output_size)}, kernel_size={tuple(kernel_size)}, dilation={tuple(dilation)}, padding={tuple(padding)}, "
                           f"stride={tuple(stride)}, expected size of input's dimension 2 to match the calculated number of sliding blocks {counts[0]} * "
                           f"{counts[1]} = {counts[0] * counts[1]}, but got input.size(2)={x.shape[at + 1]}.")
    if min(counts) < 1:
        raise RuntimeError(f"Given output_size={tuple(output_size)}, kernel_size={tuple(kernel_size)}, dilation={tuple(dilation)}, padding={tuple(padding)}, "
                           f"stride={tuple(stride)}, calculated shape of the array of sliding blocks as {tuple(counts)}, which is too small (non-positive)")


@op("col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor", node="Col2ImBackward0", names=(),
    out=False, samples=[call(real(1, 4, 4), 3, 2, 1, 0, 1)], kinks=SMOOTH)
def col2im(self, *, output_size, kernel_size, dilation, padding, stride):
    """The image in which every place is the sum of what the columns hold for it."""
    _check_two(kernel_size, dilation, padding, stride, output_size)
    _check_columns(self, output_size, kernel_size, dilation, padding, stride)
    if self.dtype == bool:
        return col2im(self.astype(np.float32), output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride) != 0
    x = only("col2im_out_cpu", self, "fc")
    x = x if x.ndim == 3 else x[None]
    image = jax.ShapeDtypeStruct((x.shape[0], x.shape[1] // math.prod(kernel_size), *output_size), x.dtype)
    out, = jax.linear_transpose(lambda y: _columns(y, kernel_size, dilation, padding, stride), image)(x)
    return out if self.ndim == 3 else out[0]


# Pixels

@op("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", node="PixelShuffleBackward0", lies=channels_last,
    names=("torch.pixel_shuffle", "torch.nn.functional.pixel_shuffle"),
    out=False, samples=[call(real(1, 4, 2, 3), 2), call(real(9, 1, 2), 3)],
    errors=[fails(call(real(3, 4), 2), RuntimeError, "pixel_shuffle expects input to have at least 3 dimensions, but got input with 2 dimension(s)"),
            fails(call(real(1, 3, 4, 4), 2), RuntimeError, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                  "upscale_factor, but input.size(-3)=3 is not divisible by 4")], kinks=SMOOTH)
def pixel_shuffle(self, *, upscale_factor):
    """(*, C * r * r, H, W) to (*, C, H * r, W * r)."""
    r = upscale_factor
    if self.ndim < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if r * r >= 1 << 63:
        raise ValueError(f"upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor={r}")
    *batch, c, h, w = self.shape
    if c % (r * r):
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)={c} is "
                           f"not divisible by {r * r}")
    x = self.reshape(*batch, c // (r * r), r, r, h, w)
    n = len(batch)
    return jnp.transpose(x, (*range(n + 1), n + 3, n + 1, n + 4, n + 2)).reshape(*batch, c // (r * r), h * r, w * r)


@op("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", node="PixelUnshuffleBackward0", lies=channels_last,
    names=("torch.pixel_unshuffle", "torch.nn.functional.pixel_unshuffle"), out=False, samples=[call(real(1, 1, 4, 2), 2), call(real(2, 3, 3), 3)],
    errors=[fails(call(real(1, 1, 4, 3), 2), RuntimeError, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=3 is not "
                  "divisible by 2")], kinks=SMOOTH)
def pixel_unshuffle(self, *, downscale_factor):
    """(*, C, H * r, W * r) to (*, C * r * r, H, W)."""
    r = downscale_factor
    if self.ndim < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *batch, c, h, w = self.shape
    for word, at, size in (("height", -2, h), ("width", -1, w)):
        if size % r:
            raise RuntimeError(f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but input.size({at})={size} is not divisible by {r}")
    x, n = self.reshape(*batch, c, h // r, r, w // r, r), len(batch)
    return jnp.transpose(x, (*range(n + 1), n + 2, n + 4, n + 1, n + 3)).reshape(*batch, c * r * r, h // r, w // r)


def _shuffled(x, groups):
    if x.ndim < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    n, c, *rest = x.shape
    if c % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups.")
    return jnp.swapaxes(x.reshape(n, groups, c // groups, *rest), 1, 2).reshape(x.shape)


@op("channel_shuffle(Tensor self, int groups) -> Tensor", node="ChannelShuffleBackward0", lies=channels_last,
    names=("torch.channel_shuffle", "torch.nn.functional.channel_shuffle"),
    out=False, samples=[call(real(1, 6, 2), 3), call(real(2, 4, 1, 1), 2)],
    errors=[fails(call(real(1, 3, 2), 2), RuntimeError, "Number of channels must be divisible by groups. Got 3 channels and 2 groups.")], kinks=SMOOTH)
def channel_shuffle(self, *, groups):
    """Channels of different groups side by side."""
    return _shuffled(self, groups)


@op("native_channel_shuffle(Tensor self, int groups) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, method=False, out=False,
    aliases=("torch.nn.functional.native_channel_shuffle",), samples=[call(real(1, 6, 2, grad=False), 3)], kinks=SMOOTH)
def native_channel_shuffle(self, *, groups):
    """`channel_shuffle` without a derivative."""
    return _shuffled(self, groups)
