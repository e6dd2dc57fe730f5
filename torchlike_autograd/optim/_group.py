"""Optimizers whose step is one recorded call for each parameter group (layer 8)."""

from __future__ import annotations

import numpy as np

from .._core.dtypes import float32
from .._core.publish import load_all
from .._core.record import INPLACE, LEAF, NOGRAD
from .._core.sparse_gradients import is_sparse
from .._core.storage import read
from .._tensor import Tensor, from_array, wrap
from ..nn.parameter import Parameter
from ._record import update
from ._without_data import stand_ins
from .optimizer import Optimizer, _get_scalar_dtype, loss_of

__all__ = ["Recorded", "check_lr", "check_not_negative", "zeros_like"]

CAPTURABLE = "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']"


class Recorded(Optimizer):
    """What an algorithm says: `rule`, its name in the table; `flags(group)`, the options that are structure; `numbers(group, kind)`, those that are data;
    `first`, the kind of a parameter's first step where its numbers differ; `begin(group, p, g, state, count)`, the states of a parameter
    before its first step; `states(group, state)`, the names of those that a step reads.
    """

    rule = first = None
    uniform = True  # all parameters of a group have the same states
    of_sparse = False  # whether it steps values at coordinates as it steps dense ones
    of_sparse_gradients = False  # whether it steps dense parameters with sparse gradients
    older: dict = {}  # options that old state dicts lack
    capturable_words = "params and state_steps"
    capturable_where = CAPTURABLE

    def sparse_words(self):
        """torch's refusal of sparse gradients."""
        return f"{type(self).__name__} does not support sparse gradients"

    def spread(self, group, g):
        """A sparse gradient of a dense parameter as a dense one, which makes the same step; torch's errors."""
        if not self.of_sparse_gradients:
            raise RuntimeError(self.sparse_words())
        from ..sparse import _gradients  # not before it is needed: `torch.sparse` is imported then

        return _gradients.dense(g)

    def _step(self, closure):
        loss = loss_of(closure)
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group):
        calls, counts = {}, {}
        differentiable = group.get("differentiable", False)
        names = None
        for p in group["params"]:
            leaf = p._tl_leaf
            g = None if leaf is None else leaf.grad
            if g is None:
                if type(p) is not Parameter and type(p) is not Tensor:
                    _refuse_elsewhere(self, p)
                continue
            if type(p) is not Parameter and not self.of_sparse and p.is_sparse:
                raise RuntimeError(self.sparse_words())
            if type(g) is not Tensor and is_sparse(g):
                g = self.spread(group, g)
            state, kind = self.state_of(group, p), None
            if self.fresh(group, state):
                self._begin(group, p, g, state, counts)
                kind = self.first
            if names is None or not self.uniform:
                names = self.states(group, state)
            v = p._tl_v if p._tl_cell is None else read(p)
            mode = INPLACE if differentiable else LEAF if v.needs and v.leaf is not None and p._tl_view is None else NOGRAD
            key = mode, kind, v.aval.device
            items = calls.get(key)
            if items is None:
                items = calls[key] = []
            items.append((p, v, g, state, names))
        if calls:
            self._check(group)
        for (mode, kind, device), items in calls.items():
            options = (("maximize", bool(group.get("maximize"))), *self.flags(group))
            if mode == INPLACE:
                options += (("differentiable", True), ("first", kind is not None))
            numbers = self.numbers(group, kind)
            if device == "meta":
                items, mode = stand_ins(items), NOGRAD
            if len({id(item[0]) for item in items}) == len(items):
                update(self.rule, options, numbers, items, mode)
            else:  # a parameter stands there twice: one after the other
                for p, _, g, state, names in items:
                    update(self.rule, options, numbers, [(p, p._tl_value(), g, state, names)], mode)

    def state_of(self, group, p):
        """The dict of states of a parameter."""
        return self.state[p]

    def fresh(self, group, state):
        """Whether a parameter has not been updated yet."""
        return not state

    def _begin(self, group, p, g, state, counts):
        def count(name, start=0.0):
            """A number as a state: one value for all parameters that begin together, a tensor of its own for each."""
            key = name, p._tl_v.aval.device
            if key not in counts:
                dtype = _get_scalar_dtype(group.get("fused"))
                counts[key] = from_array(np.asarray(start, dtype.np), dtype, like=None if p.is_meta else p)._tl_v
            state[name] = wrap(counts[key])

        self.begin(group, p, g, state, count)

    def _check(self, group):
        if group.get("capturable"):
            raise AssertionError(f"If capturable=True, {self.capturable_words} must be on supported devices: {self.capturable_where}.")
        if group.get("foreach") and group.get("differentiable"):
            raise AssertionError("_foreach ops don't support autograd")

    def begin(self, group, p, g, state, count):
        raise NotImplementedError

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.older.items():
                group.setdefault(name, value)
            for p in group["params"]:
                own = self.state.get(p, {})
                for name in ("step", "eta", "mu", "mu_product"):
                    if name in own and not isinstance(own[name], Tensor):
                        own[name] = from_array(np.asarray(float(own[name]), _get_scalar_dtype().np), _get_scalar_dtype(), like=p)


def _refuse_elsewhere(optimizer, p):
    """An error for a parameter whose class keeps the tensor and its gradient elsewhere: a recorded step writes the parameter itself."""
    if p.grad is not None:
        raise NotImplementedError(f"torchlike_autograd: torch.optim.{type(optimizer).__name__} of a parameter of class {type(p).__name__}, whose gradient is "
                                  "kept by another tensor; give the optimizer that tensor")


def zeros_like(p):
    """A state of zeros for a parameter: plain data, so that the first step has the structure of all others."""
    return filled_like(p, 0)


def filled_like(p, value):
    """A state of equal numbers for a parameter; a subclass says by its `__torch_function__` of which class that is."""
    if type(p) is not Tensor and Parameter not in type(p).__mro__:
        return load_all()["torch.full_like"](p, value) if value else load_all()["torch.zeros_like"](p)
    return from_array(np.full(p._tl_v.aval.shape, value, p._tl_v.aval.dtype.np), p._tl_v.aval.dtype, like=p)


def check_lr(lr, words="Invalid learning rate: {}"):
    """torch's checks of a learning rate."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(words.format(lr))


def check_not_negative(**values):
    """torch's error for an option below zero; `weight_decay` and so on by their names."""
    for name, value in values.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {_SPOKEN.get(name, name)} value: {value}")


_SPOKEN = {"eps": "epsilon"}


def check_betas(betas):
    """torch's error for a beta out of [0, 1)."""
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_fused(defaults):
    """torch's errors for fused with what excludes it."""
    if defaults.get("fused"):
        if defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


__all__ += ["check_betas", "check_fused", "filled_like", "float32"]
