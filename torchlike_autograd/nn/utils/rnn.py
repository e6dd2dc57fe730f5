"""torch.nn.utils.rnn (layer 8): sequences of different lengths, packed and padded."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Iterable

from ..._core.composite import named
from ..._core.dtypes import int64
from ..._functions.create import arange, empty_like, full
from ..._functions.data import as_tensor
from ..._functions.join import all_tensors
from ..._tensor import Tensor

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence", "unpack_sequence",
           "unpad_sequence"]

_cat, _stack = named("cat"), named("stack")
PackedSequence_ = namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])
PackedSequence_.__annotations__ = {"data": Tensor, "batch_sizes": Tensor, "sorted_indices": Tensor | None, "unsorted_indices": Tensor | None}


class PackedSequence(PackedSequence_):
    """Sequences side by side, step after step: data (sum of lengths, *), and how many sequences each step has."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be "
                             "instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. "
                             "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def __repr__(self):
        return "PackedSequence" + super().__repr__()[len(type(self).__name__):]

    def __reduce__(self):
        return type(self), tuple(self)

    def pin_memory(self):
        """`Tensor.pin_memory` of the data: torch's error, there is no accelerator to pin for."""
        return type(self)(self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args, **kwargs):
        """`Tensor.to` of the data; the indices follow to the device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = [None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *moved)

    def cuda(self, *args, **kwargs):
        """The sequence on a GPU."""
        return self.to(*(args or ("cuda",)), **kwargs)

    def cpu(self, *args, **kwargs):
        """The sequence on the host."""
        return self.to(*(args or ("cpu",)), **kwargs)

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the memory is pinned: never."""
        return False


def _caster(name):
    def cast(self):
        return self.to(getattr(self.data, name)().dtype)

    cast.__name__, cast.__doc__ = name, f"The sequence as {name}."
    return cast


for _name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
    setattr(PackedSequence, _name, _caster(_name))


def invert_permutation(permutation):
    """The permutation that undoes one."""
    if permutation is None:
        return None
    return empty_like(permutation).scatter_(0, permutation, arange(0, permutation.numel(), device=permutation.device))


def _lengths(lengths, steps):
    """The lengths as a list; torch's words for what does not fit."""
    if not steps.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    lengths = as_tensor(lengths, dtype=int64)
    if lengths.ndim != 1:
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D cpu Long tensor")
    found, batch = lengths.tolist(), steps.size(1)
    if len(found) != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(found)} (batch_size={batch})")
    if found[-1] <= 0:  # the least, if they are sorted
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in itertools.pairwise(found)):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
                           "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    return found


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack (T, B, *) with the lengths of the sequences; without enforce_sorted they are sorted first."""
    order = None
    if not enforce_sorted:
        lengths, order = named("sort")(as_tensor(lengths, dtype=int64), descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    steps = input.transpose(0, 1) if batch_first else input
    found = _lengths(lengths, steps)
    sizes = [sum(n > t for n in found) for t in range(found[0])]
    parts, t = [], 0
    while t < len(sizes):
        end = t
        while end < len(sizes) and sizes[end] == sizes[t]:
            end += 1
        parts.append(steps[t:end, :sizes[t]].flatten(0, 1))
        t = end
    data = parts[0] if len(parts) == 1 else _cat(parts)
    return PackedSequence(data, as_tensor(sizes, dtype=int64, device="cpu"), order, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded (T, B, *), lengths) of a packed sequence."""
    if sequence.batch_sizes.ndim != 1:
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {sequence.batch_sizes.ndim}D cpu Long tensor")
    sizes = sequence.batch_sizes.tolist()
    if not sizes:
        raise RuntimeError("batch_sizes can not be empty")
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got "
                             f"total_length={total_length} and max sequence length being {steps}")
        steps = total_length
    data, batch = sequence.data, sizes[0]
    rows, start = [], 0
    fill = data.new_full((batch, *data.shape[1:]), padding_value) if sizes[-1] < batch or steps > len(sizes) else None
    for n in [*sizes, *[0] * (steps - len(sizes))]:
        row = data[start:start + n]
        rows.append(row if n == batch else _cat([row, fill[n:]]) if n else fill)
        start += n
    padded = _stack(rows, 1 if batch_first else 0)
    lengths = as_tensor([sum(n > b for n in sizes) for b in range(batch)], dtype=int64, device="cpu")
    back = sequence.unsorted_indices
    if back is not None:
        return padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """One tensor (T, B, *) of several sequences (L, *), filled up with a value."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    found = list(sequences.unbind(0)) if isinstance(sequences, Tensor) else list(sequences)
    if not found:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    all_tensors(found)
    if not found[0].ndim:
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    longest, rest = max(s.size(0) for s in found), tuple(found[0].shape[1:])
    out = full((len(found), longest, *rest) if batch_first else (longest, len(found), *rest), padding_value, dtype=found[0].dtype, device=found[0].device)
    for i, s in enumerate(found):
        place = out.select(0 if batch_first else 1, i)
        place.narrow(0, 0 if padding_side == "right" else longest - s.size(0), s.size(0)).copy_(s)
    return out


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)  # of the tensor that was given, as in torch
    places = arange(padded_sequences.shape[1], device=lengths.device)
    return [row[places < n] for row, n in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack several sequences (L, *)."""
    lengths = as_tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
