"""Recurrent layers (layer 2): one direction of one layer over all of its time, as one loop of the program."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from . import lstm
from .registry import SMOOTH, call, op, real
from .tracing import scan


def _tanh(gates, back, h):
    return jnp.tanh(gates + back)


def _relu(gates, back, h):
    x = gates + back
    return jnp.where(x > 0, x, jnp.where(x <= 0, 0, x))


def _gru(gates, back, h):
    (r, z, n), (hr, hz, hn) = jnp.split(gates, 3, -1), jnp.split(back, 3, -1)
    r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
    n = jnp.tanh(n + r * hn)
    return (h - n) * z + n


def _of_relu(*_, mode, **__):
    """The gradient of relu is an operator with a derivative of its own, which is zero."""
    return mode == "rnn_relu"


_CELLS = {"rnn_tanh": _tanh, "rnn_relu": _relu, "gru": _gru}


def _steps(cell, gates, h, w_hh, bias, present, reverse):
    """(h at all times, last h)."""
    def step(before, at_time):
        own, here = at_time
        new = cell(own, lstm.product(before, w_hh) + bias, before)
        new = new if here is None else jnp.where(here[:, None], new, before)
        return new, new

    last, out = scan(step, h, (gates, present), reverse=reverse)
    return out, last


def _check(input, w_ih):
    if input.shape[-1] != w_ih.shape[1]:
        rows = input.shape[0] * input.shape[1]
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1]} and {w_ih.shape[1]}x{w_ih.shape[0]})")


_PRODUCTS = {"input": ("w_ih", "w_hh"), "h": ("w_hh",), "w_ih": ("input", "w_hh"), "w_hh": ("h", "w_hh"), "b_ih": ("w_hh",), "b_hh": ("w_hh",)}  # step by step
_ALL = ("input", "h", "c", "w_ih", "w_hh", "b_ih", "b_hh")


def _declare(name, node, saves):
    @op(f"{name}(Tensor input, Tensor h, Tensor? c, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, Tensor? w_hr, Tensor? steps, Tensor? packed, "
        "str mode, bool reverse, bool train=True, bool bidirectional=False, int num_layers=1, bool batch_first=False) -> (Tensor, Tensor, Tensor)",
        node=node, names=(), opmath=True, saves=saves, nondiff=("steps", "packed"), zero_second=_of_relu,
        samples=[call(real(2, 1, 3), real(1, 2), None, real(2, 3), real(2, 2), None, None, None, None, None, "rnn_tanh", False)], kinks=SMOOTH)
    def layer(input, h, c, w_ih, w_hh, b_ih, b_hh, w_hr, steps, packed, *, mode, reverse, train=True, bidirectional=False, num_layers=1, batch_first=False):
        """(outputs, last h, last c) of (T, N, I) from h and c (N, H).

        Of packed input (rows, I), `steps` (T, N) says which row each sequence reads at a time, or -1 after its end, and `packed` where the rows' results stand.
        What follows `reverse` changes nothing: the node shows it.
        """
        present = None
        if steps is not None:
            present = steps >= 0
            input = jnp.take(input, jnp.maximum(steps, 0), axis=0, mode="clip")
        _check(input, w_ih)
        gates = lstm.product(input, w_ih)
        gates = gates if b_ih is None else gates + b_ih.reshape(1, 1, -1)
        if mode == "lstm":
            gates = gates if b_hh is None else gates + b_hh.reshape(1, 1, -1)
            out, last, memory = lstm.steps(gates, h, c, w_hh, w_hr, present, reverse)
        else:
            bias = 0 if b_hh is None else b_hh.reshape(1, -1)
            (out, last), memory = _steps(_CELLS[mode], gates, h, w_hh, bias, present, reverse), jnp.zeros_like(h)
        if packed is not None:
            out = jnp.take(out.reshape(-1, out.shape[-1]), packed, axis=0, mode="clip")
        return out, last, memory


_declare("_rnn_layer", "StackBackward0", _PRODUCTS)
_declare("_rnn_layer_packed", "CatBackward0", _PRODUCTS)
_declare("_rnn_layer_fused", "MkldnnRnnLayerBackward0", dict.fromkeys(_ALL, _ALL))
