"""`X_copy`: the view operators as copies, one entry for each, made from the views' own bodies (layer 2)."""

from __future__ import annotations

import functools

from . import shape, views  # noqa: F401 - their entries are copied here
from .registry import OPS, SMOOTH, UNIMPLEMENTED, call, op, real


def _copies(key, schema, sample, *, public=True, varargs=None):
    """Declare the copy of the view operator `key`; its node is the view's with "_copy" at the end."""
    view = OPS[key]

    @functools.wraps(view.body)
    def body(*args, **kwargs):
        return view.body(*args, **kwargs)

    del body.op
    body.__doc__ = view.doc and f"{view.doc.rstrip('.')}: a copy."  # python -OO has no texts
    returns = "Tensor[]" if view.multi else "Tensor"
    op(f"{schema} -> {returns}", node=f"{view.node}_copy", names=None if public else (), method=False, lift=view.lift, varargs=varargs, samples=[sample],
       kinks=SMOOTH, out=not view.multi)(body)


_copies("view", "view_copy(Tensor self, int[] size)", call(real(2, 6), (3, 4)))
_copies("expand", "expand_copy(Tensor self, int[] size, *, bool implicit=False)", call(real(2, 1), (2, 3)))
_copies("permute", "permute_copy(Tensor self, int[] dims)", call(real(2, 3), (1, 0)))
_copies("transpose.int", "transpose_copy.int(Tensor self, int dim0, int dim1)", call(real(2, 3), 0, 1))
_copies("squeeze", "squeeze_copy(Tensor self)", call(real(2, 1)))
_copies("squeeze.dim", "squeeze_copy.dim(Tensor self, int dim)", call(real(2, 1), 1))
_copies("squeeze.dims", "squeeze_copy.dims(Tensor self, int[] dim)", call(real(2, 1), (1,)))
_copies("unsqueeze", "unsqueeze_copy(Tensor self, int dim)", call(real(2), 0))
_copies("t", "t_copy(Tensor self)", call(real(2, 3)))
_copies("alias", "alias_copy(Tensor self)", call(real(2)))
_copies("unbind.int", "unbind_copy.int(Tensor self, int dim=0)", call(real(2, 3)))  # these three are published with their out= in _functions/inplace
_copies("split.Tensor", "split_copy.Tensor(Tensor self, int split_size, int dim=0)", call(real(5), 2))
_copies("split_with_sizes", "split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0)", call(real(5), (2, 3)))
_copies("unfold", "unfold_copy(Tensor self, int dimension, int size, int step)", call(real(5), 0, 2, 1))
_copies("select.int", "_select_copy(Tensor self, int dim, int index)", call(real(3, 2), 0, 1), public=False)
_copies("_slice", "_slice_copy(Tensor self, int dim, int start, *, int length, int step=1)", call(real(5), 0, 1, length=2), public=False)
_copies("_as_strided", "_as_strided_copy(Tensor self, int[] size, int[] stride, int offset, int[] own, int? storage_offset=None)",
        call(real(6), (2,), (2,), 1, (1,)), public=False)


@op("view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", derivative="none", method=False, samples=[call(real(2, grad=False), "int64")], kinks=SMOOTH)
def view_copy_dtype(self, *, dtype):
    """The same bytes as another dtype: a copy."""
    return shape._retyped(self, dtype)


@op("detach_copy(Tensor self) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, method=False, samples=[call(real(2, grad=False))],
    kinks=SMOOTH)
def detach_copy(self):
    """A copy that nothing can be differentiated through."""
    return self


@op("_set(Tensor self, Tensor history) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, second="set_", names=(),
    samples=[call(real(2, grad=False), real(2, grad=False))], kinks=SMOOTH)
def _set(self, history):
    """What a tensor shows whose storage was replaced while its old contents, or the new ones, had a history: it ends here."""
    return self


@op("_foreach_copied(Tensor self, Tensor history) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, second="_foreach_copy_",
    names=(), samples=[call(real(2, grad=False), real(2, grad=False))], kinks=SMOOTH)
def _foreach_copied(self, history):
    """What `_foreach_copy_` left in a tensor, where that or what was copied had a history: it ends here."""
    return self


@op("dequantize.self(Tensor self) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, names=(), samples=[call(real(2, grad=False))],
    kinks=SMOOTH)
def dequantize(self):
    """Plain numbers as float32, which nothing can be differentiated through."""
    return self.astype("float32")
