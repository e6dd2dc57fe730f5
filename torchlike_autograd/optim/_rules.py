"""The update of one parameter by each algorithm (layer 8), as pure JAX functions.

``rule(p, g, s, n, o) -> (new p, new states)``: the parameter, its gradient, a dict of its states, a dict of runtime numbers (0-dim float64 arrays, so that a
changing learning rate and the step count are data), a dict of structural options.  Scalars are combined in float64, as Python does it for torch, and meet
arrays in the arrays' own dtype.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["IN_HALF", "RULES"]

RULES: dict = {}
IN_HALF = ("adafactor", "muon")  # those that compute in half precision where the parameters are


def _rule(f):
    RULES[f.__name__] = f
    return f


def _as(x, like):
    """A float64 scalar in the dtype of an array."""
    return x.astype(like.dtype)


def _lerp(a, b, w):
    """a towards b by the float64 scalar w, by the form that is exact at the nearer end."""
    near = w < 0.5
    return jnp.where(near, a + _as(w, a) * (b - a), b - (b - a) * _as(1 - w, a))


def _step(s):
    """(the new step count in its own dtype, the same in float64)."""
    t = s["step"] + np.asarray(1, s["step"].dtype)
    return t, t.astype(np.float64).reshape(())


def _sign(g, o):
    return -g if o["maximize"] else g


def _rounder(o):
    """What rounds the result of one of torch's operators to the parameter's own dtype, where the rule computes in single precision in its place."""
    half = o.get("half")
    if half is None:
        return lambda x: x
    if half == jnp.bfloat16:
        return _half
    return lambda x: jax.lax.optimization_barrier(x.astype(half)).astype(x.dtype)  # no compiler leaves this rounding out


_BLOCK = 32  # numbers in half precision that torch's kernel takes at once


def _added(a, b, alpha, q):
    """torch's ``a.add(b, alpha=alpha)``: in half precision its kernel rounds the factor and the sum, and the product too in what is left over at the end of
    whole blocks."""
    alpha = q(_as(alpha, b))
    whole = q(a + alpha * b)
    left = a.size % _BLOCK
    if not left:
        return whole
    end = q(a + q(alpha * b))
    return end if left == a.size else jnp.where(np.arange(a.size).reshape(a.shape) < a.size - left, whole, end)


def _decayed(p, g, n, o):
    """The gradient with weight decay added."""
    return _added(g, p, n["weight_decay"], _rounder(o)) if o["weight_decay"] else g


def _shrunk(p, g, n, o):
    """(p, g) after weight decay of either kind."""
    if not o["weight_decay"]:
        return p, g
    if o["decoupled"]:
        return _rounder(o)(p * _as(1 - n["lr"] * n["weight_decay"], p)), g
    return p, _decayed(p, g, n, o)


def _square_average(v, g, beta, q):
    return q(q(v * _as(beta, v)) + _as(1 - beta, v) * g * g)


@_rule
def sgd(p, g, s, n, o):
    q = _rounder(o)
    g = _decayed(p, _sign(g, o), n, o)
    if not o["momentum"]:
        return _added(p, g, -n["lr"], q), {}
    buffer = q(s["momentum_buffer"] * _as(n["momentum"], g))
    buffer = _added(buffer, g, 1 - n["dampening"], q) if o["dampening"] else q(buffer + g)
    if o.get("first"):  # torch keeps the first gradient without its history
        buffer = jax.lax.stop_gradient(buffer)
    g = _added(g, buffer, n["momentum"], q) if o["nesterov"] else buffer
    return _added(p, g, -n["lr"], q), {"momentum_buffer": buffer}


@_rule
def adam(p, g, s, n, o):
    q, (step, t) = _rounder(o), _step(s)
    p, g = _shrunk(p, _sign(g, o), n, o)
    m = q(_lerp(s["exp_avg"], g, 1 - n["beta1"]))
    v = _square_average(s["exp_avg_sq"], g, n["beta2"], q)
    out = {"step": step, "exp_avg": m, "exp_avg_sq": v}
    if o["amsgrad"]:
        v = out["max_exp_avg_sq"] = jnp.maximum(s["max_exp_avg_sq"], v)
    if o.get("differentiable"):
        return p + m / _single_precision_bound(v, n, step), out
    size = n["lr"] / (1 - n["beta1"] ** t)
    bound = q(q(q(jnp.sqrt(v)) / _as(jnp.sqrt(1 - n["beta2"] ** t), v)) + _as(n["eps"], v))
    return q(p - _as(size, p) * m / bound), out


def _single_precision_bound(v, n, step):
    """What torch divides by in a step that is differentiated: its corrections are tensors of the step count's dtype."""
    left1, left2 = [1 - _as(n[k], step) ** step for k in ("beta1", "beta2")]
    back = -(_as(n["lr"], step) / left1)
    return jnp.sqrt(v) / (jnp.sqrt(left2) * back).astype(v.dtype) + (_as(n["eps"], step) / back).astype(v.dtype)


