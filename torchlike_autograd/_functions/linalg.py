"""Public functions of linear algebra made of the operators on matrices (layer 7): determinants, inverses, systems, factors."""

from __future__ import annotations

import functools
import operator
import warnings

import jax
import numpy as np

from .._core import dtypes, errors
from .._core.composite import composite, named
from .._core.dispatch import named_tuple, run
from .._core.ranges import known, unguarded
from .._core.record import thread
from .._core.words import check_flags, outs_of, type_name
from .._ops.registry import OPS
from .._ops.schema import parse
from .._ops.spec import spec_of
from .._tensor import Tensor
from .norm import check_out, into, write_laid


def tensors(name, **given):
    """Refuse arguments that are no tensors."""
    for i, (label, x) in enumerate(given.items()):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): argument '{label}' (position {i + 1}) must be Tensor, not {type_name(x)}")


# Errors that depend on data

def _cholesky_fails(a, statics):
    try:
        found = np.linalg.cholesky(a if not statics.get("upper") else np.swapaxes(a, -1, -2).conj())
    except np.linalg.LinAlgError:
        return True
    return bool(np.isnan(found).any())  # NumPy lets NaNs pass; the code of the operator decides


def _pivot_is_zero(a, statics):
    return bool(np.isneginf(np.linalg.slogdet(a)[1]).any())


_FAILS = {"linalg_cholesky_ex": _cholesky_fails, "cholesky": _cholesky_fails, "linalg_inv_ex": _pivot_is_zero, "_linalg_solve_ex": _pivot_is_zero,
          "linalg_lu_factor_ex": _pivot_is_zero}


def checked(spec, flat):
    """Call a guarded operator; where the values of the matrix are known, its error is raised here, as torch does, and not at the next look."""
    test = _FAILS.get(spec.op.key)
    a = known(flat[0]) if test is not None else None
    if a is None or not spec.statics.get("check_errors", True) or a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.dtype.char not in "fdFD":
        return run(spec, flat)
    if a.shape != tuple(flat[0].shape):  # levels of transformations lie before the dims
        return run(spec, flat)
    form = spec.form(tuple([x._tl_value().aval for x in flat]))  # errors of shape and dtype come first
    with np.errstate(all="ignore"):
        failed = a.size and test(a, spec.statics)
    code = _code(form, flat) if failed else 0
    if code:
        raise form.guard_error(code)
    return run(unguarded(spec), flat)


def _code(form, flat):
    with jax.enable_x64(True):
        return int(form.guard(*[x._tl_value().array if x._tl_value().array is not None else np.empty(x.shape, x.dtype.np) for x in flat]))


def call(key, flat, **statics):
    """Call an operator by its key."""
    op = OPS[key]
    return checked(spec_of(op, tuple(statics.items()), ("T",) * len(flat)), flat)


class Several:
    """A stand-in for an operator that returns a named tuple."""

    def __init__(self, name, *fields):
        self.name = self.result_name = name
        self.fields = fields
        self.multi = True
        self.schema = parse(f"{name}() -> ({', '.join('Tensor ' + f for f in fields)})")

    def __call__(self, *values):
        return tuple.__new__(named_tuple(self), values)


def several_into(name, several, out, results, *inputs):
    """Write results into the tuple `out`, if there is one."""
    if out is None:
        return several(*results)
    outs = outs_of(name, several, out)
    if thread.state.grad and any(t._tl_needs for t in (*outs, *inputs)):
        raise errors.out_requires_grad(name)
    for i, (o, r) in enumerate(zip(outs, results)):
        check_out(name, o, r, i)
    for o, r in zip(outs, results):
        write_laid(o, r)
    return Several(f"{several.name}_out", *several.fields)(*outs)


def check_float(name, A):
    """Refuse integers."""
    if A.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {A.dtype.char_name}")


def check_square(name, A):
    """Refuse what is no stack of square matrices."""
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")


TRIGGERED = "(Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/BatchLinearAlgebra.cpp:"


@functools.cache
def once(words):
    """Warn once in a process, as torch does."""
    warnings.warn(words, UserWarning, stacklevel=4)


# Determinants

@composite("torch.linalg.det")
def linalg_det(A, *, out=None):
    """The determinant."""
    tensors("linalg_det", A=A)
    return into("linalg_det", out, call("_linalg_det", [A])[0], A)


@composite("torch.det", "Tensor.det")
def det(input):
    """The determinant."""
    tensors("det", input=input)
    return call("_linalg_det", [input])[0]


_SLOGDET, _OLD_SLOGDET = Several("linalg_slogdet", "sign", "logabsdet"), Several("slogdet", "sign", "logabsdet")


@composite("torch.linalg.slogdet")
def linalg_slogdet(A, *, out=None):
    """The sign of the determinant and the logarithm of its absolute value."""
    tensors("linalg_slogdet", A=A)
    return several_into("linalg_slogdet", _SLOGDET, out, call("_linalg_slogdet", [A])[:2], A)


