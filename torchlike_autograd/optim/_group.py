"""Optimizers whose step is one recorded call for each parameter group (layer 8)."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from .._core.dtypes import float32
from .._core.publish import load_all
from .._core.record import INPLACE, LEAF, NOGRAD
from .._core.sparse_gradients import is_sparse
from .._core.storage import read
from .._tensor import Tensor, from_array, wrap
from ..autograd.grad_mode import enable_grad
from ..nn.parameter import Parameter
from ._lists import in_memory_order, unscaled
from ._record import update
from ._without_data import stand_ins
from ._written import _device_dtype_check_for_fused
from .optimizer import _get_scalar_dtype, loss_of

__all__ = ["Algorithm", "Recorded", "begin", "check_first_fused", "check_lr", "check_not_negative", "init_group", "own", "step_groups", "zeros_like"]

CAPTURABLE = "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']"


class Algorithm:
    """What the steps of an optimizer class are; an object beside the class, whose own names are torch's alone: programs derive from it and name as they like.

    name: torch's name of the class, for its errors; `lists`: the states in the order in which `_init_group` fills lists; `rule`: its name in the table;
    `flags(group)`: the options that are structure; `numbers(group, kind)`: those that are data; `first`: the kind of a parameter's first step where its
    numbers differ; `begin(group, p, g, state, count)`: the states of a parameter before its first step; `states(group, state)`: the names of those that a
    step reads.
    """

    name = rule = first = None
    lists: tuple = ()
    uniform = True  # all parameters of a group have the same states
    of_sparse = False  # whether it steps values at coordinates as it steps dense ones
    of_sparse_gradients = False  # whether it steps dense parameters with sparse gradients
    captured = True  # whether torch's step asks first what a captured graph allows
    older: dict = {}  # options that old state dicts lack
    capturable_words = "params and state_steps"
    capturable_where = CAPTURABLE

    def sparse_words(self):
        """torch's refusal of sparse gradients."""
        return f"{self.name} does not support sparse gradients"

    def spread(self, group, g):
        """A sparse gradient of a dense parameter as a dense one, which makes the same step; torch's errors."""
        if not self.of_sparse_gradients:
            raise RuntimeError(self.sparse_words())
        from ..sparse import _gradients  # not before it is needed: `torch.sparse` is imported then

        return _gradients.dense(g)

    def state_of(self, optimizer, group, p):
        """The dict of states of a parameter."""
        return optimizer.state[p]

    def fresh(self, group, state):
        """Whether a parameter has not been updated yet."""
        return not state

    def listed(self, group):
        """The names of the states whose lists `_init_group` fills."""
        return self.states(group, None)

    def check(self, group):
        """torch's refusals of options that exclude each other, at a step."""
        if group.get("capturable"):
            raise AssertionError(f"If capturable=True, {self.capturable_words} must be on supported devices: {self.capturable_where}.")
        if group.get("foreach") and group.get("differentiable"):
            raise AssertionError("_foreach ops don't support autograd")

    def check_fused(self, optimizer, p, g, fresh):
        """torch's refusals of a parameter, by a fused step."""
        if fresh:
            _device_dtype_check_for_fused(p)

    def begin(self, group, p, g, state, count):
        raise NotImplementedError


def check_first_fused(optimizer, p):
    """`Algorithm.check_fused` where torch looks at an optimizer's first parameter alone."""
    if getattr(optimizer, "_need_device_dtype_check_for_fused", True):
        _device_dtype_check_for_fused(p)
        optimizer._need_device_dtype_check_for_fused = False


class Recorded:
    """What stands before Optimizer in a class whose step is its `_tl_algorithm`'s (beside it, so that all are among Optimizer's own subclasses)."""

    _tl_algorithm: Algorithm

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._tl_algorithm.older.items():
                group.setdefault(name, value)
            for p in group["params"]:
                own = self.state.get(p, {})
                for name in ("step", "eta", "mu", "mu_product"):
                    if name in own and not isinstance(own[name], Tensor):
                        own[name] = from_array(np.asarray(float(own[name]), _get_scalar_dtype().np), _get_scalar_dtype(), like=p)


def step_groups(optimizer, closure):
    """One step of every group; what the closure returns."""
    algorithm = optimizer._tl_algorithm
    if algorithm.captured:
        optimizer._accelerator_graph_capture_health_check()
    loss = loss_of(closure)
    found = _found if hasattr(optimizer._init_group, "_tl_own") else _listed
    with enable_grad() if optimizer.defaults.get("differentiable") else nullcontext():
        for group in optimizer.param_groups:
            _update(optimizer, algorithm, group, found(optimizer, algorithm, group))
    return loss


def own(init_group):
    """Mark an algorithm's own `_init_group`, without whose lists a step finds the same; those of a program's are asked for."""
    init_group._tl_own = True
    return init_group


