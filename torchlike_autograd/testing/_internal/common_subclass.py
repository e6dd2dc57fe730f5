"""torch.testing._internal.common_subclass (layer 8): subclasses that dispatch below autograd, which there is not here; names that files import."""

from __future__ import annotations

from ..._core import publish as _publish
from ..._tensor import Tensor
from .logging_tensor import LoggingTensor

_HERE, _WHY = "torch.testing._internal.common_subclass", "__torch_dispatch__ does not see operators below autograd here"


class SubclassInfo:
    """A subclass and how tests make one."""

    __slots__ = ["closed_under_ops", "create_fn", "name"]

    def __init__(self, name, create_fn, closed_under_ops=True):
        self.name, self.create_fn, self.closed_under_ops = name, create_fn, closed_under_ops


subclass_db = {Tensor: SubclassInfo("base_tensor", create_fn=lambda shape: _publish.load_all()["torch.randn"](shape)),
               LoggingTensor: SubclassInfo("logging_tensor", create_fn=lambda shape: LoggingTensor(_publish.load_all()["torch.rand"](shape)))}
DiagTensorBelow, NonWrapperTensor, RedispatchTensor, SparseTensor, SubclassWithTensorFactory, WrapperTensor, WrapperTensorWithCustomSizes, \
    WrapperTensorWithCustomStrides = (_publish.refused_class(_HERE, n, _WHY) for n in (
        "DiagTensorBelow", "NonWrapperTensor", "RedispatchTensor", "SparseTensor", "SubclassWithTensorFactory", "WrapperTensor",
        "WrapperTensorWithCustomSizes", "WrapperTensorWithCustomStrides"))
__getattr__ = _publish.missing(_HERE)
