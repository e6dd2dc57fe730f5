"""torch.sparse (layer 8): tensors of which only some values are there.

`torch.sparse_coo_tensor`, `torch.sparse_csr_tensor` and `Tensor.to_sparse` make them; products with dense matrices, sums, softmax, elementwise functions and
slices differentiate to any order.  There: layouts COO (with dense dims too) and CSR (matrices).  Not there, each refused by name: CSC, BSR and BSC,
`torch.sparse.spsolve`, `sampled_addmm` and semi-structured sparsity.
"""

from __future__ import annotations

from .._core import dtypes, layouts
from .._core.composite import COMPOSITES
from .._core.overriding import Off
from .._core.publish import missing as _missing
from .._functions.legacy import CUDA_TYPES, tensortype
from .._tensor import Tensor
from . import _members, _sizes  # noqa: F401 (fill the table of calls, as the next two do)
from ._calls import product, scaled_sum
from ._checking import check_sparse_tensor_invariants, says_old
from ._dims import softmax as _softmax
from ._dims import sum_over
from ._tensor import coo, is_sparse, nothing

__all__ = ["addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "softmax", "spdiags", "sum"]


def mm(mat1, mat2, reduce=None):
    """The product of two matrices of which one is sparse, or both (then it is sparse)."""
    if reduce is not None:
        raise NotImplementedError("Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the 'SparseCPU' backend.")
    with Off():
        return product(mat1, mat2, "_coo_sparse_mm")


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2, mat1 sparse."""
    with Off():
        return scaled_sum(input, mat1, mat2, beta, alpha, "_coo_sparse_mm")


def sum(input, dim=None, dtype=None):
    """The sum of all values (dense), or over dims (sparse)."""
    if not is_sparse(input):
        raise NotImplementedError("torchlike_autograd: torch.sparse.sum of a dense tensor")
    with Off():
        return sum_over(input, dim, dtype=dtype)


def softmax(input, dim, *, dtype=None):
    """The softmax of the values that are there; the others count as -inf."""
    with Off():
        return _softmax(_sparse(input), dim, dtype, "_coo_softmax")


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of `softmax`."""
    with Off():
        return _softmax(_sparse(input), dim, dtype, "_coo_log_softmax")


def _sparse(x):
    if not is_sparse(x):
        raise NotImplementedError("Could not run 'aten::_sparse_softmax' with arguments from the 'CPU' backend.")
    return x


def spdiags(diagonals, offsets, shape, layout=None):
    """A matrix with given diagonals [count, n]: element j of a diagonal lies in column j."""
    from ._diagonals import placed

    with Off():
        return placed(diagonals, offsets, shape, layout)


def as_sparse_gradcheck(gradcheck):
    """Not there: raises NotImplementedError."""
    raise NotImplementedError("torchlike_autograd: torch.sparse.as_sparse_gradcheck")


_OLD = {"placed": ("indices, values, shape, *, device=", "indices, values, shape, dtype=, device=", 653),
        "smallest": ("indices, values, *, device=", "indices, values, dtype=, device=", 641),
        "empty": ("shape, *, device=", "shape, dtype=, device=", 684), "nothing": ("", "(0,), dtype=", 623)}


class _SparseType(tensortype):
    """The type of `torch.sparse.FloatTensor`, ...: sparse tensors of its dtype are instances."""

    __module__ = "torch.sparse"

    def __call__(cls, *args, device=None):
        if args and isinstance(args[0], Tensor):
            if len(args) == 1:
                raise NotImplementedError(f"torchlike_autograd: torch.sparse.{cls.__name__} of indices without values")
            indices, values, *size = args
            if values.dtype is not cls.dtype:
                raise TypeError(f"expected {cls.dtype.char_name} values (got {values.dtype.char_name})")
            says_old(*(_OLD["placed"] if size else _OLD["smallest"]))
            return coo(indices, values, *size, device=device)
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args or (0,)
        says_old(*(_OLD["empty"] if args else _OLD["nothing"]))
        return nothing(size, cls.dtype, device)

    def __instancecheck__(cls, x):
        return is_sparse(x) and x.dtype is cls.dtype


for _name, _dtype in (("BFloat16Tensor", dtypes.bfloat16), ("ByteTensor", dtypes.uint8), ("CharTensor", dtypes.int8), ("DoubleTensor", dtypes.float64),
                      ("FloatTensor", dtypes.float32), ("HalfTensor", dtypes.float16), ("IntTensor", dtypes.int32), ("LongTensor", dtypes.int64),
                      ("ShortTensor", dtypes.int16)):
    globals()[_name] = _SparseType(
        _name, (), {"dtype": _dtype, "is_cuda": False, "is_sparse": True, "layout": layouts.sparse_coo, "__module__": "torch.sparse"})

_tensor_classes = {*CUDA_TYPES.values(), *(COMPOSITES[f"torch.{_n}"] for _n in CUDA_TYPES), *(x for x in list(globals().values()) if type(x) is _SparseType)}

__getattr__ = _missing("torch.sparse")
