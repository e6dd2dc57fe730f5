"""torch.nn.functional.grouped_mm (layer 7): the checks of torch's kernel around `_grouped_mm`."""

from __future__ import annotations

from .._core import dtypes
from .._core.composite import composite, named
from .._core.record import thread

_TYPES = (dtypes.float32, dtypes.bfloat16, dtypes.float16)


def _check_strides(t):
    """One of the last dims is dense and the other's stride a multiple of 16 bytes."""
    strides, sizes = t.stride()[-2:], t.shape[-2:]
    unit = 16 // t.element_size()
    for inner in (0, 1):
        if strides[inner] == 1 and strides[1 - inner] >= max(1, sizes[inner]):
            if strides[1 - inner] % unit:
                raise RuntimeError("strides should be multiple of 16 bytes")
            return
    raise RuntimeError(f"Invalid strides/sizes, got {list(t.stride())} for strides and {list(t.shape)} for sizes")


def _check(a, b, offs, bias, out_dtype):
    if bias is not None and bias._tl_needs and thread.state.grad:
        raise RuntimeError("The function '_grouped_mm' is not differentiable with respect to argument 'bias'. This input cannot have requires_grad True.")
    for name, t in (("mat_a", a), ("mat_b", b)):
        if t.dtype not in _TYPES:
            raise RuntimeError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {t.dtype.char_name}")
    for name, t in (("mat_a", a), ("mat_b", b)):
        if t.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if (a.ndim == 3 or b.ndim == 3) and a.shape[-1] != b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    _check_strides(a)
    _check_strides(b)
    if (a.ndim == 2 or b.ndim == 2) == (offs is None):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if offs is not None and offs.ndim != 1:
        raise RuntimeError("offs has to be 1D")
    if offs is not None and offs.dtype is not dtypes.int32:
        raise RuntimeError("Offsets have to be int32")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    _check_groups(a, b, offs)
    if out_dtype is not None and out_dtype is not a.dtype:
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


def _check_groups(a, b, offs):
    if a.ndim == b.ndim == 3:
        if a.shape[0] != b.shape[0]:
            raise RuntimeError("batched dimension has to match")
    elif a.ndim != b.ndim and (a if a.ndim == 3 else b).shape[0] != offs.shape[0]:
        raise RuntimeError("matrix batch sizes have to match")


@composite("torch.nn.functional.grouped_mm")
def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """Groups of rows of `mat_a` times a matrix each: (rows, k) and (groups, k, n) give (rows, n), groups ending at `offs`.

    Also (groups, m, k) times (k, columns), (m, terms) times (terms, n) giving (groups, m, n), and stacks of both without `offs`.  What lies after the last
    group is 0 (in torch memory as it was); the cotangent may have any strides; dense results.  RuntimeError as in torch.
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    return named("_grouped_mm")(mat_a, mat_b, offs)


@composite("torch._grouped_mm")
def _grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None):
    """`torch.nn.functional.grouped_mm`, as its operator is called."""
    return grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)
