"""The steps of recurrent cells (layer 8), over plain recorded operators: their `grad_fn`s are those of the last operator, not torch's fused nodes.

A cell is `step(pre, h, w_hh, b_hh, w_hr) -> state`, where `pre` is what the input adds to the gates (one product for all steps), h a tuple of states.
"""

from __future__ import annotations

from ..._core.publish import load_all
from .. import functional as F

_TABLE = load_all()
_tanh, _sigmoid, _relu = _TABLE["torch.tanh"], _TABLE["torch.sigmoid"], _TABLE["torch.relu"]


def tanh_step(pre, state, w, b, proj=None):
    """tanh(pre + W h)."""
    return (_tanh(pre + F.linear(state[0], w, b)),)


def relu_step(pre, state, w, b, proj=None):
    """relu(pre + W h)."""
    return (_relu(pre + F.linear(state[0], w, b)),)


def lstm_step(pre, state, w, b, proj=None):
    """The gates i, f, g, o of an LSTM; h is projected where there is a projection."""
    h, c = state
    i, f, g, o = (pre + F.linear(h, w, b)).chunk(4, -1)
    c = _sigmoid(f) * c + _sigmoid(i) * _tanh(g)
    h = _sigmoid(o) * _tanh(c)
    return (h if proj is None else F.linear(h, proj)), c


def gru_step(pre, state, w, b, proj=None):
    """The gates r, z, n of a GRU."""
    h = state[0]
    xr, xz, xn = pre.chunk(3, -1)
    hr, hz, hn = F.linear(h, w, b).chunk(3, -1)
    r, z = _sigmoid(xr + hr), _sigmoid(xz + hz)
    n = _tanh(xn + r * hn)
    return ((h - n) * z + n,)


STEPS = {"RNN_TANH": tanh_step, "RNN_RELU": relu_step, "LSTM": lstm_step, "GRU": gru_step}
