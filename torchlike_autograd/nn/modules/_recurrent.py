"""The steps of recurrent layers (layer 8), over plain recorded operators: their `grad_fn`s are those of the last operator, not torch's fused nodes.

A cell is `step(pre, h, w_hh, b_hh, w_hr) -> state`, where `pre` is what the input adds to the gates (one product for all steps), h a tuple of states.
"""

from __future__ import annotations

from ..._core.composite import named
from ..._core.publish import load_all
from .. import functional as F

_cat, _stack = named("cat"), named("stack")
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


def run_layer(step, x, state, weights, reverse):
    """One direction of one layer over (T, B, input): (outputs (T, B, h), last state)."""
    w_ih, w_hh, b_ih, b_hh, proj = weights
    pre = F.linear(x, w_ih, b_ih).unbind(0)
    out = []
    for p in reversed(pre) if reverse else pre:
        state = step(p, state, w_hh, b_hh, proj)
        out.append(state[0])
    return _stack(out[::-1] if reverse else out, 0), state


def run_packed(step, data, sizes, state, weights, reverse):
    """One direction of one layer over packed data: (outputs (sum, h), last state of every sequence)."""
    w_ih, w_hh, b_ih, b_hh, proj = weights
    pre = F.linear(data, w_ih, b_ih).split(sizes)
    out, first = [], state
    if reverse:
        state, n = tuple(s[:sizes[-1]] for s in first), sizes[-1]
        for p, m in zip(reversed(pre), reversed(sizes)):
            if m > n:
                state, n = tuple(_cat([s, f[n:m]]) for s, f in zip(state, first)), m
            state = step(p, state, w_hh, b_hh, proj)
            out.append(state[0])
        return _cat(out[::-1]), state
    done, n = [], sizes[0]
    for p, m in zip(pre, sizes):
        if m < n:
            done.append(tuple(s[m:] for s in state))
            state, n = tuple(s[:m] for s in state), m
        state = step(p, state, w_hh, b_hh, proj)
        out.append(state[0])
    done.append(state)
    return _cat(out), tuple(_cat(parts[::-1]) if len(parts) > 1 else parts[0] for parts in zip(*done))


def run_stack(mode, x, sizes, state, layers, directions, dropout, training):
    """All layers: layers is a list of weights, directions after each other; state tensors are (layers * directions, B, *)."""
    step, last = STEPS[mode], []
    for i in range(0, len(layers), directions):
        outs = []
        for d in range(directions):
            own = tuple(s[i + d] for s in state)
            out, end = (run_layer(step, x, own, layers[i + d], d == 1) if sizes is None
                        else run_packed(step, x, sizes, own, layers[i + d], d == 1))
            outs.append(out)
            last.append(end)
        x = outs[0] if directions == 1 else _cat(outs, -1)
        if dropout and training and i + directions < len(layers):
            x = F.dropout(x, dropout, True)
    return x, tuple(_stack(parts, 0) for parts in zip(*last))
