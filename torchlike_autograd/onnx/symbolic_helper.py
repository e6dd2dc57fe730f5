"""torch.onnx.symbolic_helper (layer 8): what decorates the functions that write an operator for an export."""

from .._core import publish as _publish

__all__ = ["parse_args"]


def parse_args(*arg_descriptors):
    """A decorator that notes the kinds of the arguments; no export reads them (`torch.onnx.export` raises)."""

    def decorator(fn):
        fn._arg_descriptors = arg_descriptors
        return fn

    return decorator


__getattr__ = _publish.missing("torch.onnx.symbolic_helper")
