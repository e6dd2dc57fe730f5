"""Factorisations and Fourier transforms on the host (layer 3): the same LAPACK that JAX calls on the CPU, without compiling anything.

JAX takes LAPACK from SciPy, so a matrix that is factored here has the factors that a compiled program gives, except where blocks are cut differently.  Batches
go matrix by matrix.  Where LAPACK says that it failed, or what it iterates on is not finite, all results for that matrix are NaN, as in a compiled program.
"""

from __future__ import annotations

import math

import numpy as np

from .host_indexed import Unsupported

MOST = 256  # matrices of a batch; larger ones are left to XLA


def _routines(kind, names, dtype):
    """LAPACK's or BLAS' routines of one dtype; SciPy is imported where the first one is needed."""
    from scipy.linalg import blas, lapack

    return (lapack.get_lapack_funcs if kind == "lapack" else blas.get_blas_funcs)(names, dtype=dtype)


def _of_matrices(one):
    """For `one(params, eqn)`, which gives f(*matrices) -> tuple, a maker of the function that goes through a batch."""

    def make(params, eqn):
        aval = eqn.invars[0].aval
        batch, several, results = aval.shape[:-2], eqn.primitive.multiple_results, [v.aval for v in eqn.outvars]
        if np.dtype(aval.dtype).char not in "fdFD" or math.prod(batch) > MOST or any(0 in v.aval.shape for v in eqn.invars):
            raise Unsupported(eqn.primitive.name)
        f = one(params, eqn)

        def run(*xs):
            outs = [np.empty(a.shape, a.dtype) for a in results]
            for i in np.ndindex(batch):
                for out, y in zip(outs, f(*[x[i] for x in xs])):
                    out[i] = y
            return outs if several else outs[0]

        return run

    return make


def _nan_unless(ok, *outs):
    return outs if ok else tuple(np.full_like(y, np.nan) for y in outs)


@_of_matrices
def _cholesky(params, eqn):
    (potrf,) = _routines("lapack", ("potrf",), eqn.invars[0].aval.dtype)

    def f(a):
        factor, info = potrf(a, lower=1, clean=0)
        return _nan_unless(info == 0, factor)

    return f


@_of_matrices
def _triangular_solve(params, eqn):
    (trsm,) = _routines("blas", ("trsm",), eqn.invars[0].aval.dtype)
    transposed = (2 if params["conjugate_a"] else 1) if params["transpose_a"] else 0
    how = {"side": int(not params["left_side"]), "lower": int(params["lower"]), "trans_a": transposed, "diag": int(params["unit_diagonal"])}
    conjugated = params["conjugate_a"] and not params["transpose_a"]
    return lambda a, b: (trsm(1, a.conj() if conjugated else a, b, **how),)


@_of_matrices
def _lu(params, eqn):
    (getrf,) = _routines("lapack", ("getrf",), eqn.invars[0].aval.dtype)

    def f(a):
        lu, pivots, info = getrf(a)
        order = np.arange(a.shape[0])
        for i, k in enumerate(pivots):
            order[[i, k]] = order[[k, i]]
        return *_nan_unless(info >= 0, lu), pivots, order

    return f


def _reflected(householder, a, taus, columns):
    """The first `columns` columns of the product of reflections."""
    square = np.zeros((a.shape[0], columns), a.dtype)
    n = min(columns, a.shape[1])
    square[:, :n] = a[:, :n]
    return householder(square, taus)[0]


def _product_of_reflections(dtype):
    (routine,) = _routines("lapack", ("ungqr" if np.dtype(dtype).kind == "c" else "orgqr",), dtype)
    return routine


@_of_matrices
def _householder_product(params, eqn):
    routine = _product_of_reflections(eqn.invars[0].aval.dtype)
    return lambda a, taus: (routine(a, taus)[0],)


@_of_matrices
def _geqrf(params, eqn):
    (geqrf,) = _routines("lapack", ("geqrf",), eqn.invars[0].aval.dtype)
    return lambda a: geqrf(a)[:2]


@_of_matrices
def _qr(params, eqn):
    dtype, full, pivoting = eqn.invars[0].aval.dtype, params["full_matrices"], params["pivoting"]
    geqrf, geqp3 = _routines("lapack", ("geqrf", "geqp3"), dtype)
    routine = _product_of_reflections(dtype)

    def f(a):
        m, n = a.shape
        if pivoting:
            packed, order, taus = geqp3(a)[:3]
        else:
            packed, taus = geqrf(a)[:2]
        k = m if full else min(m, n)
        q, r = _reflected(routine, packed, taus, k), np.triu(packed)[:k]
        return (q, r, order - 1) if pivoting else (q, r)

    return f


def _of_all(eqn, key):
    """Whether all eigenvalues or singular values are wanted."""
    subset = eqn.params.get(key)
    return subset is None or tuple(subset) == (0, min(eqn.invars[0].aval.shape[-2:]))


@_of_matrices
def _eigh(params, eqn):
    dtype = eqn.invars[0].aval.dtype
    (evd,) = _routines("lapack", ("heevd" if np.dtype(dtype).kind == "c" else "syevd",), dtype)
    if not _of_all(eqn, "subset_by_index"):
        raise Unsupported("eigh")

    def f(a):
        if not np.isfinite(a).all():
            return np.full_like(a, np.nan), np.full(a.shape[:1], np.nan)
        w, v, info = evd(a, compute_v=1, lower=int(params["lower"]))
        return _nan_unless(info == 0, v, w)

    return f


@_of_matrices
def _svd(params, eqn):
    (gesdd,) = _routines("lapack", ("gesdd",), eqn.invars[0].aval.dtype)
    if not _of_all(eqn, "subset_by_index") or getattr(params.get("algorithm"), "name", "DEFAULT") not in ("DEFAULT", "DIVIDE_AND_CONQUER"):
        raise Unsupported("svd")
    vectors, shapes = params["compute_uv"], [v.aval.shape[-2:] if i else v.aval.shape[-1:] for i, v in enumerate(eqn.outvars)]

    def f(a):
        if not np.isfinite(a).all():
            return [np.full(shape, np.nan) for shape in shapes]
        u, s, vt, info = gesdd(a, compute_uv=int(vectors), full_matrices=int(params["full_matrices"]))
        return _nan_unless(info == 0, s, u, vt) if vectors else _nan_unless(info == 0, s)

    return f


def _fft(params, eqn):
    """Along the last dims, in the precision of the input."""
    kind, lengths = params["fft_type"].name, tuple(params["fft_lengths"])
    axes, dtype = tuple(range(-len(lengths), 0)), eqn.outvars[0].aval.dtype
    transform = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}[kind]
    if 0 in eqn.invars[0].aval.shape:
        raise Unsupported("fft")
    return lambda x: transform(x, lengths, axes).astype(dtype, copy=False)


FACTORISATIONS = {
    "cholesky": _cholesky, "triangular_solve": _triangular_solve, "lu": _lu, "householder_product": _householder_product, "geqrf": _geqrf, "qr": _qr,
    "eigh": _eigh, "svd": _svd, "fft": _fft,
}

__all__ = ["FACTORISATIONS"]
