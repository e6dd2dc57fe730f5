"""torch._C._functorch (layer 8): questions about tensors inside transformations; levels themselves are not objects here."""

from __future__ import annotations

from .._core import levels
from .._core import publish as _publish


def _maps(tensor):
    return [lv for lv in levels.levels_of(tensor._value().aval) if lv[2] == levels.MAP]


def is_batchedtensor(tensor) -> bool:
    """Whether a running map maps over this tensor."""
    return bool(_maps(tensor))


def is_legacy_batchedtensor(tensor) -> bool:
    """False: there is one kind of map."""
    return False


def is_functionaltensor(tensor) -> bool:
    """False: nothing writes to memory here."""
    return False


def maybe_get_bdim(tensor) -> int:
    """The dim that is mapped over: hidden, hence the first; -1 without one."""
    return 0 if _maps(tensor) else -1


def reshape_dim_into(src, dst, x):
    """Dim `src` joined into dim `dst` of what is left, in front of it."""
    x = x.movedim(src, dst % (x.dim() - 1))
    dst %= x.dim() - 1
    return x.flatten(dst, dst + 1)


def reshape_dim_outof(src, size1, x):
    """Dim `src` cut in two, the first of `size1`.  RuntimeError where that does not divide it."""
    src %= x.dim()
    if x.size(src) % size1:
        raise RuntimeError(f"reshape_dim_outof: {size1} does not divide {x.size(src)}")
    return x.unflatten(src, (size1, x.size(src) // size1))


__getattr__ = _publish.missing("torch._C._functorch")