@composite("torch.slogdet", "Tensor.slogdet")
def slogdet(input, *, out=None):
    """The sign of the determinant and the logarithm of its absolute value."""
    tensors("slogdet", input=input)
    return several_into("slogdet", _OLD_SLOGDET, out, call("_linalg_slogdet", [input])[:2], input)


@composite("torch.logdet", "Tensor.logdet")
def logdet(input):
    """The logarithm of the determinant; NaN where that is negative."""
    tensors("logdet", input=input)
    check_square("logdet", input)
    check_float("logdet", input)
    if input.dtype.name in ("float16", "bfloat16"):
        raise RuntimeError(f"logdet: Low precision dtypes not supported. Got {input.dtype.char_name}")
    sign, log = call("_linalg_slogdet", [input])[:2]
    if input.dtype.is_complex:
        return named("add")(named("log")(sign), log)
    return named("where")(named("eq")(sign, -1.0), float("nan"), log)


# Inverses and systems

@composite("torch.inverse", "Tensor.inverse")
def inverse(input, *, out=None):
    """The inverse; an error for a singular matrix."""
    return inv(input, out=out)


@composite("torch.linalg.inv")
def inv(A, *, out=None):
    """The inverse; an error for a singular matrix."""
    tensors("linalg_inv", A=A)
    return into("linalg_inv", out, call("linalg_inv_ex", [A], check_errors="linalg.inv")[0], A)


_SOLVE_EX = Several("linalg_solve_ex", "result", "info")


@composite("torch.linalg.solve")
def solve(A, B, *, left=True, out=None):
    """The solution of AX = B (or XA = B); an error for a singular matrix."""
    tensors("linalg_solve", A=A, B=B)
    return into("linalg_solve", out, call("_linalg_solve_ex", [A, B], left=bool(left), check_errors="torch.linalg.solve")[0], A, B)


@composite("torch.linalg.solve_ex")
def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """The solution of AX = B (or XA = B), and the place of a zero pivot, if any."""
    tensors("linalg_solve_ex", A=A, B=B)
    result, _, _, info = call("_linalg_solve_ex", [A, B], left=bool(left), check_errors=bool(check_errors))
    return several_into("linalg_solve_ex", _SOLVE_EX, out, (result, info), A, B)


@composite("torch.linalg.cholesky")
def linalg_cholesky(input, *, upper=False, out=None):
    """The triangular factor of a positive-definite matrix; an error for any other."""
    tensors("linalg_cholesky", input=input)
    return into("linalg_cholesky", out, call("linalg_cholesky_ex", [input], upper=bool(upper), check_errors="linalg.cholesky")[0], input)


_CHOLESKY_WORDS = (
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.\nL = torch.cholesky(A)\n"
    "should be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\nshould be replaced with\n"
    "U = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent results for all valid (symmetric positive definite) inputs. "
    f"{TRIGGERED}1765.)")


@composite("torch.cholesky", "Tensor.cholesky")
def cholesky(input, upper=False, *, out=None):
    """The triangular factor of a positive-definite matrix, under its old name."""
    tensors("cholesky", input=input)
    once(_CHOLESKY_WORDS)
    return into("cholesky", out, call("cholesky", [input], upper=bool(upper)), input)


# LU

_LU_FACTOR, _LU_INFO = Several("linalg_lu_factor", "LU", "pivots"), Several("_lu_with_info", "LU", "pivots", "info")


@composite("torch.linalg.lu_factor")
def lu_factor(A, *, pivot=True, out=None):
    """The packed factors and the row exchanges; an error where U has a zero on its diagonal."""
    tensors("linalg_lu_factor", A=A)
    found = call("linalg_lu_factor_ex", [A], pivot=bool(pivot), check_errors="torch.linalg.lu_factor")[:2]
    return several_into("linalg_lu_factor", _LU_FACTOR, out, found, A)


_LDL_FACTOR = Several("linalg_ldl_factor", "LD", "pivots")


@composite("torch.linalg.ldl_factor")
def ldl_factor(input, *, hermitian=False, out=None):
    """The packed factors of a symmetric matrix and their pivots; an error where a pivot is 0."""
    tensors("linalg_ldl_factor", input=input)
    found = call("linalg_ldl_factor_ex", [input], hermitian=bool(hermitian), check_errors="torch.linalg.ldl_factor")[:2]
    return several_into("linalg_ldl_factor", _LDL_FACTOR, out, found, input)


_LU_WORDS = ("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a future PyTorch release.\n"
             "LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
             "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
             f"LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots) {TRIGGERED}2073.)")


@composite("Tensor.lu")
def tensor_lu(self, pivot=True, get_infos=False):
    """`lu` with a plain tuple."""
    return tuple(lu(self, pivot, get_infos))


@composite("torch.lu")
def lu(A, pivot=True, get_infos=False, out=None):
    """The packed factors and the row exchanges, also of singular matrices."""
    check_flags("_lu_with_info", pivot=pivot)
    once(_LU_WORDS)
    found = call("linalg_lu_factor_ex", [A], pivot=bool(pivot), check_errors=False)
    if out is not None:
        for o, r in zip(out, found):
            o.resize_as_(r).copy_(r)
        return tuple(out)
    return _LU_INFO(*found) if get_infos else tuple(found[:2])


