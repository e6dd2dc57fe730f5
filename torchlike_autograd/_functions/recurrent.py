"""torch.lstm, gru, rnn_tanh, rnn_relu (layer 7): layers and directions stacked; and their cells."""

from __future__ import annotations

import numpy as np

from .._core import dtypes
from .._core.autocasting import here as autocast
from .._core.composite import COMPOSITES, composite, named
from .._core.numeric import say_once
from .._ops import recurrent as _recurrent_ops
from .._tensor import Tensor, from_array

_ops = _recurrent_ops


def _layers(params, has_biases, projected):
    """The parameters of each direction of each layer: (w_ih, w_hh, b_ih, b_hh, w_hr), absent ones None."""
    each = 2 + 2 * bool(has_biases) + bool(projected)
    if len(params) % each:
        raise RuntimeError("got an incorrect number of RNN parameters")
    out = []
    for k in range(0, len(params), each):
        own = list(params[k:k + each])
        w_hr = own.pop() if projected else None
        out.append((*own, *(() if has_biases else (None, None)), w_hr))
    return out


def _schedule(batch_sizes, like):
    """(which row each sequence reads at a time, where each row's result stands)."""
    sizes = [int(b) for b in batch_sizes.tolist()]
    steps, places, row = np.full((len(sizes), sizes[0]), -1, np.int64), [], 0
    for t, size in enumerate(sizes):
        steps[t, :size] = np.arange(row, row + size)
        places += [t * sizes[0] + i for i in range(size)]
        row += size
    return from_array(steps, dtypes.int64, like=like), from_array(np.array(places, np.int64), dtypes.int64, like=like)


def _stacked(mode, x, hidden, cells, params, has_biases, num_layers, dropout, train, bidirectional, schedule=None, batch_first=False):
    """(outputs, last hidden states, last cells) over layers and directions."""
    directions = 2 if bidirectional else 1
    projected = mode == "lstm" and cells.shape[2] != hidden.shape[2]
    layers = _layers(params, has_biases, projected)
    if not len(layers) == num_layers * directions == hidden.shape[0]:
        if len(layers) == num_layers * directions or hidden.shape[0] != num_layers * directions:
            raise RuntimeError("Expected more hidden states in stacked_rnn")
        raise RuntimeError("got an incorrect number of RNN parameters")
    steps, packed = schedule or (None, None)
    fused = mode == "lstm" and schedule is None and not projected and x.dtype is dtypes.float32
    run = by_cells if autocast.on else named("_rnn_layer_packed" if schedule else "_rnn_layer_fused" if fused else "_rnn_layer")
    told = {"train": train, "bidirectional": bidirectional, "num_layers": num_layers, "batch_first": batch_first} if fused and not autocast.on else {}
    starts, memories = hidden.unbind(0), [None] * hidden.shape[0] if cells is None else cells.unbind(0)
    last_h, last_c = [], []
    for layer in range(num_layers):
        parts = []
        for d in range(directions):
            k = layer * directions + d
            out, h, c = run(x, starts[k], memories[k], *layers[k], steps, packed, mode, bool(d), **told)
            parts.append(out)
            last_h.append(h)
            last_c.append(c)
        x = parts[0] if directions == 1 else named("cat")(parts, -1)
        if dropout and train and layer < num_layers - 1:
            x = COMPOSITES["torch.dropout"](x, dropout, True)
    return x, named("stack")(last_h, 0), named("stack")(last_c, 0) if cells is not None else None


def by_cells(x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr, steps, packed, mode, reverse):
    """One direction of one layer as torch composes it, step by step: (outputs, last hidden state, last cell), each in the dtype that its operators have."""
    linear, cat = COMPOSITES["torch.nn.functional.linear"], named("cat")
    own = linear(x, w_ih, b_ih)
    rows = [range(t * h.shape[0], (t + 1) * h.shape[0]) for t in range(x.shape[0])] if packed is None else [[i for i in r if i >= 0] for r in steps.tolist()]
    if packed is None:
        own = own.flatten(0, 1)
    outs = []
    for r in reversed(rows) if reverse else rows:
        n = len(r)
        new_h, new_c = _CELLS[mode](own.narrow(0, r[0], n), h.narrow(0, 0, n), None if c is None else c.narrow(0, 0, n), lambda k: linear(k, w_hh, b_hh))
        if w_hr is not None:
            new_h = linear(new_h, w_hr)
        h, c = (None if new is None else new if n == old.shape[0] else cat([new, old.narrow(0, n, old.shape[0] - n)], 0)
                for new, old in ((new_h, h), (new_c, c)))
        outs.append(new_h)
    outs = outs[::-1] if reverse else outs
    return (named("stack")(outs, 0) if packed is None else cat(outs, 0)), h, c


def _lstm_step(own, h, c, back):
    return _lstm_new(back(h) + own, c)


def _lstm_new(gates, c):
    i, f, g, o = gates.unsafe_chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c + i * g
    return o * c.tanh(), c


def _gru_step(own, h, c, back):
    r, z, n = own.unsafe_chunk(3, 1)
    hr, hz, hn = back(h).unsafe_chunk(3, 1)
    reset, keep = (hr + r).sigmoid(), (hz + z).sigmoid()
    new = (n + hn * reset).tanh()
    return (h - new) * keep + new, None


_CELLS = {"lstm": _lstm_step, "gru": _gru_step, "rnn_tanh": lambda own, h, c, back: ((back(h) + own).tanh(), None),
          "rnn_relu": lambda own, h, c, back: ((back(h) + own).relu(), None)}


