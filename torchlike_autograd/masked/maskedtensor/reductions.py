"""torch.masked.maskedtensor.reductions (layer 8): what is computed of the elements that are there, and a mask that says where there were any."""

from __future__ import annotations

from ..._core.composite import named
from ..._core.dtypes import bool_
from ..._core.saying import warn
from ..._tensor import Tensor
from ...sparse._tensor import places
from ._tables import PUBLIC, functions, packets
from .core import ASK_FOR_IT, CALLS, calls, has_places, is_masked_tensor, over

__all__ = []  # as torch's

REDUCE_NAMES = ["sum", "mean", "amin", "amax", "argmin", "argmax", "prod", "all", "norm", "var", "std"]
NATIVE_REDUCE_FNS = packets(REDUCE_NAMES)


def _all(x, dim=None, keepdim=False, dtype=None, mask=None):
    filled = x.masked_fill(~mask, True)
    return named("all")(filled) if dim is None else named("all")(filled, dim, keepdim)


def _whole(name, x):
    """Over all elements."""
    mask = x._masked_mask if not has_places(x) else named("_coo_values")(x._masked_mask)
    values = over(named("_coo_values")(x), mask, mask) if has_places(x) else x
    out = (_all if name == "all" else PUBLIC[f"torch.masked.{name}"])(values, mask=mask)
    if name in ("argmin", "argmax") and has_places(x) and places(x).layout == "sparse_coo":
        out = _place(x, out)
    return over(out, mask.any(), mask)


def _place(x, at):
    """The number of the element that is value `at`."""
    size = places(x).size
    out, step = 0, 1
    for d in range(len(size) - 1, -1, -1):
        out, step = out + places(x).indices[d][at.long()] * step, step * size[d]
    return out.to(Tensor.dtype.__get__(x))


def _along(name, x, dim, keepdim, dtype):
    """Over dims."""
    if has_places(x):
        warn(f"The sparse version of {name} is not implemented in reductions.\n{ASK_FOR_IT}")
        return NotImplemented
    mask = x._masked_mask
    f = _all if name == "all" else PUBLIC[f"torch.masked.{name}"]
    out = f(x, dim=dim, keepdim=keepdim, dtype=dtype, mask=mask)
    for d in sorted([dim] if isinstance(dim, int) else dim, reverse=True):
        mask = mask.any(dim=d, keepdim=keepdim)
    return over(out, mask, mask)


def _reduce_dim_args(input, dim, keepdim=False, dtype=None):  # the name that errors say
    return input, dim, keepdim, dtype


def _reduction(name):
    def call(*args, **kwargs):
        if len(args) == 1 and not kwargs:
            return _whole(name, args[0])
        return _along(name, *_reduce_dim_args(*args, **kwargs))

    return call


for _name in REDUCE_NAMES:
    calls(*functions(_name), *packets([_name]))(_reduction(_name))

for _path, _f in PUBLIC.items():
    if _path.startswith("torch.masked."):
        CALLS[_f] = _f  # which know masked tensors


# Softmax

def _softmax(f, sign=1):
    def call(x, *args, **kwargs):
        if has_places(x):
            raise NotImplementedError("torchlike_autograd: softmax of a MaskedTensor of sparse data")
        mask = x._masked_mask
        filled = x.masked_fill(~mask, -sign * float("inf"))
        return over(f(filled, *args, **kwargs).masked_fill(~mask & mask.any(_dim(args, kwargs, x), True), 0), mask, x)

    return call


def _dim(args, kwargs, x):
    dim = args[0] if args else kwargs.get("dim")
    return dim if dim is not None else 0 if Tensor.dim(x) in (0, 1, 3) else 1  # where torch.nn.functional guesses


for _name, _sign in (("softmax", 1), ("softmin", -1)):
    for _f in functions(_name):
        calls(_f)(_softmax(_f, _sign))


# Choices

def _where(*args, **kwargs):
    if len(args) != 3:
        raise ValueError(f"__torch_function__, torch.where: len(args) must be 3 but got {len(args)}")
    if kwargs:
        raise ValueError(f"__torch_function__, torch.where: len(kwargs) must be 0 but got {len(kwargs)}")
    cond, x, y = args
    if is_masked_tensor(cond):
        raise NotImplementedError("torchlike_autograd: torch.where with a MaskedTensor as its condition")
    if any(isinstance(z, Tensor) and has_places(z) for z in args):
        raise NotImplementedError("torchlike_autograd: torch.where of MaskedTensors of sparse data")
    choose = named("where")
    out, mask = choose(cond, x, y), choose(cond, *(z._masked_mask if is_masked_tensor(z) else _there(z) for z in (x, y)))
    return over(out, mask, mask)


def _there(z):
    """A mask of what is all there."""
    return PUBLIC["torch.ones_like"](z, dtype=bool_) if isinstance(z, Tensor) else PUBLIC["torch.ones"]((), dtype=bool_)


calls(PUBLIC["torch.where"], *packets(["where"]))(_where)
calls(Tensor.where)(lambda x, cond, *args, **kwargs: _where(cond, x, *args, **kwargs))  # where torch takes x for the condition, and fails
