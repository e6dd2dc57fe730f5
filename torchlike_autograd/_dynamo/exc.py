"""torch._dynamo.exc (layer 8): the errors of `torch.compile` about what it is asked for."""

from __future__ import annotations

from .._core import publish as _publish

__all__ = ["InvalidBackend", "TorchDynamoException", "UncapturedHigherOrderOpError"]


class TorchDynamoException(RuntimeError):
    """The class of them all."""

    __module__ = "torch._dynamo.exc"


class InvalidBackend(TorchDynamoException):
    """A backend that nobody registered."""

    __module__ = "torch._dynamo.exc"

    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")



class UncapturedHigherOrderOpError(TorchDynamoException):
    """Functions given to an operator of `torch._higher_order_ops` that do not fit it."""

    __module__ = "torch._dynamo.exc"


__getattr__ = _publish.missing("torch._dynamo.exc")
