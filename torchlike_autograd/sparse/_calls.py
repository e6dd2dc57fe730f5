"""What is computed with sparse tensors (layer 8): element by element, sums, products, slices.  Each function is called under `Off`, so that a sparse tensor
given to an operator stands for its values."""

from __future__ import annotations

import numpy as np

from .._core import layouts, publish
from .._core.composite import named
from .._core.dtypes import can_cast
from .._core.shapes import broadcast
from .._core.size import Size
from .._functions.norm import into
from .._tensor import Tensor
from ..autograd.grad_mode import is_grad_enabled
from ..autograd.graph import increment_version
from . import _places
from ._checking import says_young
from ._members import answers
from ._tensor import CALLS, dense_of, host, is_sparse, like, made, merge, nothing, places, plain

PUBLIC = publish.load_all()


def calls(*names):
    """Decorator: functions of torch, methods of Tensor and functions of torch.nn.functional of these names."""
    def put(f):
        for name in names:
            for where in ("torch", "Tensor", "torch.nn.functional"):
                if f"{where}.{name}" in PUBLIC:
                    CALLS[PUBLIC[f"{where}.{name}"]] = f
            if hasattr(Tensor, name):
                CALLS[getattr(Tensor, name)] = f
        return f

    return put


# Element by element: what takes 0 to 0

_ZERO_TO_ZERO = [
    "abs", "absolute", "angle", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1",
    "fix", "floor", "frac", "isinf", "isnan", "isneginf", "isposinf", "log1p", "nan_to_num", "negative", "positive", "rad2deg", "relu", "round", "sgn",
    "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
]


def _elementwise(name):
    for where in ("torch", "Tensor", "torch.nn.functional"):
        f = PUBLIC.get(f"{where}.{name}")
        if f is not None:
            CALLS[f] = _each(f)
    CALLS[getattr(Tensor, name, None)] = _each(getattr(Tensor, name, None))


def _each(f):
    def call(s, *args, **kwargs):
        whole = merge(s)
        return like(f(whole, *args, **kwargs), whole)

    return call


for _name in _ZERO_TO_ZERO:
    _elementwise(_name)
CALLS.pop(None, None)
calls("neg")(lambda s: like(named("neg")(s), s))
calls("clone")(lambda s, **kwargs: like(Tensor.clone(s), s))
calls("detach")(lambda s: like(Tensor.detach(s), s))
calls("detach_")(lambda s: Tensor.detach_(s))
calls("conj", "conj_physical")(lambda s: like(named("conj_physical")(s), s) if Tensor.dtype.__get__(s).is_complex else s)
calls("resolve_conj", "resolve_neg")(lambda s: s)
calls("is_conj", "is_neg")(lambda s: False)
CALLS[Tensor.__abs__] = CALLS[Tensor.abs]
CALLS[Tensor.__neg__] = CALLS[Tensor.neg]


@calls("pow", "__pow__")
def _pow(s, exponent):
    if is_sparse(exponent) or isinstance(exponent, Tensor):
        raise NotImplementedError("Could not run 'aten::pow.Tensor_Tensor' with arguments from the 'SparseCPU' backend.")
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    whole = merge(s)
    return like(named("pow")(whole, exponent), whole)


# Two operands

_NOT_TO_DENSE = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."


@calls("add", "__add__", "__radd__")
def _add(a, b, *, alpha=1):
    return _sum_of(a, b, alpha, named("add"))


@calls("sub", "subtract", "__sub__")
def _sub(a, b, *, alpha=1):
    return _sum_of(a, b, alpha, named("sub"))


@calls("rsub", "__rsub__")
def _rsub(a, b, *, alpha=1):
    return _sum_of(b, a, alpha, named("sub"))


def _sum_of(a, b, alpha, f):
    if not is_sparse(b):
        raise RuntimeError(_NOT_TO_DENSE)
    if not is_sparse(a):
        shape = tuple(a.shape) if isinstance(a, Tensor) else ()
        if shape != tuple(places(b).size):
            raise RuntimeError(f"add: expected 'self' and 'other' to have same size, but self has size {list(shape)} while other has size "
                               f"{list(places(b).size)} (FYI: dense-sparse addition does not currently support broadcasting)")
        return f(a, dense_of(b), alpha=alpha)
    at, other = places(a), places(b)
    if at.size != other.size:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(at.size)} != {list(other.size)}")
    if at.merged and other.merged and (at.indices is other.indices or np.array_equal(at.at, other.at)):
        return like(f(a, b, alpha=alpha), a)
    zeros = PUBLIC["torch.zeros_like"]
    left, right = joined((a, zeros(b))), joined((zeros(a), b))
    both = made(f(left, right, alpha=alpha), at._replace(indices=host(np.concatenate([at.at, other.at], 1)), merged=False))
    return merge(both) if at.merged and other.merged else both