def _found(optimizer, algorithm, group):
    """(parameter, gradient, dict of states, names of those that a step reads, kind) of each parameter that has a gradient."""
    names, counts, fused = None, {}, group.get("fused")
    for p in group["params"]:
        leaf = p._tl_leaf
        g = None if leaf is None else leaf.grad
        if g is None:
            if type(p) is not Parameter and type(p) is not Tensor:
                _refuse_elsewhere(optimizer, p)
            continue
        if type(p) is not Parameter and not algorithm.of_sparse and p.is_sparse:
            raise RuntimeError(algorithm.sparse_words())
        state, kind = algorithm.state_of(optimizer, group, p), None
        fresh = algorithm.fresh(group, state)
        if fused:
            algorithm.check_fused(optimizer, p, g, fresh)
        if type(g) is not Tensor and is_sparse(g):
            g = algorithm.spread(group, g)
        if fresh:
            begin(algorithm, group, p, g, state, counts)
            kind = algorithm.first
        if names is None or not algorithm.uniform:
            names = algorithm.states(group, state)
        yield p, g, state, names, kind


def _listed(optimizer, algorithm, group):
    """As `_found`, from the lists of a program's own `_init_group`."""
    lists, counts = {name: [] for name in ("params", "grads", *algorithm.lists)}, {}
    optimizer._init_group(group, *lists.values())
    for i, (p, g) in enumerate(zip(lists["params"], lists["grads"])):
        state = {name: lists[name][i] for name in algorithm.listed(group) if lists[name][i] is not None}
        kind = None
        if is_sparse(g):
            g = algorithm.spread(group, g)
        if algorithm.fresh(group, state):
            begin(algorithm, group, p, g, state, counts)
            algorithm.state_of(optimizer, group, p).update(state)
            kind = algorithm.first
        yield p, g, state, algorithm.states(group, state), kind


def init_group(optimizer, group, params, grads, *lists):
    """torch's `_init_group`: append what a step of the group is about to the lists, and begin the states; whether anything is complex (sparse, for SGD)."""
    algorithm, counts = optimizer._tl_algorithm, {}
    names = algorithm.listed(group)
    into = [(name, x) for name, x in zip(algorithm.lists, lists) if name in names]
    for p in group["params"]:
        g = p.grad
        if g is None:
            continue
        if is_sparse(g) and not algorithm.of_sparse_gradients:
            raise RuntimeError(algorithm.sparse_words())
        params.append(p)
        grads.append(g)
        state = algorithm.state_of(optimizer, group, p)
        fresh = algorithm.fresh(group, state)
        if group.get("fused"):
            algorithm.check_fused(optimizer, p, g, fresh)
        if algorithm.first is None and fresh:
            begin(algorithm, group, p, g, state, counts)
        for name, x in into:
            x.append(state.get(name))
    return any(p.is_complex() for p in params)


def _update(optimizer, algorithm, group, found):
    calls, fused = {}, group.get("fused")
    differentiable = group.get("differentiable", False)
    given = getattr(optimizer, "grad_scale", None), getattr(optimizer, "found_inf", None)
    if given != (None, None):
        found = list(found)
        if not unscaled([g for _, g, *_ in found], *given, fused):
            return
    for p, g, state, names, kind in found:
        if fused:
            p, g, state = in_memory_order(p, g, state, names)
        v = p._tl_v if p._tl_cell is None else read(p)
        mode = INPLACE if differentiable else LEAF if v.needs and v.leaf is not None and p._tl_view is None else NOGRAD
        key = mode, kind, v.aval.device
        items = calls.get(key)
        if items is None:
            items = calls[key] = []
        items.append((p, v, g, state, names))
    if calls:
        algorithm.check(group)
    for (mode, kind, device), items in calls.items():
        options = (("maximize", bool(group.get("maximize"))), *algorithm.flags(group))
        if fused:
            options += (("fused", True),)
        if mode == INPLACE:
            options += (("differentiable", True), ("first", kind is not None))
        numbers = algorithm.numbers(group, kind)
        if device == "meta":
            items, mode = stand_ins(items), NOGRAD
        if len({id(item[0]) for item in items}) == len(items):
            update(algorithm.rule, options, numbers, items, mode)
        else:  # a parameter stands there twice: one after the other
            for p, _, g, state, names in items:
                update(algorithm.rule, options, numbers, [(p, p._tl_value(), g, state, names)], mode)


def begin(algorithm, group, p, g, state, counts):
    """The states of a parameter before its first step."""

    def count(name, start=0.0):
        """A number as a state: one value for all parameters that begin together, a tensor of its own for each."""
        key = name, p._tl_v.aval.device
        if key not in counts:
            dtype = _get_scalar_dtype(group.get("fused"))
            counts[key] = from_array(np.asarray(start, dtype.np), dtype, like=None if p.is_meta else p)._tl_v
        state[name] = wrap(counts[key])

    algorithm.begin(group, p, g, state, count)


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
    if not p.is_contiguous():  # laid out as the parameter is
        return load_all()["torch.full_like"](p.detach(), value)
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
