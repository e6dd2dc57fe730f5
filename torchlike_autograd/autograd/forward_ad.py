"""torch.autograd.forward_ad (layer 7): dual tensors, one level at a time.

A dual tensor is a value in a dual level (`_core/levels.py`): every operator that meets it computes its tangent too.  When the level ends, tensors that
are still held are their primals.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

from .._core import duals, levels, tangents_off
from .._core.composite import composite
from .._core.dispatch import named_tuple
from .._core.dtypes import promote_types
from .._core.layouts import contiguous_format
from .._core.record import thread
from .._core.storage import memory_size, repeats
from .._ops.spec import LeveledAval
from .._tensor import Tensor
from .grad_mode import _DecoratorContextManager

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_current_level = -1


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives."""

    primal: Tensor
    tangent: Tensor | None


def _open():
    """The running level that `enter_dual_level` made, as [its manager, the level, where it began]; None without one."""
    return thread.state.extra.get("forward_ad")


def _here():
    """The level in which dual tensors are made and unpacked: that of `jvp` where it runs innermost; None without one."""
    found, running = _open(), levels.running()
    if running and running[-1].kind == levels.DUAL:
        return running[-1]
    return None if found is None else found[1]


def enter_dual_level():
    """Begin a level in which dual tensors can be made; returns its number."""
    global _current_level
    levels.refuse_forward(any(lv.kind == levels.DUAL for lv in levels.running()))
    manager = levels.enter(levels.DUAL)
    tape = thread.state.tape
    thread.state.extra["forward_ad"] = (manager, manager.__enter__(), (tape, len(tape.values)))
    _current_level += 1
    return _current_level


def exit_dual_level(*, level=None):
    """End the level; its dual tensors are plain ones from now on."""
    global _current_level
    if level is not None and level != _current_level:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    found = _open()
    if found is None:
        raise RuntimeError("Dual level must be a positive number.")
    manager, own, start = found
    try:
        duals.end()
        levels.strip(own, start)
    finally:
        del thread.state.extra["forward_ad"]
        manager.__exit__()
        _current_level -= 1


def _is_fwd_grad_enabled():
    """Whether tangents are made and seen."""
    return tangents_off.enabled()


class _set_fwd_grad_enabled(_DecoratorContextManager):
    """Inside, results have no tangents, `make_dual` gives tensors without one and `unpack_dual` shows none."""

    def __init__(self, mode):
        self.mode, self.before = mode, _is_fwd_grad_enabled()
        tangents_off.turn(mode)

    def __enter__(self):
        """In force since it was made."""

    def __exit__(self, *exc):
        tangents_off.turn(self.before)

    def clone(self):
        """Another one of the same mode."""
        return type(self)(self.mode)


def _check_level(level, name, below):
    """torch's errors for a level that is not the running one; below: for one that cannot be."""
    if level is not None and level < 0 and below is not None:
        raise RuntimeError(below)
    if level is not None and level > 0:
        raise RuntimeError(f"Invalid level given to {name}")


_NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."


def make_dual(tensor, tangent, *, level=None):
    """A view of `tensor` with this tangent; of the class of a subclass among the two, as every operator's result (`torch._make_dual`)."""
    if _here() is None or (level is not None and level < 0):
        raise RuntimeError(_NO_LEVEL)
    for what, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    return _make_dual(tensor, tangent, level=level or 0)


def _check_tensor(x, name, argument):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' (position {1 + (argument == 'tangent')}) must be Tensor, not {type(x).__name__}")