_LU_SOLVE_WORDS = ("torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch release.\n"
                   "Note that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
                   f"X = torch.linalg.lu_solve(LU, pivots, B) {TRIGGERED}2230.)")


@composite("torch.lu_solve", "Tensor.lu_solve")
def lu_solve(input, LU_data, LU_pivots, *, out=None):
    """The solution of AX = B from the factors of A."""
    tensors("lu_solve", input=input, LU_data=LU_data, LU_pivots=LU_pivots)
    once(_LU_SOLVE_WORDS)
    return into("lu_solve", out, named("linalg_lu_solve")(LU_data, LU_pivots, input), input, LU_data)


_TRIANGULAR = Several("triangular_solve", "solution", "cloned_coefficient")
_TRIANGULAR_WORDS = ("torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future PyTorch release.\n"
                     "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
                     "X = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
                     f"X = torch.linalg.solve_triangular(A, B). {TRIGGERED}2273.)")


@composite("torch.triangular_solve", "Tensor.triangular_solve")
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """The solution of a triangular system, and the matrix as it was given."""
    tensors("triangular_solve", input=input, A=A)
    found = call("triangular_solve", [input, A], upper=bool(upper), transpose=bool(transpose), unitriangular=bool(unitriangular))
    once(_TRIANGULAR_WORDS)
    return several_into("triangular_solve", _TRIANGULAR, out, found, input, A)


# Powers and products

@composite("torch.linalg.matrix_power")
def linalg_matrix_power(input, n, *, out=None):
    """A matrix to an integer power, by repeated squaring."""
    tensors("linalg_matrix_power", input=input)
    return into("linalg_matrix_power", out, _power(input, n), input)


@composite("torch.matrix_power", "Tensor.matrix_power")
def matrix_power(input, n, *, out=None):
    """A matrix to an integer power, by repeated squaring."""
    tensors("matrix_power", input=input)
    return into("matrix_power", out, _power(input, n), input)


def _power(A, n):
    n = operator.index(n)
    check_square("linalg.matrix_power", A)
    if n == 0:
        return named("_identity_of")(A)
    if n == 1:
        return named("clone")(A)
    matmul = named("mm") if A.ndim == 2 else _batched
    if n < 0:
        return _raised(inv(A), -n, matmul)
    return _raised(A, n, matmul)


def _batched(a, b):
    from .matmul import matmul

    return matmul(a, b)


def _raised(A, n, matmul):
    if n == 1:
        return A
    if n == 2:
        return matmul(A, A)
    if n == 3:
        return matmul(matmul(A, A), A)
    result, square = None, None
    while n > 0:
        bit = n % 2
        n //= 2
        square = matmul(square, square) if square is not None else A
        if bit:
            result = matmul(result, square) if result is not None else square
    return result


# Tensors as matrices

def _prod(sizes):
    out = 1
    for n in sizes:
        out *= n
    return out


@composite("torch.linalg.tensorinv")
def tensorinv(input, ind=2, *, out=None):
    """The inverse of a tensor taken as a matrix of its first `ind` dims by the others."""
    tensors("linalg_tensorinv", input=input)
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > input.ndim or not input.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {input.ndim}")
    first, last = list(input.shape[:ind]), list(input.shape[ind:])
    rows, columns = _prod(first), _prod(last)
    if rows != columns:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {columns} != {rows}")
    found = call("linalg_inv_ex", [input.reshape(columns, rows)], check_errors="inv")[0]
    sizes = (*last, *first)
    return into("linalg_tensorinv", out, found.reshape(sizes), input)


@composite("torch.linalg.tensorsolve")
def tensorsolve(input, other, dims=None, *, out=None):
    """X with tensordot(input, X) = other."""
    tensors("linalg_tensorsolve", input=input, other=other)
    moved = input
    if dims is not None:
        moved = input.movedim(tuple(dims), tuple(range(input.ndim - len(dims), input.ndim)))
    rest = list(moved.shape[other.ndim:])
    rows, columns = _prod(other.shape), _prod(rest)
    if rows != columns:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
                           f"{columns} != {rows}")
    found = solve(moved.reshape(columns, rows), other.flatten())
    return into("linalg_tensorsolve", out, found.reshape(rest), input, other)


@composite("torch.orgqr")
def orgqr(input, input2, *, out=None):
    """`torch.linalg.householder_product` by its old name."""
    result = named("linalg_householder_product")(input, input2)
    return into("linalg_householder_product", out, result, input, input2)


@composite("Tensor.orgqr")
def tensor_orgqr(self, input2):
    """`torch.linalg.householder_product` by its old name."""
    return named("linalg_householder_product")(self, input2)


__all__ = ["TRIGGERED", "Several", "call", "check_float", "check_square", "once", "several_into", "tensors"]
