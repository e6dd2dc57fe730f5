"""What operators compute, said with NumPy and SciPy (layer 8): the reference of an operator that takes arrays and the keywords of `sample_kwargs`.

`facts.json` names those that are functions of NumPy or SciPy; the others are here by the name of the description.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math

import numpy as np

from ...._core import publish as _publish

REFS: dict = {}


def named(name):
    """The function `numpy.sin`, `scipy.special.erf`; None where SciPy is not installed."""
    where, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(where), last, None)
    except ImportError:
        return None


def reference(row):
    """The reference of a row of the facts, or None."""
    name, variant, said = row["name"], row.get("variant", ""), row.get("ref")
    if said is None:
        return REFS.get(f"{name}/{variant}", REFS.get(name))
    f = named(said.lstrip("+"))
    if f is None or said[0] != "+":
        return f
    return reducing(f) if row.get("kind") == "ReductionOpInfo" else floating(f)


def _default():
    table = _publish.load_all()
    return np.dtype(str(table["torch.get_default_dtype"]()).removeprefix("torch."))


def floating(f):
    """A function of floats that takes whole numbers as the default dtype, where NumPy would choose by their size."""

    @functools.wraps(f)
    def of(x, *args, **kwargs):
        return f(x.astype(_default()) if x.dtype.kind in "biu" else x, *args, **kwargs)

    return of


def reducing(f):
    """A reduction with PyTorch's words: `dim`, `keepdim`, `unbiased` or `correction`, a mask and the identity for what is masked."""
    try:
        takes = set(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        takes = set()

    @functools.wraps(f)
    def of(x, *args, dim=None, keepdim=False, mask=None, identity=None, unbiased=None, correction=None, **kwargs):
        axis = tuple(dim) if isinstance(dim, (list, tuple)) else dim
        if axis == () and x.ndim:
            axis = None
        if mask is not None and "where" in takes:
            kwargs["where"] = mask
            if identity is not None and "initial" in takes:
                kwargs["initial"] = identity
        if unbiased is not None or correction is not None:
            kwargs["ddof"] = int(unbiased) if unbiased is not None else int(correction)
        out = f(x, *args, axis=axis, **kwargs)
        if keepdim:
            gone = range(x.ndim) if axis is None else [a % max(x.ndim, 1) for a in (axis if isinstance(axis, tuple) else (axis,))]
            out = np.reshape(out, [1 if i in gone else n for i, n in enumerate(x.shape)])
        return out

    return of


def _prod(x, *, axis=None, **kwargs):
    """Products over several dims; whole numbers as int64."""
    return np.prod(x, axis=axis, dtype=np.int64 if x.dtype.kind in "iub" and x.dtype != np.uint64 else None, **kwargs)


_prod.__signature__ = inspect.signature(np.prod)


def _masked_spread(f):
    """`var` and `std` of what a mask leaves, without bias where nothing is said."""
    spread = reducing(f)

    def of(x, *args, **kwargs):
        return spread(x, *args, **({} if "unbiased" in kwargs or "correction" in kwargs else {"unbiased": True}), **kwargs)

    return of


def _sigmoid(x):
    if np.iscomplexobj(x):
        return x.dtype.type(1) / (1 + np.exp(-x))
    return named("scipy.special.expit")(x)


def _sgn(x):
    return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x))).astype(x.dtype) if np.iscomplexobj(x) else _sign(x)


def _sign(x):
    return x if x.dtype == bool else np.sign(x)


def _sinc(x):
    return np.sinc(x.astype(np.float32)).astype(x.dtype) if x.dtype == np.float16 else floating(np.sinc)(x)


def _scaled(op):
    return lambda x, y, *, alpha=1: op(x, np.multiply(alpha, y))


def _clamp(x, a_min=None, a_max=None, min=None, max=None):
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    out = x if low is None else np.maximum(x, low)
    return out if high is None else np.minimum(out, high)


def _divided(x, y, *, rounding_mode=None):
    if rounding_mode == "floor":
        return np.floor_divide(x, y)
    return np.trunc(np.divide(x, y)).astype(np.result_type(x, y)) if rounding_mode == "trunc" else floating(np.true_divide)(x, y)


def _polygamma(x, n):
    return named("scipy.special.polygamma")(n, x).astype(_default() if x.dtype.kind in "biu" else x.dtype)


def _mvlgamma(x, d):
    return named("scipy.special.multigammaln")(x.astype(np.float64), d).astype(_default() if x.dtype.kind in "biu" else x.dtype)


