"""torch.nn (layer 8): modules, parameters, functional operators."""

from .._core import publish as _publish
from . import functional, init
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

from . import modules  # isort: skip
from . import _reduction as _reduction  # isort: skip
from . import attention as attention  # isort: skip
from . import common_types, grad, parallel, parameter, utils  # isort: skip
from .parallel import DataParallel

globals().update({_name: getattr(modules, _name) for _name in modules.__all__})


def factory_kwargs(kwargs):
    """The device, dtype and memory_format among keyword arguments, also those given as `factory_kwargs`."""
    if kwargs is None:
        return {}
    known = {"device", "dtype", "memory_format"}
    unknown = kwargs.keys() - known - {"factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    out = dict(kwargs.get("factory_kwargs", {}))
    for k in known & kwargs.keys():
        if k in out:
            raise TypeError(f"{k} specified twice, in **kwargs and in factory_kwargs")
        out[k] = kwargs[k]
    return out


__all__ = ["Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter", "common_types", "factory_kwargs", "functional", "grad",
           "init", "modules", "parallel", "parameter", "utils",
           *modules.__all__]
__getattr__ = _publish.missing("torch.nn")
