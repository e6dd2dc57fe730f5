"""torch._dispatch (layer 8): how PyTorch lets Python find an operator's kernels; here all are found by Python."""

from . import python

__all__ = ["python"]
