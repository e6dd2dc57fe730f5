"""A Python function applied to every element, in place (layer 7)."""

from __future__ import annotations

import numpy as np

from .._core.composite import composite
from .._core.storage import may_repeat, repeated_dims
from .._tensor import Tensor, from_array


def _refuse_grad(name, *tensors):
    if any(t._tl_needs for t in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


def _fill(self, f, *columns):
    """Write f(elements) to every place, counting no version."""
    kind = float if self.is_floating_point() else complex if self.is_complex() else int
    places, memory = _memory(self)
    own, *others = (c._tl_numpy().reshape(-1).tolist() for c in columns)
    now = dict(zip(places, own))
    for place, *values in zip(places, *others):
        x = f(now[place], *values)
        if kind is not complex and (isinstance(x, (str, bytes)) or not hasattr(x, "__float__")):
            raise TypeError(f"must be real number, not {type(x).__name__}")
        now[place] = np.array(kind(x)).astype(self.dtype.np).item() if len(now) < len(own) else kind(x)
    made = list(now.values())
    memory.copy_(from_array(np.array(made, self.dtype.np).reshape(tuple(memory.shape)), self.dtype))
    return self


def _memory(self):
    """The number of the element of memory that each element is, in their order, and a tensor over that memory: one that repeats elements has fewer."""
    memory = self.data
    index = np.arange(memory.numel()).reshape(tuple(memory.shape))
    for d in repeated_dims(memory) if may_repeat(memory) else ():
        memory = memory.narrow(d, 0, 1)
        index = np.broadcast_to(index.take([0], d), index.shape)
    return index.reshape(-1).tolist(), memory


@composite("Tensor.apply_")
def apply_(self, callable):
    """Replace every element x by callable(x)."""
    _refuse_grad("apply_", self)
    return _fill(self, callable, self)


def _alike(self, name, others):
    for t in others:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}: expected torch.{self.dtype.char_name}Tensor for 'other' (got {type(t).__name__})")
        if t.dtype is not self.dtype:
            raise TypeError(f"{name}: expected torch.{self.dtype.char_name}Tensor for 'other' (got torch.{t.dtype.char_name}Tensor)")
    return [t.expand_as(self) for t in others]


@composite("Tensor.map_")
def map_(self, tensor, callable):
    """Replace every element x by callable(x, y) with y of `tensor`."""
    _refuse_grad("map_", self, tensor)
    return _fill(self, callable, self, *_alike(self, "map_", [tensor]))


@composite("Tensor.map2_")
def map2_(self, x, y, callable):
    """Replace every element by callable(element, of x, of y)."""
    _refuse_grad("map2_", self, x, y)
    return _fill(self, callable, self, *_alike(self, "map2_", [x, y]))


@composite("Tensor.dense_dim")
def dense_dim(self):
    """The number of dims (all are dense)."""
    return self.ndim


@composite("Tensor.sparse_dim")
def sparse_dim(self):
    """The number of sparse dims: none."""
    return 0


__all__ = ["apply_", "dense_dim", "map2_", "map_", "sparse_dim"]
