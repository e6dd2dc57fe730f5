"""torch.ao.quantization.qconfig (layer 9): what observes the activations and the weights of a module."""

from collections import namedtuple

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