def joined(values):
    """Values of several tensors, one after the other."""
    return PUBLIC["torch.cat"](list(values))


@calls("mul", "multiply", "__mul__", "__rmul__")
def _mul(a, b):
    f = named("mul")
    if is_sparse(a) and is_sparse(b):
        a, b = merge(a), merge(b)
        for one, x in ((b, a), (a, b)):
            if not places(one).size and places(one).indices.shape[1] == 1:
                return like(f(x, named("squeeze")(one, 0)), x)
        at, other = places(a), places(b)
        if at.own != other.own:
            raise RuntimeError("sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse dimensions, and "
                               "shape of sparse dimensions")
        at = at._replace(told="int64")
        if np.array_equal(at.at, other.at):
            return made(f(a, b), at)
        i, j = _places.common(at.at, other.at, at.own)
        return made(f(rows_of(a, i), rows_of(b, j)), at._replace(indices=host(at.at[:, i])))
    if not is_sparse(a):
        a, b = b, a
    if not isinstance(b, Tensor) or not b.ndim:
        return like(f(a, b), a)
    whole = merge(a)
    at = places(whole)
    broadcast(tuple(b.shape), tuple(at.size))    # refuses in torch's words
    spread = b.expand(tuple(at.size))
    return like(f(whole, named("_coo_masked")(spread, at.indices)), whole)


@calls("div", "divide", "true_divide", "__truediv__")
def _div(a, b, *, rounding_mode=None):
    if is_sparse(b) or (isinstance(b, Tensor) and b.ndim):
        raise RuntimeError(f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {list(b.shape)} for divisor)")
    return like(named("div")(a, b) if rounding_mode is None else named("div")(a, b, rounding_mode=rounding_mode), a)


def rows_of(values, which):
    """Some of the values, by number."""
    return named("index_select")(values, 0, host(which))


# In place

def _become(s, new):
    """Let s be another sparse tensor."""
    if is_grad_enabled() and (Tensor.requires_grad.__get__(s) or Tensor.requires_grad.__get__(new)):
        raise NotImplementedError("torchlike_autograd: writing a sparse tensor that has a history")
    Tensor.data.__set__(s, Tensor.detach(new))
    s.__dict__["_places"] = places(new)
    increment_version(s)
    return s


def _written(s, new, operation):
    """Let s be what an operator made, in its own dtype."""
    if not can_cast(new.dtype, s.dtype):
        raise RuntimeError(f"Can't convert result type {new.dtype.char_name} to output {s.dtype.char_name} in {operation} operation")
    return _become(s, new if new.dtype is s.dtype else like(plain(new).to(s.dtype), new))


@answers("add_", "__iadd__")
def _add_(a, b, *, alpha=1):
    return _written(a, _add(a, b, alpha=alpha), "add") if is_sparse(a) else a.add_(dense_of(b), alpha=alpha)


@answers("sub_", "__isub__")
def _sub_(a, b, *, alpha=1):
    return _written(a, _sub(a, b, alpha=alpha), "add") if is_sparse(a) else a.sub_(dense_of(b), alpha=alpha)


@answers("mul_", "__imul__")
def _mul_(a, b):
    if not is_sparse(a):
        return a.mul_(dense_of(b))
    return _written(a, _mul(a, b), "mul")


@answers("div_", "__itruediv__")
def _div_(a, b):
    new = _div(a, b)
    if new.dtype is not a.dtype:
        raise RuntimeError(f"result type {new.dtype.char_name} can't be cast to the desired output type {a.dtype.char_name}")
    return _become(a, new)


@answers("zero_")
def _zero_(s):
    return _become(s, _empty_like(s))


@answers("copy_")
def _copy_(a, b, non_blocking=False):
    if not (is_sparse(a) and is_sparse(b)):
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                           f"{_kind_of(a)} and src type = {_kind_of(b)}")
    return _become(a, like(plain(Tensor.detach(b)).to(a.dtype, copy=True), b))


def _kind_of(x):
    said = Tensor.type(x)
    return said.replace("torch.", "torch.sparse.") if is_sparse(x) else said


@calls("zeros_like", "empty_like")
def _empty_like(s, *, dtype=None, requires_grad=False, memory_format=None, layout=None, **kwargs):
    if layout is layouts.strided:
        return PUBLIC["torch.zeros"](tuple(places(s).size), dtype=dtype or Tensor.dtype.__get__(s), requires_grad=requires_grad)
    if memory_format is not None:
        raise RuntimeError("memory format option is only supported by strided tensors")
    at = places(s)
    out = nothing(at.size, dtype or Tensor.dtype.__get__(s), requires_grad=requires_grad, dense=len(at.size) - at.indices.shape[0])
    if at.layout == "sparse_csr":
        out.__dict__["_places"] = places(out)._replace(layout=at.layout, told=at.told)
    return out