def _lgamma(x):
    """A pole at minus infinity too."""
    kind = _default() if x.dtype.kind in "biu" else x.dtype
    return np.where(np.isneginf(x.astype(kind)), kind.type(np.inf), named("scipy.special.gammaln")(x.astype(kind))).astype(kind)


def _softplus(x, beta=1, threshold=20):
    return np.where(beta * x > threshold, x, np.log1p(np.exp(np.minimum(beta * x, threshold))) / beta).astype(x.dtype)


def _exponential(x, alpha, inner):
    return np.where(x > 0, x, alpha * np.expm1(x / inner))


def _selu(x, alpha=1.6732632423543772848170429916717, scale=1.0507009873554804934193349852946):
    return (scale * _exponential(x, alpha, 1)).astype(x.dtype)


REFS.update({
    "add": _scaled(np.add), "sub": _scaled(np.subtract), "clamp_max": np.minimum, "clamp_min": np.maximum, "clamp": _clamp,
    "frac": lambda x: np.modf(x)[0], "floor_divide": np.floor_divide, "heaviside": np.heaviside, "sinc": _sinc, "sign": _sign, "sgn": _sgn,
    "rsqrt": lambda x: np.reciprocal(np.sqrt(x)), "sigmoid": _sigmoid, "lgamma": _lgamma, "i0": lambda x: floating(named("scipy.special.i0"))(x),
    "special.i1": lambda x: floating(named("scipy.special.i1"))(x), "polygamma": _polygamma, "special.polygamma": _polygamma, "mvlgamma": _mvlgamma,
    "fill": lambda x, value: np.full_like(x, value), "special.airy_ai": lambda x: named("scipy.special.airy")(x)[0],
    "special.spherical_bessel_j0": lambda x: named("scipy.special.spherical_jn")(0, x),
    "nn.functional.relu": lambda x: np.where(x > 0, x, 0 * (x != x) + np.where(x != x, x, 0)).astype(x.dtype),
    "nn.functional.elu": lambda x, alpha=1.0: _exponential(x, alpha, 1).astype(x.dtype),
    "nn.functional.celu": lambda x, alpha=1.0: _exponential(x, alpha, alpha).astype(x.dtype),
    "nn.functional.selu": _selu, "nn.functional.prelu": lambda x, weight: np.maximum(0.0, x) + np.minimum(0.0, x) * weight,
    "nn.functional.silu": lambda x: x * _sigmoid(x), "nn.functional.hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "nn.functional.logsigmoid": lambda x: np.where(x < 0, x, 0) - np.log1p(np.exp(-np.abs(x))), "nn.functional.softsign": lambda x: x / (np.abs(x) + 1),
    "nn.functional.mish": lambda x: x * np.tanh(_softplus(x)), "nn.functional.tanhshrink": lambda x: x - np.tanh(x),
    "nn.functional.threshold": lambda x, threshold, value: np.where(x <= threshold, value, x).astype(x.dtype), "nn.functional.softplus": _softplus,
    "prod": reducing(_prod), "masked.prod": reducing(_prod), "masked.var": _masked_spread(np.var), "masked.std": _masked_spread(np.std),
    "diff": lambda x, n=1, dim=-1, prepend=np._NoValue, append=np._NoValue: np.diff(x, n, dim, prepend, append), "equal": np.array_equal,
    "aminmax": lambda x, dim=None, keepdim=False: (np.amin(x, axis=dim, keepdims=keepdim), np.amax(x, axis=dim, keepdims=keepdim)),
    "addbmm": lambda m, a, b, beta=1, alpha=1: beta * m + alpha * np.sum(np.matmul(a, b), axis=0), "view_copy": lambda x, shape: x.reshape(shape).copy(),
    "cat": lambda parts, dim=0: np.concatenate([p for p in parts if p.shape != (0,)] or parts, axis=dim),
    "where": lambda x, mask, other: np.where(mask, x, other), "diagflat": lambda x, offset=0: np.diagflat(x, k=offset),
    "transpose": lambda x, a, b: np.swapaxes(x, a, b), "item": lambda x: x.item(),
    "flatten": lambda x, start_dim=0, end_dim=-1: _flat(x, start_dim, end_dim),
    "linalg.cross": lambda a, b, dim=-1: np.cross(a, b, axis=dim), "linalg.vecdot": lambda a, b, *, dim=-1: (a.conj() * b).sum(dim),
    "linalg.tensorsolve": lambda a, b, dims=None: np.linalg.tensorsolve(a, b, axes=dims),
    "triu_indices": lambda rows, cols, offset=0, dtype=np.int64, **_: np.array(np.triu_indices(rows, offset, cols), dtype=dtype),
    "tril_indices": lambda rows, cols, offset=0, dtype=np.int64, **_: np.array(np.tril_indices(rows, offset, cols), dtype=dtype),
})


