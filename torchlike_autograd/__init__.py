"""torchlike_autograd: code written against torch.autograd runs on JAX, unchanged.

    import torchlike_autograd as torch

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    x.grad                                    # tensor([2., 4.])

Calls are recorded and run as compiled JAX programs when something is looked at; `stats()` shows what happened.
"""

import gc as _gc
import importlib
import sys

_collects = _gc.isenabled()
_gc.disable()  # what an import makes stays: to look for garbage among it takes a fourth of its time
try:
    from ._api import *  # noqa: F403
    from ._api import __version__ as __version__
    from ._api import _assert as _assert
    from ._api import _storage_classes as _storage_classes
    from ._checks import _check as _check
    from ._checks import _check_index as _check_index
    from ._checks import _check_is_size as _check_is_size
    from ._checks import _check_not_implemented as _check_not_implemented
    from ._checks import _check_tensor_all as _check_tensor_all
    from ._checks import _check_tensor_all_with as _check_tensor_all_with
    from ._checks import _check_type as _check_type
    from ._checks import _check_value as _check_value
    from ._checks import _check_with as _check_with
    from ._core.publish import load_all as _load_all
    from ._settings import _nnpack_available as _nnpack_available
    from ._tensor_members import _has_compatible_shallow_copy_type as _has_compatible_shallow_copy_type
finally:
    if _collects:
        if not _gc.get_freeze_count():  # nor is it looked through for being young when the import is over
            _gc.freeze()
            _gc.unfreeze()
        _gc.enable()

_ASKED_ELSEWHERE = {"has_mps": "mps.is_built", "has_cuda": "cuda.is_built", "has_cudnn": "cudnn.is_available", "has_mkldnn": "mkldnn.is_available"}


_LATER = frozenset((  # modules that are seldom asked for: imported then
    "__future__", "_compile", "_custom_op", "_custom_ops", "_dispatch", "_higher_order_ops", "_inductor", "_jit_internal", "_linalg_utils", "_lobpcg",
    "_prims_common", "_subclasses", "_utils", "_utils_internal", "ao", "distributions", "fx", "monitor", "quantization", "sparse"))

_OF_MODULES = {"_disable_dynamo": "_compile", "classes": "_classes", "lobpcg": "_lobpcg", "FileCheck": "testing", "_mkldnn": "_api",  # likewise what they hold
               "_tensor_classes": "sparse"}


def _asked_elsewhere(name, where):
    """The answer of torch.backends.`where`, and a word that it is asked there by now."""
    import warnings

    warnings.warn(f"'{name}' is deprecated, please use 'torch.backends.{where}()'", stacklevel=3)
    part, _, question = where.partition(".")
    return getattr(importlib.import_module(f"{__name__}.backends.{part}"), question)()


def __getattr__(name):
    if name == "torch":  # torch.torch is torch
        return sys.modules[__name__]
    if name in _OF_MODULES:
        return getattr(importlib.import_module(f"{__package__}.{_OF_MODULES[name]}"), name)  # by our name: `torch` as which we may be imported lacks some
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _ASKED_ELSEWHERE:
        return _asked_elsewhere(name, _ASKED_ELSEWHERE[name])
    from ._C import _script

    if name in _script.NAMES:
        return getattr(_script, name)
    found = _load_all().get(f"torch.{name}")  # operators that torch publishes with an underscore
    if found is not None:
        return found
    raise AttributeError(f"module 'torch' has no attribute '{name}'")


__all__ = [n for n in globals() if not n.startswith("_")]

