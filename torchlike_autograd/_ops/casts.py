"""What an operator's inputs are cast to, and the dtype that it computes in (layer 2): torch's promotion, by the operator's rule (`registry.Promote`);
and how an array is cast (`convert`)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .._core import config, dtypes, shapes
from .._core.dtypes import FLOAT
from .._core.numeric import warn_imaginary
from .conventions import cxx_of
from .registry import Promote
from .unsigned import refuse_unsigned

HALVES = (dtypes.float16, dtypes.bfloat16)


def is_number(a):
    """Whether an input type is that of a Python number."""
    return a.device == "number"


def casts_of(form):
    """Target dtype of each flat input (None: as it is) and the dtype computed in."""
    op, avals = form.op, form.avals
    refuse_unsigned(op, avals, form.spec.statics)
    if op.promote is Promote.NONE:
        return _number_casts(form, None), avals[0].dtype if avals else None
    if op.promote is Promote.BOOL:
        return tuple(dtypes.bool_ for _ in avals), dtypes.bool_
    if op.promote is Promote.SAME:
        compute = _same_dtype(form)
        return _number_casts(form, compute), compute
    taking = [a for a, owner in zip(avals, form.owners) if _takes_part(form, owner)]
    compute = promoted(taking)
    if op.promote is Promote.FLOAT and compute.category < FLOAT:
        compute = config.default_dtype()
    if op.promote is Promote.SUM:
        asked = form.spec.statics.get("dtype")
        compute = asked or (dtypes.int64 if compute.category < FLOAT else compute)
    casts = []
    for a, owner in zip(avals, form.owners):
        param_is_tensor = owner not in op.lift
        if _takes_part(form, owner) or not param_is_tensor:
            target = compute if not _is_int_param(op, owner) else dtypes.int64
            casts.append(None if a.dtype is target or owner in op.uncast else target)
        else:
            casts.append(None)
    return tuple(casts), compute


def jitted(f, avals):
    """f compiled by itself, for op-by-op execution: half precision is rounded wherever the program says so, as it is in whole programs."""
    half = any(getattr(a, "dtype", None) in HALVES for a in avals)
    return jax.jit(f, compiler_options={"xla_allow_excess_precision": False}) if half else jax.jit(f)


def wide_casts(form):
    """The casts with float32 for numbers that torch does not round to half precision first (it does round alpha)."""
    op = form.op

    def kept(owner):
        return owner in op.wide or (owner in op.lift and owner != "alpha" and not _takes_part(form, owner))

    return tuple(dtypes.float32 if d is form.compute and not a.ndim and kept(owner) else d for a, owner, d in zip(form.avals, form.owners, form.casts))


def _is_int_param(op, name):
    return not op.params or any(p.name == name and p.kind in ("int", "int[]") for p in op.params)  # chains of views have no schema


def _takes_part(form, owner):
    op = form.op
    if op.promote_with is not None:
        return owner in op.promote_with
    return owner not in op.lift


def promoted(avals):
    """torch's result type of these input types."""
    if not avals:
        return config.default_dtype()
    dims = [a.dtype for a in avals if a.ndim and not is_number(a)]
    zeros = [a.dtype for a in avals if not a.ndim and not is_number(a)]
    numbers = [a.dtype for a in avals if is_number(a)]
    return dtypes.result_type(dims, zeros, numbers, config.default_dtype())


def _number_casts(form, compute):
    """Numbers become the dtype of the first tensor where their category allows it."""
    first = compute or next((a.dtype for a in form.avals if not is_number(a)), None)
    out = []
    for a, owner in zip(form.avals, form.owners):
        if not is_number(a) or _is_int_param(form.op, owner) or first is None or a.dtype.category > first.category:
            out.append(None)
        else:
            out.append(first)
    return tuple(out)


def _same_dtype(form):
    tensors = [a for a, owner in zip(form.avals, form.owners) if not is_number(a) and _takes_part(form, owner)]
    first = tensors[0].dtype
    for a in tensors[1:]:
        if a.dtype is not first:
            raise RuntimeError(
                f"expected m1 and m2 to have the same dtype, but got: {cxx_of(first)} != {cxx_of(a.dtype)}")
    return first


def align_ranks(form, flat):
    """Leading dims of size 1 so that broadcasting operands have one rank (JAX runs without rank promotion)."""
    op = form.op
    if op.promote not in (Promote.RESULT, Promote.FLOAT, Promote.BOOL):
        return flat
    taking = [i for i, owner in enumerate(form.owners) if owner not in op.lift]
    if len(taking) < 2:
        return flat
    whole = shapes.broadcast(*[tuple(flat[i].shape) for i in taking])
    rank = max(flat[i].ndim for i in taking)
    spread = op.opmath and form.compute in HALVES  # torch rounds the gradients of all elements before it adds up those of one
    for i in taking:
        x = flat[i]
        if x.ndim != rank:
            x = flat[i] = x.reshape((1,) * (rank - x.ndim) + tuple(x.shape))
        if spread and x.dtype == form.compute.np and not is_number(form.avals[i]):
            flat[i] = jnp.broadcast_to(x, whole)
    return flat


def convert(x, dtype):
    """astype as torch casts: to bool tests for nonzero (both parts of a complex number), complex to real drops the imaginary part."""
    if dtype.name == "bool":
        return x if x.dtype == bool else x != 0
    if jnp.iscomplexobj(x) and not dtype.is_complex:
        x = jnp.real(x)
    if jnp.issubdtype(x.dtype, jnp.floating) and dtype.category == dtypes.INT:
        return _truncated(x, dtype)
    return _as_type(x, dtype)


def copied(x, dtype):
    """`x` in a NumPy dtype as torch's copy takes it: where complex numbers become real ones it says so."""
    dtype = dtypes.from_numpy_dtype(dtype)
    if jnp.iscomplexobj(x) and dtype.category not in (dtypes.BOOL, dtypes.COMPLEX):
        warn_imaginary()
    return convert(x, dtype)


def _as_type(x, dtype):
    if x.dtype == bool and dtype.category >= FLOAT:
        # XLA takes a converted truth value times y for a choice between y and 0: 0 * NaN would be 0, and 0 * -1 without its sign
        return jax.lax.select(x, jax.lax.full_like(x, 1, dtype.np), jax.lax.full_like(x, 0, dtype.np))
    return x.astype(dtype.np)


def _truncated(x, dtype):
    """A float as an integer: what no integer holds becomes the least one of 32 or 64 bits, and narrower types keep its low bits."""
    wide = jnp.int32 if dtype.itemsize < 4 or dtype is dtypes.int32 else jnp.int64
    out = _whole_number(x, wide)
    if dtype is dtypes.uint64:
        half = jnp.asarray(2.0**63, jnp.float32 if x.dtype.itemsize < 4 else x.dtype)
        out = jnp.where(x >= half, _whole_number(x - half, wide) ^ jnp.iinfo(wide).min, out)
    return out.astype(dtype.np)


def _whole_number(x, wide):
    x = x.astype(jnp.float32) if x.dtype.itemsize < 4 else x
    least = jnp.iinfo(wide).min
    fits = (x > least - 1.0) & (x < -float(least)) if wide == jnp.int32 else (x >= float(least)) & (x < -float(least))
    return jnp.where(fits, jnp.where(fits, x, 0).astype(wide), least)


__all__ = ["HALVES", "align_ranks", "casts_of", "convert", "is_number", "jitted", "promoted", "wide_casts"]