def _flat(x, first, last):
    if not x.ndim:
        return x.reshape(1)
    first, last = first % x.ndim, last % x.ndim
    return x.reshape(x.shape[:first] + (math.prod(x.shape[first:last + 1]),) + x.shape[last + 1:])


# Keywords of samples

KEYWORDS = {"div/trunc_rounding": {"rounding_mode": "trunc"}, "div/floor_rounding": {"rounding_mode": "floor"}, "nn.functional.elu": {"alpha": 0.8},
            "nn.functional.celu": {"alpha": 0.8}, "nn.functional.rrelu": {"lower": 0.0, "upper": 1.0, "training": True}, "fill": {"value": 3},
            "nn.functional.threshold": {"threshold": 0.1533203125, "value": -9}, "round/decimals_0": {"decimals": 0}, "round/decimals_3": {"decimals": 3},
            "round/decimals_neg_3": {"decimals": -3}, "nn.functional.softplus": {"beta": 3, "threshold": 0.2}, "polygamma/polygamma_n_0": {"n": 0},
            **{f"polygamma/polygamma_n_{k}": {"n": 4} for k in range(1, 5)}, "special.polygamma/special_polygamma_n_0": {"n": 0}}
_MVL = {f"mvlgamma/mvlgamma_p_{p}": p for p in (1, 3, 5)}


def keywords(key):
    """`sample_kwargs` of an operator: (device, dtype, input) to the keywords of the operator and of its reference; None without any."""
    if key in KEYWORDS:
        return lambda device, dtype, input: (dict(KEYWORDS[key]), dict(KEYWORDS[key]))
    if key in _MVL:
        return lambda device, dtype, input: ({"p": _MVL[key]}, {"d": _MVL[key]})
    return _weight if key == "nn.functional.prelu" else None


def _weight(device, dtype, input):
    weight = _publish.load_all()["torch.rand"](()).to(dtype).to(device).requires_grad_(input is not None and input.requires_grad)
    wide = weight.detach().cpu()
    return {"weight": weight}, {"weight": (wide.float() if str(dtype) == "torch.bfloat16" else wide).numpy()}


# Inputs at which a reference says nothing

def _near(step):
    """Whether numbers lie close to multiples of `step`, which may be imaginary."""

    def at(x):
        if isinstance(step, complex) and not x.is_complex():
            return x.new_tensor(False).bool()
        scaled = x / step
        parts = (scaled.real, scaled.imag) if scaled.is_complex() else (scaled,)
        apart = [(p - p.round()).abs() < 0.1 for p in parts]
        return apart[0] & apart[1] if len(apart) == 2 else apart[0]

    return at


def _pole(x):
    return (x < 0.1) & ((x - x.round()).abs() < 1e-4)


def _below(bound):
    return lambda x: x.new_tensor(False).bool() if x.is_complex() else x < bound


AWAY = {"acosh": (_below(1), 2), **{name: (lambda x: x.abs() < 0.1, 1) for name in ("log", "log2", "log10")}, "lgamma": (_below(0.1), 1),
        "nn.functional.tanhshrink": (_near(math.pi * 0.5j), 0), "tanh": (_near(math.pi * 0.5j), 0), "tan": (_near(math.pi * 0.5), math.pi),
        "sigmoid": (_near(math.pi * 1j), 0), "polygamma": (_pole, 1), "special.polygamma": (_pole, 1)}


# Calls of a reduction beside its dims

def _spreads(t, dim=None, keepdim=False):
    yield (), {"unbiased": True}
    yield (), {"unbiased": False}
    if dim is not None:
        for correction in (0, 1, t.new_tensor(1).long()):
            yield (), {"correction": correction}


def _orders(t, dim=None, keepdim=False):
    for order in (6, 4, 2, 1, 0, 0.9, math.inf, -2.1, -math.inf):
        yield (), {"ord": order}


CALLS = {"std": _spreads, "var": _spreads, "linalg.vector_norm": _orders}
