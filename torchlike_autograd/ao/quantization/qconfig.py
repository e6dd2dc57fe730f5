"""torch.ao.quantization.qconfig (layer 9): what observes the activations and the weights of a module."""

from collections import namedtuple

from ..._core import publish as _publish
from ...nn import Module as _Module

__all__ = ["QConfig"]


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """The two classes; ValueError for instances, since each module makes its own."""

    __slots__ = ()

    def __new__(cls, activation, weight):
        if isinstance(activation, _Module) or isinstance(weight, _Module):
            raise ValueError("QConfig received observer instance, please pass observer class instead. "
                             "Use MyObserver.with_args(x=1) to override arguments to constructor if needed")
        return super().__new__(cls, activation, weight)


globals().update(_publish.refused("torch.ao.quantization", "get_default_qat_qconfig", "get_default_qconfig", why="there are no quantized tensors here"))
__getattr__ = _publish.missing("torch.ao.quantization.qconfig")
