"""torch.nn.modules.rnn (layer 8): recurrent layers and cells; what they compute is in `_functions/recurrent.py`."""

from __future__ import annotations

import math
import numbers
import types
import weakref

from ..._core.autocasting import here as _autocast
from ..._core.composite import COMPOSITES
from ..._core.publish import load_all
from ..._core.saying import warn
from ..._functions.create import empty, zeros
from ..._tensor import Tensor
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor, permutation, dim=1):
    """Deprecated: `index_select`."""
    warn("`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead", FutureWarning)
    return tensor.index_select(dim, permutation)


def _checked_sizes(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    float(dropout)  # what is no number says so itself
    if isinstance(dropout, bool) or not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, but got "
             f"dropout={dropout} and num_layers={num_layers}")
    for word, value in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(value, bool):
            raise TypeError(f"{word} should be of type bool, got: {type(value).__name__}")
    if not isinstance(input_size, int):
        raise TypeError(f"input_size should be of type int, got: {type(input_size).__name__}")
    if input_size <= 0:
        raise ValueError("input_size must be greater than zero")
    if not isinstance(hidden_size, int):
        raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def _state_size(rnn, input, batch_sizes, width):
    batch = int(batch_sizes[0]) if batch_sizes is not None else input.size(0) if rnn.batch_first else input.size(1)
    return rnn.num_layers * (2 if rnn.bidirectional else 1), batch, width


def _function(rnn):
    return load_all()[f"torch.{rnn.mode.lower()}"]  # as published: subclasses and modes hear of one call of this name


def _settings(rnn):
    return rnn._flat_weights, rnn.bias, rnn.num_layers, rnn.dropout, rnn.training, rnn.bidirectional


def _say_dims(rnn, input):
    """torch's error for the number of dims."""
    if rnn.mode.startswith("RNN"):
        raise ValueError(f"RNN: Expected input to be 2D or 3D, got {input.dim()}D tensor instead")
    raise ValueError(f"{rnn.mode}: Expected input to be 2D or 3D, got {input.dim()}D instead")