@_rule
def adamax(p, g, s, n, o):
    q, (step, t) = _rounder(o), _step(s)
    g = _decayed(p, _sign(g, o), n, o)
    m = q(_lerp(s["exp_avg"], g, 1 - n["beta1"]))
    u = jnp.maximum(q(s["exp_inf"] * _as(n["beta2"], p)), q(jnp.abs(g) + _as(n["eps"], p)))
    return q(p - _as(n["lr"] / (1 - n["beta1"] ** t), p) * m / u), {"step": step, "exp_avg": m, "exp_inf": u}


@_rule
def nadam(p, g, s, n, o):
    q, (step, t) = _rounder(o), _step(s)
    p, g = _shrunk(p, _sign(g, o), n, o)
    mu = n["beta1"] * (1 - 0.5 * 0.96 ** (t * n["momentum_decay"]))
    later = n["beta1"] * (1 - 0.5 * 0.96 ** ((t + 1) * n["momentum_decay"]))
    product = s["mu_product"] * _as(mu, s["mu_product"])
    so_far = product.astype(np.float64).reshape(())
    m = q(_lerp(s["exp_avg"], g, 1 - n["beta1"]))
    v = _square_average(s["exp_avg_sq"], g, n["beta2"], q)
    bound = q(q(jnp.sqrt(q(v / _as(1 - n["beta2"] ** t, v)))) + _as(n["eps"], v))
    p = q(p - _as(n["lr"] * (1 - mu) / (1 - so_far), p) * g / bound)
    p = q(p - _as(n["lr"] * later / (1 - so_far * later), p) * m / bound)
    return p, {"step": step, "mu_product": product, "exp_avg": m, "exp_avg_sq": v}


@_rule
def radam(p, g, s, n, o):
    q, (step, t) = _rounder(o), _step(s)
    p, g = _shrunk(p, _sign(g, o), n, o)
    m = q(_lerp(s["exp_avg"], g, 1 - n["beta1"]))
    v = _square_average(s["exp_avg_sq"], g, n["beta2"], q)
    left = 1 - n["beta2"] ** t
    most = 2 / (1 - n["beta2"]) - 1
    rho = most - 2 * t * n["beta2"] ** t / left
    known = rho > 5
    rho = jnp.where(known, rho, most)
    rect = jnp.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
    adapted = q(_as(jnp.sqrt(left), v) / q(q(jnp.sqrt(v)) + _as(n["eps"], v)))
    even = q(q(m / _as(1 - n["beta1"] ** t, m)) * _as(n["lr"], p))
    return q(p - jnp.where(known, q(q(even * adapted) * _as(rect, v)), even)), {"step": step, "exp_avg": m, "exp_avg_sq": v}


@_rule
def adagrad(p, g, s, n, o):
    q, (step, t) = _rounder(o), _step(s)
    g = _decayed(p, _sign(g, o), n, o)
    total = q(s["sum"] + g * g)
    rate = n["lr"] / (1 + (t - 1) * n["lr_decay"])
    return q(p - _as(rate, p) * g / q(q(jnp.sqrt(total)) + _as(n["eps"], p))), {"step": step, "sum": total}


@_rule
def adadelta(p, g, s, n, o):
    q, (step, _) = _rounder(o), _step(s)
    g = _decayed(p, _sign(g, o), n, o)
    square = _square_average(s["square_avg"], g, n["rho"], q)
    root, bound = [q(jnp.sqrt(q(x + _as(n["eps"], p)))) for x in (s["acc_delta"], square)]
    delta = q(q(root / bound) * g)
    moved = _square_average(s["acc_delta"], delta, n["rho"], q)
    return _added(p, delta, -n["lr"], q), {"step": step, "square_avg": square, "acc_delta": moved}


@_rule
def rmsprop(p, g, s, n, o):
    q, (step, _) = _rounder(o), _step(s)
    g = _decayed(p, _sign(g, o), n, o)
    square = _square_average(s["square_avg"], g, n["alpha"], q)
    out, spread = {"step": step, "square_avg": square}, square
    if o["centered"]:
        mean = out["grad_avg"] = q(_lerp(s["grad_avg"], g, 1 - n["alpha"]))
        spread = q(square - mean * mean)
    bound = q(q(jnp.sqrt(spread)) + _as(n["eps"], p))
    if not o["momentum"]:
        return q(p - _as(n["lr"], p) * g / bound), out
    out["momentum_buffer"] = q(q(s["momentum_buffer"] * _as(n["momentum"], p)) + g / bound)
    return _added(p, out["momentum_buffer"], -n["lr"], q), out