# Products

def _matrix(s, name):
    if len(places(s).size) != 2 or places(s).indices.shape[0] != 2:
        raise RuntimeError(f"{name}: a sparse matrix is wanted, not a tensor of size {list(places(s).size)}")
    return s


def _flipped(s, node):
    at = places(s)
    return made(named(node)(s), at._replace(indices=at.indices.flip(0), size=Size(at.size[::-1]), merged=False, layout="sparse_coo"))


def _fits(s, dense):
    at = places(s)
    if dense.ndim != 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [-1, 0], but got {dense.ndim})" if dense.ndim == 1 else
                         f"addmm: Argument #3 (dense): Expected 2D, got {dense.ndim}D")
    if dense.shape[0] != at.size[1]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {at.size[1]}, got {dense.shape[0]}")
    _same_kind(s, dense)


def _same_kind(a, b):
    a, b = Tensor.dtype.__get__(a), Tensor.dtype.__get__(b)
    if a is not b:
        raise RuntimeError(f"expected scalar type {a.char_name} but found {b.char_name}")


def product(a, b, name="_coo_mm"):
    """The product of two matrices, one of them sparse: dense, or sparse where both are."""
    if is_sparse(a) and is_sparse(b):
        return _both_sparse(_matrix(a, "mm"), _matrix(b, "mm"))
    if is_sparse(a):
        _fits(_matrix(a, "mm"), b)
        return named(name)(a, places(a).indices, b, rows=places(a).size[0])
    if not is_sparse(b):
        return named("mm")(a, b)
    return product(_flipped(_matrix(b, "mm"), "_coo_t"), a.t(), name).t()


def _both_sparse(a, b):
    a, b = merge(a), merge(b)
    _same_kind(a, b)
    at, other = places(a), places(b)
    if at.size[1] != other.size[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({at.size[0]}x{at.size[1]} and {other.size[0]}x{other.size[1]})")
    says_young()  # torch's product goes through layout CSR
    i, j = _places.joined(at.at, other.at)
    terms = made(named("mul")(rows_of(a, i), rows_of(b, j)),
                 at._replace(indices=host(np.stack([at.at[0, i], other.at[1, j]])), size=Size((at.size[0], other.size[1])), merged=False, told="int64"))
    return merge(terms)


@calls("mm", "spmm", "dsmm")
def _mm(a, b, out=None):
    return into("mm", out, product(a, b), a, b)


@calls("mv")
def _mv(s, v):
    if places(_matrix(s, "mv")).size[1] != v.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    _same_kind(s, v)
    return named("_coo_mv")(s, places(s).indices, v, rows=places(s).size[0])


@calls("matmul", "__matmul__")
def _matmul(a, b):
    if not is_sparse(b) and is_sparse(a) and b.ndim == 1:
        return _mv(a, b)
    if not is_sparse(a) and a.ndim == 1:
        return _mv(_flipped(b, "_coo_t"), a)
    if is_sparse(a) and len(places(a).size) == 3:
        return _bmm(a, b)
    return product(a, b)


CALLS[Tensor.__rmatmul__] = lambda a, b: _matmul(b, a)


@calls("bmm")
def _bmm(s, dense):
    if not is_sparse(s) or is_sparse(dense) or places(s).indices.shape[0] != 3:
        raise NotImplementedError("Could not run 'aten::bmm' with arguments from the 'SparseCPU' backend.")
    at = places(s)
    batch, rows, inner = at.size
    if tuple(dense.shape[:2]) != (batch, inner):
        raise RuntimeError(f"bmm: Expected size for first two dimensions of batch2 tensor to be: [{batch}, {inner}] but got: "
                           f"[{dense.shape[0]}, {dense.shape[1]}].")
    b, i, j = at.indices
    out = named("_coo_mm")(s, PUBLIC["torch.stack"]([b * rows + i, b * inner + j]), dense.reshape(batch * inner, -1), rows=batch * rows)
    return out.reshape(batch, rows, -1)


def scaled_sum(input, mat1, mat2, beta, alpha, name):
    """beta * input + alpha * mat1 @ mat2."""
    term = product(mat1, mat2, name)
    return named("add")(named("mul")(input, beta) if beta != 1 else input, term, alpha=alpha)


calls("addmm")(lambda input, mat1, mat2, *, beta=1, alpha=1: scaled_sum(input, mat1, mat2, beta, alpha, "_coo_mm"))


@calls("linear")
def _linear(input, weight, bias=None):
    out = product(input, weight.t() if not is_sparse(weight) else _flipped(weight, "_coo_t"))
    return out if bias is None else out + bias
