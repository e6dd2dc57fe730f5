"""torch.return_types (layer 8): the named tuples that operators return, by the name of the operator."""

from __future__ import annotations

from functools import cache as _cache

from ._core.dispatch import named_tuple as _named_tuple
from ._functions import histogram as _histogram
from ._functions import linalg as _linalg
from ._functions import linalg_spectral as _spectral
from ._ops.registry import OPS as _OPS
from .autograd.forward_ad import UNPACKED as _UNPACKED

_SEVERAL = [x for module in (_histogram, _linalg, _spectral) for x in vars(module).values() if isinstance(x, _linalg.Several)]
_WITHOUT_OUT = ("histogramdd", "_unpack_dual")


@_cache
def _makers():
    """{name: (operator, suffix)}"""
    found = {}
    for op in [*_OPS.values(), *_SEVERAL, _UNPACKED]:
        if op.fields is not None and not (op.result_name or op.name).startswith("fake_quantize"):  # these give theirs without a public class
            name = op.result_name or op.name
            for suffix in ("",) if name in _WITHOUT_OUT else ("", "_out"):
                found.setdefault(name + suffix, (op, suffix))
    return found


def __getattr__(name):
    if name == "all_return_types":
        return [_named_tuple(*maker) for name, maker in sorted(_makers().items()) if not name.startswith("_")]
    maker = None if name.startswith("__") else _makers().get(name)
    if maker is None:
        raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
    return _named_tuple(*maker)


def __dir__():
    return ["all_return_types", *sorted(_makers())]
