"""Plain tensors beside DTensors (layer 1): torch takes numbers only.  And DTensors in files, which hold plain ones with a word on how they lay."""

from __future__ import annotations

import importlib
import math

from .devices import is_own
from .saying import warn

_BRING = ("_spread", "_graft", "_merged", "_written", "_running", "_drawn",  # of our own: they bring values to where others are
          "_ctc_loss", "_unique", "_embedding_bag")  # given plain lengths and offsets that nobody wrote
_NAMES = {"_index": "index.Tensor", "_index_put": "index_put_.default", "_index_put_repeated": "index_put_.default", "_mask_put": "index_put_.default",
          "_equal": "equal.default", "_allclose": "allclose.default", "_copy_": "copy_.default", "_fill_.Tensor": "fill_.Tensor",
          "_masked_select": "masked_select.default", "_rnn_layer": "mkldnn_rnn_layer.default", "_rnn_layer_fused": "mkldnn_rnn_layer.default",
          "_rnn_layer_packed": "mkldnn_rnn_layer.default"}
implicit = [False]  # whether plain tensors count as there on every device


def check(op, avals):
    """torch's error where an operator is given plain tensors beside DTensors.  One of a single element counts as there on every device."""
    if any(is_own(a.device) for a in avals) and not implicit[0] and not op.key.startswith(_BRING):
        for a in avals:
            if a.device == "cpu" and a.ndim:
                _check(a, op, avals)


def _check(a, op, avals):
    if math.prod(a.shape) != 1:
        raise error(name(op, avals))
    warn("Found a non-scalar tensor with numel=1 and ndim!=0, we are implicitly creating a replicated DTensor for it. However, please consider changing "
         "it to a scalar tensor or explicitly create a DTensor under distributed environment.")


def _is_plain(a):
    """Whether these are values of a plain tensor, and more than a number."""
    return a.device == "cpu" and math.prod(a.shape) != 1


def check_written(name, target, source):
    """torch's error where one of the two is a DTensor and the other plain."""
    one, other = (target, source) if is_own(target.device) else (source, target)
    if is_own(one.device) and not implicit[0] and _is_plain(other):
        raise error(name)


def error(name):
    """What torch says of an operator."""
    return RuntimeError(f"aten.{name} got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!")


def in_place(op, avals):
    """The error of an operator that writes its result to its first input; None where nothing is mixed."""
    if any(is_own(a.device) for a in avals) and any(map(_is_plain, avals)):
        base, _, overload = name(op, avals).partition(".")
        return error(f"{base}_.{overload}")
    return None


def name(op, avals):
    """The operator as torch's dispatcher names it: of what it takes apart, the part that meets the tensors first."""
    ranks = [a.ndim for a in avals if a.device != "number"]
    if op.name == "matmul":
        return {(1, 1): "dot", (2, 1): "mv"}.get(tuple(ranks), "mm" if max(ranks) < 3 or min(ranks) < 2 else "bmm") + ".default"
    if op.name == "linear":
        return "mm.default" if len(ranks) < 3 else "addmm.default"
    return _NAMES.get(op.key) or (op.key if "." in op.key else f"{op.key}.default")


PLACES = "_placed"  # the attribute under which a file says how a DTensor lay: PyTorch reads such a tensor as a plain one of all values


def with_places(t, state):
    """What a file says of a tensor besides its values: its attributes, and of a DTensor how it lies (type of devices, their numbers, names of the mesh's dims,
    dims of the tensor along which they split it)."""
    if not is_own(t._tl_v.aval.device):
        return state
    mesh = t.device_mesh
    dims = tuple(p.dim if p.is_shard() else None for p in t.placements)
    return {**(state or {}), PLACES: (mesh.device_type, mesh.mesh.tolist(), mesh.mesh_dim_names, dims)}


def placed_again(t, state):
    """A tensor that was read, placed as its file says; takes the word on it out of `state`."""
    places = state.pop(PLACES, None) if isinstance(state, dict) else None
    if places is None:
        return t
    return importlib.import_module(f"{__name__.partition('.')[0]}.distributed.tensor").placed_again(t, *places)


__all__ = ["check", "check_written", "in_place", "placed_again", "with_places"]