def _types(x, *others):
    if autocast.on:
        return
    for t in others:
        if t is not None and t.dtype is not x.dtype:
            raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {t.dtype.char_name} and {x.dtype.char_name}")


def _simple(mode):
    def function(*args, **kwargs):
        """The outputs and last hidden states of stacked recurrent layers; packed where batch sizes stand after the data."""
        names = ("data", "batch_sizes", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional") if _is_packed(args, kwargs) else (
            "input", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
        a = {**dict(zip(names, args)), **kwargs}
        if "data" in a:
            rest = (a["params"], a["has_biases"], a["num_layers"], a["dropout"], a["train"], a["bidirectional"], _schedule(a["batch_sizes"], a["data"]))
            return _stacked(mode, a["data"], a["hx"], None, *rest)[:2]
        x = a["input"].transpose(0, 1) if a["batch_first"] else a["input"]
        _types(x, a["hx"])
        out, h, _ = _stacked(mode, x, a["hx"], None, a["params"], a["has_biases"], a["num_layers"], a["dropout"], a["train"], a["bidirectional"])
        return (out.transpose_(0, 1) if a["batch_first"] else out), h

    function.__name__ = function.__qualname__ = mode
    composite(f"torch.{mode}")(function)


def _is_packed(args, kwargs):
    return "batch_sizes" in kwargs or (len(args) > 2 and isinstance(args[2], (Tensor, tuple)) and isinstance(args[1], Tensor) and (
        isinstance(args[2], Tensor) or all(isinstance(t, Tensor) for t in args[2])) and len(args) > 3 and isinstance(args[3], (list, tuple)))


for _mode in ("rnn_tanh", "rnn_relu", "gru"):
    _simple(_mode)


@composite("torch.lstm")
def lstm(*args, **kwargs):
    """The outputs and last hidden and cell states of stacked LSTM layers; packed where batch sizes stand after the data."""
    packed = "batch_sizes" in kwargs or (len(args) > 1 and isinstance(args[1], Tensor))
    names = ("data", "batch_sizes", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional") if packed else (
        "input", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
    a = {**dict(zip(names, args)), **kwargs}
    if len(a["hx"]) != 2:
        raise RuntimeError("lstm expects two hidden states")
    h, c = a["hx"]
    rest = a["params"], a["has_biases"], a["num_layers"], a["dropout"], a["train"], a["bidirectional"]
    if packed:
        return _stacked("lstm", a["data"], h, c, *rest, _schedule(a["batch_sizes"], a["data"]))
    x = a["input"].transpose(0, 1) if a["batch_first"] else a["input"]
    _types(x, h, c)
    if h.shape[-1] != c.shape[-1] and x.dtype in (dtypes.float32, dtypes.bfloat16) and x.device.type == "cpu" and x.numel():
        say_once("LSTM with projections is not supported with oneDNN. Using default implementation. "
                 "(Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/RNN.cpp:1512.)")
    out, h, c = _stacked("lstm", x, h, c, *rest, batch_first=a["batch_first"])
    return (out.transpose(0, 1) if a["batch_first"] else out), h, c


# Cells

def _check_weights(gates, w_ih, w_hh):
    size = w_hh.shape[1]
    for name, w in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if w.shape[0] != gates * size:
            raise RuntimeError(f"{name} first dim must be {gates} * hidden_size = {gates * size}, but got {w.shape[0]}")


def _check_cell(x, h, w_ih, w_hh):
    width, size = w_ih.shape[1], w_hh.shape[1]
    if x.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got 1)")
    if x.shape[1] != width:
        raise RuntimeError(f"input has inconsistent input_size: got {x.shape[1]} expected {width}")
    for k, t in enumerate(h):
        if t.shape[0] != x.shape[0]:
            raise RuntimeError(f"Input batch size {x.shape[0]} doesn't match hidden{k} batch size {t.shape[0]}")
        if t.shape[1] != size:
            raise RuntimeError(f"hidden{k} has inconsistent hidden_size: got {t.shape[1]}, expected {size}")


def _gates(input, h, w_ih, w_hh, b_ih, b_hh):
    """Of the state and of the input, in torch's order."""
    linear = COMPOSITES["torch.nn.functional.linear"]
    return linear(h, w_hh, b_hh) + linear(input, w_ih, b_ih)


def _plain_cell(mode):
    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        _check_weights(1, w_ih, w_hh)
        _check_cell(input, (hx,), w_ih, w_hh)
        return named(mode.removeprefix("rnn_"))(_gates(input, hx, w_ih, w_hh, b_ih, b_hh))

    cell.__name__ = cell.__qualname__ = f"{mode}_cell"
    cell.__doc__ = "One step of a recurrent layer."
    composite(f"torch.{mode}_cell")(cell)


for _mode in ("rnn_tanh", "rnn_relu"):
    _plain_cell(_mode)


@composite("torch.gru_cell")
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a gated recurrent unit."""
    _check_cell(input, (hx,), w_ih, w_hh)
    _check_weights(3, w_ih, w_hh)
    linear = COMPOSITES["torch.nn.functional.linear"]
    return _gru_step(linear(input, w_ih, b_ih), hx, None, lambda h: linear(h, w_hh, b_hh))[0]


@composite("torch.lstm_cell")
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a long short-term memory: (h, c)."""
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    h, c = hx
    _check_weights(4, w_ih, w_hh)
    _check_cell(input, (h, c), w_ih, w_hh)
    return _lstm_new(_gates(input, h, w_ih, w_hh, b_ih, b_hh), c)


