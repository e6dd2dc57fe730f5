"""The binary cross entropy of logits (layer 2).

PyTorch computes it in place on ``1 - target``, so that the loss has the dtype and the shape of the target.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .._core.dtypes import FLOAT, can_cast, result_type
from .._core.shapes import broadcast
from .conventions import only, partials, straight, wide
from .loss import reduced
from .memory import second_first
from .opened import TANGENTS
from .registry import BODY, Promote, at, call, op, real

_INF = float("inf")


def _log_sigmoid(x):
    log = jnp.minimum(wide(x), jnp.zeros_like(wide(x))) - jnp.log1p(jnp.exp(-jnp.abs(wide(x))))
    return log.astype(x.dtype)


@partials(lambda t, out, x: t * (1 - out) * out)
def _sigmoid(x):
    return jax.lax.logistic(x)


@partials(lambda t, out, x: t * _sigmoid(-x))
def _log_chance(x):
    return _log_sigmoid(x)


@partials(lambda t, out, x, y, ls: t * (_sigmoid(x) - y), lambda t, out, x, y, ls: -x * t, None)
def _plain(x, y, log_sigmoid):
    """As PyTorch's formula, whose gradients are differences of probabilities and so exactly 0 where these round to the target."""
    return (1 - y) * x - log_sigmoid


@partials(lambda t, out, x, y, ls, p: t * ((p * y + 1 - y) * _sigmoid(x) - p * y), lambda t, out, x, y, ls, p: t * (_log_chance(-x) - p * _log_chance(x)), None, None)
def _weighted(x, y, log_sigmoid, p):
    return (1 - y) * x - ((p - 1) * y + 1) * log_sigmoid


def _in_steps(x, y, log_sigmoid, p):
    """The value where all are of one half precision: PyTorch rounds each step."""
    if p is not None:
        log_sigmoid = log_sigmoid * ((p - 1) * y + 1)
    return (1 - y) * x - log_sigmoid


def _forward(x, y, p):
    """What PyTorch's forward mode differentiates."""
    return (1 - y) * x - (1 if p is None else (p - 1) * y + 1) * _log_chance(x)


def _written(own, other):
    """Refuse what does not fit into a tensor of shape `own` together with it."""
    found = broadcast(own, other)
    if found != own:
        raise RuntimeError(f"output with shape {list(own)} doesn't match the broadcast shape {list(found)}")


def _check_written(types, result, statics):
    """PyTorch's refusals of what its steps in place cannot hold, in their order."""
    x, y, weight, chances = (types.get(name) for name in ("self", "target", "weight", "pos_weight"))
    if x.dtype.category != FLOAT:
        raise NotImplementedError(f"\"log_sigmoid_cpu\" not implemented for '{x.dtype.char_name}'")
    if chances is not None:
        _written(x.shape, broadcast(chances.shape, y.shape))
    _written(y.shape, x.shape)
    for other in (x, weight):
        have = other and result_type([y.dtype, other.dtype], [], [], None)
        if other and not can_cast(have, y.dtype):
            raise RuntimeError(f"result type {have.char_name} can't be cast to the desired output type {y.dtype.char_name}")
    if weight is not None:
        _written(y.shape, weight.shape)


@op("binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=0) -> Tensor", out=False,
    node="BinaryCrossEntropyWithLogitsBackward0", lies=second_first, tangent=BODY, promote=Promote.RESULT, promote_with=("target",), inplace=False, method=False,
    nondiff=("weight", "pos_weight"), check=_check_written, opmath=False,
    saves=dict.fromkeys(("self", "target"), ("self", "target", "weight", "pos_weight")),
    samples=[call(real(3), real(3, low=0.0, high=1.0)), call(real(2, 3), real(2, 3, low=0.0, high=1.0), None, real(3, low=0.0, grad=False), 2),
             call(real(2, 3), real(2, 3, low=0.0, high=1.0), real(3, low=0.0, grad=False), None, 0)],
    kinks=[call(at(0.0, 100.0, -100.0, 800.0, -800.0), at(0.5, 0.0, 1.0, 0.0, 1.0)),
           call(at(100.0, _INF, -_INF, -100.0, 20.0), at(1.0, 0.0, 1.0, 0.5, 1.0), None, at(_INF, 2.0, 0.0, 1.0, 2.0, grad=False))])
def binary_cross_entropy_with_logits(self, target, weight, pos_weight, *, reduction=0):
    """Binary cross entropy of sigmoid(self), without overflow; the bare function reduces only where it is asked to."""
    only("log_sigmoid_cpu", self, "f")
    log_sigmoid = _log_sigmoid(self)
    x, y, ls, p = _in_one_dtype(self, target, log_sigmoid, pos_weight)
    if TANGENTS[0]:
        loss = _forward(x, y, p)
    else:
        loss = _plain(x, y, ls) if p is None else _weighted(x, y, ls, p)
        if wide(target).dtype != target.dtype and {target.dtype} == {a.dtype for a in (self, pos_weight) if a is not None}:
            loss = straight(_in_steps(self, target, log_sigmoid, pos_weight).astype(loss.dtype), loss)
    if weight is not None:
        loss = jnp.multiply(*_in_one_dtype(loss.astype(target.dtype), weight))
    return reduced(loss.astype(target.dtype), reduction)


def _in_one_dtype(*arrays):
    """Half precision as float32, all in the widest dtype."""
    dtype = np.result_type(*[wide(x).dtype for x in arrays if x is not None])
    return [None if x is None else x.astype(dtype) for x in arrays]
