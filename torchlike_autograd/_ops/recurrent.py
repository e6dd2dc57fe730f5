"""Recurrent layers (layer 2): one direction of one layer over all of its time, as one loop of the program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from .registry import SMOOTH, call, op, real

_HIGHEST = lax.Precision.HIGHEST


def _product(x, weight):
    return jnp.einsum("...i,gi->...g", x, weight, precision=_HIGHEST)


def _tanh(gates, back, h, c):
    return jnp.tanh(gates + back), c


def _relu(gates, back, h, c):
    x = gates + back
    return jnp.where(x > 0, x, jnp.where(x <= 0, 0, x)), c


def _gru(gates, back, h, c):
    (r, z, n), (hr, hz, hn) = jnp.split(gates, 3, -1), jnp.split(back, 3, -1)
    r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
    n = jnp.tanh(n + r * hn)
    return (h - n) * z + n, c


def _lstm(gates, back, h, c):
    i, f, g, o = jnp.split(gates + back, 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


_CELLS = {"rnn_tanh": _tanh, "rnn_relu": _relu, "gru": _gru, "lstm": _lstm}


def _check(input, w_ih):
    if input.shape[-1] != w_ih.shape[1]:
        rows = input.shape[0] * input.shape[1]
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and {w_ih.shape[1]}x{w_ih.shape[0]})")


_PRODUCTS = {"input": ("w_ih", "w_hh"), "h": ("w_hh",), "w_ih": ("input", "w_hh"), "w_hh": ("h", "w_hh"), "b_ih": ("w_hh",), "b_hh": ("w_hh",)}  # step by step
_ALL = ("input", "h", "c", "w_ih", "w_hh", "b_ih", "b_hh")


def _declare(name, node, saves):
    @op(f"{name}(Tensor input, Tensor h, Tensor? c, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, Tensor? w_hr, Tensor? steps, Tensor? packed, "
        "str mode, bool reverse) -> (Tensor, Tensor, Tensor)", node=node, names=(), opmath=True, saves=saves, nondiff=("steps", "packed"),
        samples=[call(real(2, 1, 3), real(1, 2), None, real(2, 3), real(2, 2), None, None, None, None, None, "rnn_tanh", False)], kinks=SMOOTH)
    def layer(input, h, c, w_ih, w_hh, b_ih, b_hh, w_hr, steps, packed, *, mode, reverse):
        """(outputs, last h, last c) of (T, N, I) from h and c (N, H).

        Of packed input (rows, I), `steps` (T, N) says which row each sequence reads at a time, or -1 after its end, and `packed` where the rows' results stand.
        """
        present = None
        if steps is not None:
            present = steps >= 0
            input = jnp.take(input, jnp.maximum(steps, 0), axis=0, mode="clip")
        _check(input, w_ih)
        gates = _product(input, w_ih)
        gates = gates if b_ih is None else gates + b_ih.reshape(1, 1, -1)
        cell = _CELLS[mode]
        c = jnp.zeros_like(h) if c is None else c

        def step(state, at_time):
            own, here = at_time
            before, memory = state
            back = _product(before, w_hh)
            new, cells = cell(own, back if b_hh is None else back + b_hh.reshape(1, -1), before, memory)
            new = new if w_hr is None else _product(new, w_hr)
            if here is not None:
                new, cells = jnp.where(here[:, None], new, before), jnp.where(here[:, None], cells, memory)
            return (new, cells), new

        (last, memory), out = lax.scan(step, (h, c), (gates, present), reverse=reverse)
        if packed is not None:
            out = jnp.take(out.reshape(-1, out.shape[-1]), packed, axis=0, mode="clip")
        return out, last, memory


_declare("_rnn_layer", "StackBackward0", _PRODUCTS)
_declare("_rnn_layer_packed", "CatBackward0", _PRODUCTS)
_declare("_rnn_layer_fused", "MkldnnRnnLayerBackward0", dict.fromkeys(_ALL, _ALL))