@composite("torch._make_dual")
def _make_dual(primal, tangent, level):
    """`make_dual` as classes and modes are told of it: dtypes that have no tangents are refused before."""
    _check_tensor(primal, "_make_dual", "primal")
    _check_tensor(tangent, "_make_dual", "tangent")
    here = _here()
    if here is None or level:
        raise RuntimeError("Invalid level given to _make_dual")
    tensor, v = primal, primal._tl_value()
    number = max(_current_level, 0)     # that of `jvp` is none of the user's
    if levels.has(v, here):
        raise RuntimeError(f"Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {number} is not supported.")
    if levels.has(tangent._tl_value(), here):
        raise RuntimeError(f"Setting a forward grad that itself has a forward gradient at the same level{number} is not supported.")
    if not _is_fwd_grad_enabled() or thread.state.inference:
        return tensor.view_as(tensor)
    if tangent.shape != tensor.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of "
                           f"size {list(tensor.shape)} while the given forward gradient is of size {list(tangent.shape)}.")
    if tangent.dtype != tensor.dtype and promote_types(tangent.dtype, tensor.dtype) == tensor.dtype:
        tangent = tangent.to(tensor.dtype)  # where torch's keeps its dtype until an operator makes it wider
    if tangent.dtype != tensor.dtype:
        raise NotImplementedError(f"make_dual with a tangent of another dtype ({tangent.dtype}) than the primal's ({tensor.dtype})")
    if levels.mapped_by_innermost(v) or levels.mapped_by_innermost(tangent._tl_value()):
        raise RuntimeError("Batching rule not implemented for aten::_make_dual; the fallback path doesn't work on out= or view ops.")
    return duals.make(here, tensor, tangent if _same_memory(tensor, tangent) else _copied(tensor, tangent))


def _same_memory(a, b):
    """Whether two tensors lie in the same way in memories of the same size."""
    return (_same_size(a, b) and (not a.numel() or a.storage_offset() == b.storage_offset())
            and all(n < 2 or x == y for n, x, y in zip(a.shape, a.stride(), b.stride())) and a.is_conj() == b.is_conj() and a.is_neg() == b.is_neg())


def _same_size(a, b):
    """Whether the memories of two tensors of one shape and dtype have one size; of a mapped tensor PyTorch does not ask."""
    alone = a._tl_cell is None and b._tl_cell is None and a._tl_laid is None and b._tl_laid is None
    return alone or _is_mapped(b) or memory_size(a) == memory_size(b)


def _is_mapped(t):
    return type(t._tl_value().aval) is LeveledAval


def _copied(tensor, tangent):
    """A tangent laid out as the primal is, in a memory as large as the primal's: what views beyond the primal show of it is zero."""
    if _is_mapped(tangent):
        return tangent.clone()
    whole = _is_mapped(tensor) or memory_size(tensor) == tensor.numel() * tensor.itemsize
    if whole and not (tensor.is_conj() or tensor.is_neg() or not tensor.is_contiguous()):
        return tangent.clone(memory_format=contiguous_format)
    error = None if tensor._tl_view is None else repeats(tensor)
    if error is not None:  # what is laid out so cannot be written
        raise error
    if whole:
        out = tangent.new_empty_strided(tensor.shape, tensor.stride())
    else:
        memory = tangent.new_zeros(memory_size(tensor) // tensor.itemsize)
        out = tangent.new_empty(0).set_(memory, tensor.storage_offset(), tensor.shape, tensor.stride())
    out = out.conj() if tensor.is_conj() else out
    return (out._neg_view() if tensor.is_neg() else out).copy_(tangent)


def unpack_dual(tensor, *, level=None):
    """(primal, tangent or None), of the class of a subclass."""
    if _here() is None or (level is not None and level < 0):
        _check_tensor(tensor, "_unpack_dual", "dual")
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_unpack_dual(tensor, level=level or 0))


UNPACKED = SimpleNamespace(name="_unpack_dual", result_name=None, fields=("primal", "tangent"))  # what `torch.return_types` knows it by


@composite("torch._unpack_dual")
def _unpack_dual(dual, level):
    """`unpack_dual` as classes and modes are told of it."""
    _check_tensor(dual, "_unpack_dual", "dual")
    here = _here()
    if here is not None:
        _check_level(level, "_fw_primal", None)
    if here is None or not levels.has(dual._tl_value(), here):
        return named_tuple(UNPACKED)((duals.aliased(dual), None))
    primal, tangent = duals.unpacked(dual, here)
    return named_tuple(UNPACKED)((primal, tangent if _is_fwd_grad_enabled() else None))


class dual_level(_DecoratorContextManager):
    """`enter_dual_level` and `exit_dual_level` as a context manager and decorator."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exc):
        exit_dual_level()


