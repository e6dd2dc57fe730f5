"""Operators over lists of tensors that torch gives one node (layer 2), which shows their numbers: `_foreach_maximum` and `_foreach_minimum`."""

from __future__ import annotations

from . import compare
from .registry import at, call, op, real


def _extremes(name, body):
    """The larger or smaller one of each tensor and a number: of one number, and of a number for each tensor."""
    node = f"Foreach{name.capitalize()}Backward"

    @op(f"_foreach_{name}.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", node=f"{node}0", names=(), lift=("scalar",), saves={"self": ("self",)}, pairwise=True,
        samples=[call((real(2), real(3)), 0.1)], kinks=[call((at(0.0, 1.0, 2.0), at(1.0)), 1.0)])
    def by_one(self, *, scalar):
        """Each tensor against one number."""
        return tuple([body(x, scalar.astype(x.dtype)) for x in self])

    @op(f"_foreach_{name}.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", node=f"{node}1", names=(), saves={"self": ("self",)}, pairwise=True,
        samples=[call((real(2), real(3)), (0.1, -0.1))], kinks=[call((at(0.0, 1.0, 2.0), at(1.0)), (1.0, 1.0))])
    def by_each(self, *, scalars):
        """Each tensor against a number of its own."""
        return tuple([body(x, x.dtype.type(s)) for x, s in zip(self, scalars, strict=True)])


_extremes("maximum", compare.maximum)
_extremes("minimum", compare.minimum)