def _given_state(rnn, hx, batched):
    """The given state as a tuple, with torch's errors for its dims."""
    dims = 3 if batched else 2
    kind = "batched 3-D" if batched else "unbatched 2-D"
    if rnn.mode != "LSTM":
        if hx.dim() != dims:
            raise RuntimeError(f"For {kind} input, hx should also be {dims}-D but got {hx.dim()}-D tensor")
        return (hx,)
    if hx[0].dim() != dims or hx[1].dim() != dims:
        raise RuntimeError(f"For {kind} input, hx and cx should also be {dims}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
    return tuple(hx)


def _first_state(rnn, hx, batched, like, batch):
    """The state to begin with, as (layers, B, *) tensors; zeros where none is given."""
    if hx is None:
        n = rnn.num_layers * (2 if rnn.bidirectional else 1)
        widths = [rnn.proj_size or rnn.hidden_size, rnn.hidden_size][:2 if rnn.mode == "LSTM" else 1]
        return tuple(zeros((n, batch, w), dtype=like.dtype, device=like.device) for w in widths)
    given = _given_state(rnn, hx, batched)
    return given if batched else tuple(s.unsqueeze(1) for s in given)


def _forward_packed(rnn, packed, hx):
    data, batch_sizes, order, back = packed
    lstm = rnn.mode == "LSTM"
    if hx is None:
        hx = _first_state(rnn, None, None, data, int(batch_sizes[0]))
        hx = hx if lstm else hx[0]
    else:
        hx = rnn.permute_hidden(hx, order)
        if lstm and not isinstance(hx, Tensor) and len(hx) != 2:
            raise RuntimeError("lstm expects two hidden states")
    rnn.check_forward_args(data, hx, batch_sizes)
    out, *last = _function(rnn)(data, batch_sizes, hx, *_settings(rnn))
    return PackedSequence(out, batch_sizes, order, back), rnn.permute_hidden(tuple(last) if lstm else last[0], back)


class RNNBase(Module):
    """Layers of a recurrent cell; weights are called weight_ih_l0, weight_hh_l0, ..., with `_reverse` for the second direction."""

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size"]
    __jit_unused_properties__ = ["all_weights"]

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0,
                 device=None, dtype=None):
        super().__init__()
        _checked_sizes(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode, self.input_size, self.hidden_size, self.num_layers, self.bias = mode, input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, float(dropout), bidirectional, proj_size
        directions, gates = 2 if bidirectional else 1, _GATES[mode] * hidden_size
        out = proj_size or hidden_size
        self._flat_weights_names, self._all_weights = [], []
        for layer in range(num_layers):
            for direction in range(directions):
                width = input_size if layer == 0 else out * directions
                shapes = {"weight_ih": (gates, width), "weight_hh": (gates, out)}
                if bias:
                    shapes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = [f"{name}_l{layer}{'_reverse' if direction else ''}" for name in shapes]
                for name, shape in zip(names, shapes.values()):
                    setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)
        self._init_flat_weights()
        self.reset_parameters()

    def _init_flat_weights(self):
        self._flat_weights = [getattr(self, n, None) for n in self._flat_weights_names]
        self._flat_weight_refs = [None if w is None else weakref.ref(w) for w in self._flat_weights]

    def _update_flat_weights(self):
        """Others may stand in the place of the weights, as `torch.func.functional_call` puts them there."""
        for ref, name in zip(self._flat_weight_refs, self._flat_weights_names):
            weight = getattr(self, name, None)
            if weight is not None and ref is not None and ref() is not weight:
                return self._init_flat_weights()

    def __setattr__(self, attr, value):
        if "_flat_weights_names" in self.__dict__ and attr in self._flat_weights_names:
            found = self.__dict__.get("_flat_weights")
            if found is not None:
                found[self._flat_weights_names.index(attr)] = value
        super().__setattr__(attr, value)

    def flatten_parameters(self):
        """Without effect: weights need no common memory."""

    def _apply(self, fn, recurse=True):
        self._flat_weights = []
        out = super()._apply(fn, recurse)
        self._init_flat_weights()
        return out

    def __getstate__(self):
        self._update_flat_weights()
        return {k: v for k, v in super().__getstate__().items() if k != "_flat_weight_refs"}

    def __setstate__(self, d):
        super().__setstate__(d)
        self.__dict__.setdefault("proj_size", 0)
        self._init_flat_weights()

    @property
    def all_weights(self):
        """The weights, a list for each layer and direction."""
        return [[getattr(self, n) for n in names] for names in self._all_weights]

    def reset_parameters(self):
        """Uniform values by the hidden size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        said = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            said += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            said += f", num_layers={self.num_layers}"
        if self.bias is not True:
            said += f", bias={self.bias}"
        if self.batch_first is not False:
            said += f", batch_first={self.batch_first}"
        if self.dropout:
            said += f", dropout={self.dropout}"
        return said + (f", bidirectional={self.bidirectional}" if self.bidirectional is not False else "")

    # Checking

    def check_input(self, input, batch_sizes):
        """torch's errors for an input that does not fit."""
        weight = self._flat_weights[0]
        if input.dtype is not weight.dtype and not any(_autocast.enabled.values()):
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype "
                             f"({weight.dtype}). Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})")
        dims = 2 if batch_sizes is not None else 3
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def get_expected_hidden_size(self, input, batch_sizes):
        """The shape of h."""
        return _state_size(self, input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """torch's error for a state that does not fit."""
        if tuple(hx.size()) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(tuple(expected_hidden_size), list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """All checks of a call."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """The state in another order of sequences."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # Computing

    def forward(self, input, hx=None):
        """(output, last state); input (T, B, *), (B, T, *) with batch_first, (T, *), or packed."""
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            return _forward_packed(self, input, hx)
        if input.dim() not in (2, 3):
            _say_dims(self, input)
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        state = _first_state(self, hx, batched, input, input.size(0) if self.batch_first else input.size(1))
        self.check_forward_args(input, state if self.mode == "LSTM" else state[0], None)
        if not input.size(1 if self.batch_first else 0):
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        out, *last = _function(self)(input, state if self.mode == "LSTM" else state[0], *_settings(self), self.batch_first)
        if not batched:
            out, last = out.squeeze(0 if self.batch_first else 1), [s.squeeze(1) for s in last]
        return out, (tuple(last) if self.mode == "LSTM" else last[0])


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self_nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            self_nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self_nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self_nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self_nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = self_nonlinearity


class LSTM(RNNBase):
    """Long short-term memory; the state is (h, c)."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """The shape of c."""
        return _state_size(self, input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx, permutation):
        return hx if permutation is None else (hx[0].index_select(1, permutation), hx[1].index_select(1, permutation))


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


def _own(kind):
    """`forward` under the layer's own name, which Python's errors show."""
    f = RNNBase.forward
    kind.forward = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    kind.forward.__qualname__, kind.forward.__doc__ = f"{kind.__name__}.forward", f.__doc__


for _kind in (RNN, LSTM, GRU):
    _own(_kind)


# Cells

def _checked(cell, input, hx, names):
    """(input (B, *), states (B, *), whether there was a batch) after torch's checks."""
    kind = type(cell).__name__
    if input.dim() not in (1, 2):
        raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
    for name, s in zip(names, () if hx is None else hx):
        if s.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected {name} to be 1D or 2D, got {s.dim()}D instead")
    if isinstance(hx, Tensor):
        raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
    batched = input.dim() == 2
    x = input if batched else input.unsqueeze(0)
    if hx is None:
        hx = (zeros((x.size(0), cell.hidden_size), dtype=x.dtype, device=x.device),) * len(names)
    elif not batched:
        hx = tuple(s.unsqueeze(0) for s in hx)
    if x.size(1) != cell.input_size:
        raise RuntimeError(f"input has inconsistent input_size: got {x.size(1)} expected {cell.input_size}")
    for i, s in enumerate(hx):
        if s.size(0) != x.size(0):
            raise RuntimeError(f"Input batch size {x.size(0)} doesn't match hidden{i} batch size {s.size(0)}")
        if s.size(1) != cell.hidden_size:
            raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {s.size(1)}, expected {cell.hidden_size}")
    return x, hx, batched


def _weights(cell):
    return cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh


def _next(cell, name, x, state, batched):
    """The next state of a cell with one state tensor."""
    out = COMPOSITES[f"torch.{name}_cell"](x, state[0], *_weights(cell))
    return out if batched else out.squeeze(0)


class RNNCellBase(Module):
    """One step of a recurrent layer."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        for name, shape in {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size), "bias_ih": (rows,), "bias_hh": (rows,)}.items():
            there = bias or name.startswith("weight")
            self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if there else None)
        self.reset_parameters()

    def extra_repr(self):
        said = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            said += f", bias={self.bias}"
        return said + (f", nonlinearity={self.nonlinearity}" if getattr(self, "nonlinearity", "tanh") != "tanh" else "")

    def reset_parameters(self):
        """Uniform values by the hidden size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)


class RNNCell(RNNCellBase):
    """One step of `RNN`."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        x, state, batched = _checked(self, input, None if hx is None else (hx,), ("hidden",))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return _next(self, f"rnn_{self.nonlinearity}", x, state, batched)


class LSTMCell(RNNCellBase):
    """One step of `LSTM`."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        x, state, batched = _checked(self, input, hx, ("hx[0]", "hx[1]"))
        out = COMPOSITES["torch.lstm_cell"](x, state, *_weights(self))
        return out if batched else tuple(s.squeeze(0) for s in out)


class GRUCell(RNNCellBase):
    """One step of `GRU`."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        return _next(self, "gru", *_checked(self, input, None if hx is None else (hx,), ("hidden",)))