def _direction(x):
    """The sign, 0 of what is not a number."""
    return jnp.where(jnp.isnan(x), jnp.zeros_like(x), jnp.sign(x))


@_rule
def rprop(p, g, s, n, o):
    q, (step, _) = _rounder(o), _step(s)
    g = _sign(g, o)
    agree = _direction(q(g * s["prev"]))
    one = jnp.ones_like(agree)
    factor = q(jnp.where(agree > 0, _as(n["plus"], p) * one, jnp.where(agree < 0, _as(n["minus"], p) * one, one)))
    size = q(jnp.clip(q(s["step_size"] * factor), _as(n["least"], p), _as(n["most"], p)))
    g = jnp.where(agree < 0, jnp.zeros_like(g), g)
    return q(p - _direction(g) * size), {"step": step, "prev": g, "step_size": size}


@_rule
def asgd(p, g, s, n, o):
    q, (step, t) = _rounder(o), _step(s)
    g = _decayed(p, _sign(g, o), n, o)
    eta, mu = s["eta"].astype(np.float64).reshape(()), s["mu"].astype(np.float64).reshape(())
    p = q(p * _as(1 - n["lambd"] * eta, p))
    p = q(p - _as(eta, p) * g)
    ax = jnp.where(mu == 1, p, q(s["ax"] + q(q(p - s["ax"]) * _as(mu, p))))
    eta = n["lr"] / (1 + n["lambd"] * n["lr"] * t) ** n["alpha"]
    mu = 1 / jnp.maximum(1.0, t - n["t0"])
    return p, {"step": step, "eta": _as(eta, s["eta"]).reshape(s["eta"].shape), "mu": _as(mu, s["mu"]).reshape(s["mu"].shape), "ax": ax}


def _norm(x, axis=None, keepdims=False):
    return jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims))


def _larger(a, b):
    """The larger one as Python's `max` finds it: the first where the second is not a number."""
    return jnp.where(b > a, b, a)


@_rule
def adafactor(p, g, s, n, o):
    step, t = _step(s)
    g = _sign(g, o)
    small = n["eps1"] if "eps1" in n else jnp.asarray(jnp.finfo(p.dtype).eps, np.float64)
    weight = t ** n["beta2_decay"]
    rate = _larger(n["eps2"], _norm(p).astype(np.float64) / np.sqrt(p.size)) * jnp.minimum(n["lr"], 1 / jnp.sqrt(t))
    if o["weight_decay"]:
        p = p * _as(1 - n["lr"] * n["weight_decay"], p)
    out = {"step": step}
    if g.ndim > 1:
        row = out["row_var"] = _lerp(s["row_var"], _norm(g, -1, True) ** 2 / np.asarray(g.shape[-1], g.dtype), weight)
        column = out["col_var"] = _lerp(s["col_var"], _norm(g, -2, True) ** 2 / np.asarray(g.shape[-2], g.dtype), weight)
        spread = row * column / jnp.maximum(jnp.mean(row, axis=-2, keepdims=True), _as(small, g))
    else:
        spread = out["variance"] = _lerp(s["variance"], g * g, weight)
    update = g / jnp.sqrt(jnp.maximum(spread, _as(small * small, g)))
    clip = _larger(1.0, _norm(update).astype(np.float64) / (np.sqrt(update.size) * n["d"]))
    return p - _as(rate / clip, p) * update, out


@_rule
def muon(p, g, s, n, o):
    buffer = _lerp(s["momentum_buffer"], g, 1 - n["momentum"])
    update = _orthogonal(_lerp(g, buffer, n["momentum"]) if o["nesterov"] else buffer, n, o["ns_steps"])
    rows, columns = p.shape
    scale = 0.2 * np.sqrt(max(rows, columns)) if o["adjust"] == "match_rms_adamw" else np.sqrt(max(1.0, rows / columns) if columns else 1.0)
    p = p * _as(1 - n["lr"] * n["weight_decay"], p)
    return p - _as(n["lr"] * scale, p) * update.astype(p.dtype), {"momentum_buffer": buffer}


def _half(x):
    """Rounded to bfloat16; the type stays float32, so that no compiler leaves the rounding out."""
    return jax.lax.reduce_precision(x, 8, 7)


def _orthogonal(g, n, steps):
    """The nearest orthogonal matrix, nearly: `steps` of Newton and Schulz with a polynomial of degree five, in bfloat16; along the shorter side."""
    x = _half(g.astype(np.float32))
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = _half(x / jnp.maximum(_half(_norm(x)), _half(_as(n["eps"], x))))
    a, b, c = (_as(n[k], x) for k in "abc")
    for _ in range(steps):
        gram = _half(x @ x.T)
        x = _half(a * x + _half(b * gram + c * (gram @ gram)) @ x)
    return x.T if tall else x
