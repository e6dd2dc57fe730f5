"""torch.optim.optimizer (layer 8): the protocol of all optimizers, and `Recorded`, for those whose step is one recorded call for each group."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from .._core import defaults as _defaults  # noqa: F401
from .._core import profiling as _profiling
from .._core.execute import settle
from .._core.nodes import RemovableHandle
from .._core.saying import warn
from .._core.spread import spread_as
from .._tensor import Tensor, wrap
from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.profiler import record_function
from ..nn.parameter import Parameter
from ..utils._foreach_utils import _group_tensors_by_device_and_dtype
from ._written import *  # noqa: F403

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

ParamsT = Iterable  # of Tensors, of (name, Tensor) or of dicts


class _RequiredParameter:
    """A default that every group must name."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()
_global_optimizer_pre_hooks: dict = OrderedDict()
_global_optimizer_post_hooks: dict = OrderedDict()


def _hook(hooks, f, first=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = f
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    """Call ``hook(optimizer, args, kwargs)`` before the step of every optimizer."""
    return _hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Call ``hook(optimizer, args, kwargs)`` after the step of every optimizer."""
    return _hook(_global_optimizer_post_hooks, hook)


def _typename(x):
    from .._api import typename  # cycle: the public names lie above

    return typename(x)


class Optimizer:
    """Parameters in groups, a state for each, hooks, state dicts."""

    OptimizerPreHook = Callable[["Optimizer", tuple[Any, ...], dict[str, Any]], "tuple[tuple[Any, ...], dict[str, Any]] | None"]
    OptimizerPostHook = Callable[["Optimizer", tuple[Any, ...], dict[str, Any]], None]

    def __init__(self, params, defaults):
        self.defaults = defaults
        _new_hooks(self)
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {_typename(params)}")
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)
        settle()
        self._warned_capturable_if_run_uncaptured = True

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        _new_hooks(self)
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [*([""] if i else []), f"Parameter Group {i}", *(f"    {k}: {group[k]}" for k in sorted(group) if k != "params")]
        return "\n".join([*lines, ")"])

    # The step and its hooks

    def _patch_step_function(self):
        """Wrap the class's step, once."""
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
        if not getattr(type(self).step, "hooked", None):
            wrapped = self.profile_hook_step(type(self).step)
            wrapped.hooked = True
            type(self).step = wrapped

    @staticmethod
    def profile_hook_step(func):
        """`func` with the hooks before and after it; a range of its own in a profile."""

        def hooked(self, args, kwargs):
            for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not isinstance(result, tuple) or len(result) != 2:
                    raise RuntimeError(f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
                args, kwargs = result
            out = func(*args, **kwargs)
            self._optimizer_step_code()
            for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
                hook(self, args, kwargs)
            return out

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            if _profiling.current() is None:
                return hooked(args[0], args, kwargs)
            with record_function(f"Optimizer.step#{type(args[0]).__name__}.step"):
                return hooked(args[0], args, kwargs)

        return wrapper

    def _accelerator_graph_capture_health_check(self):
        """What a step asks first where a device captures graphs; none does here."""

    def _cuda_graph_capture_health_check(self):
        """The older name of `_accelerator_graph_capture_health_check`."""
        self._accelerator_graph_capture_health_check()

    def _optimizer_step_code(self):
        """A place for profilers."""

    def register_step_pre_hook(self, hook):
        """Call ``hook(optimizer, args, kwargs)`` before each step; a tuple that it returns replaces both."""
        return _hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return _hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call ``hook(optimizer)`` before `state_dict`."""
        return _hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call ``hook(optimizer, state_dict)`` after `state_dict`; what it returns replaces the dict."""
        return _hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`; what it returns replaces the dict."""
        return _hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return _hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def step(self, closure=None):
        """One update; `closure` computes the loss again and returns it."""
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Drop the gradients, or fill them with zeros."""
        if _profiling.current() is None:
            return self._zero_all(set_to_none)
        with record_function(self._zero_grad_profile_name):
            return self._zero_all(set_to_none)

    def _zero_all(self, set_to_none):
        for group in self.param_groups:
            for p in group["params"]:
                own = type(p) is Parameter or type(p) is Tensor  # another class may say where its gradient is
                if not set_to_none:
                    if (grad := p._grad if own else p.grad) is not None:
                        _zeroed(grad)
                elif not own:
                    if p.grad is not None:
                        p.grad = None
                elif (leaf := p._tl_leaf) is not None and leaf.grad is not None:
                    p.grad = None

    # Groups

    def add_param_group(self, param_group):
        """Add a dict with "params" (a Tensor, or a list of them or of (name, Tensor)) and options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. "
                            "Please use a list instead.")
        param_group["params"] = params = list(params)
        _take_names(self, param_group, params)
        params = param_group["params"]
        for p in params:
            _check_param(self, p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len({id(p) for p in params}):
            warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                 "github.com/pytorch/pytorch/issues/40967 for more information")
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    # State dicts

    def state_dict(self):
        """{"state": by number of the parameter, "param_groups": with numbers for parameters}; the tensors are the optimizer's own."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers, groups = {}, []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            groups.append({**{k: v for k, v in group.items() if k != "params"}, "params": [numbers[id(p)] for p in group["params"]]})
        out = {"state": {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            found = hook(self, out)
            out = out if found is None else found
        return out

    @no_grad()
    def load_state_dict(self, state_dict):
        """Take over what `state_dict` of the same kind of optimizer returned; floating states take the parameter's dtype, step counts keep theirs."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            found = hook(self, state_dict)
            state_dict = state_dict if found is None else found
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = dict(zip(chain.from_iterable(g["params"] for g in saved), chain.from_iterable(g["params"] for g in groups)))
        state = defaultdict(dict)
        for k, v in state_dict["state"].items():
            if k in params:
                state[params[k]] = _cast(params[k], v, k, state_dict["param_groups"])
            else:
                state[k] = v
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
        """Tensors by what one call can treat together."""
        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        if key == "step":
            group = next((g for g in param_groups if param_id in g["params"]), {})
            wide = _step_dtype() if group.get("capturable") or group.get("fused") else value.dtype
            return value.to(dtype=wide, device=param.device)  # it counts beside the parameter here, in torch on the host
        value = value.to(dtype=param.dtype, device=param.device) if param.is_floating_point() else value.to(device=param.device)
        own, there = param._tl_v.aval, value._tl_v.aval
        if "@" in own.device and "@" not in there.device and there.shape == own.shape:
            return wrap(spread_as(value._tl_value(), param._tl_value()))  # a file holds whole states, and no device need hold a whole one
        return value


def _new_hooks(optimizer):
    """Places for hooks, where there are none yet."""
    for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post"):
        if f"_optimizer_{name}_hooks" not in optimizer.__dict__:
            setattr(optimizer, f"_optimizer_{name}_hooks", OrderedDict())


def _take_names(optimizer, group, params):
    named = [isinstance(p, tuple) for p in params]
    if any(named):
        if not all(named):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        group["params"] = [pair[1] for pair in params]
        group["param_names"] = [pair[0] for pair in params]
    if optimizer.param_groups and ("param_names" in group) != ("param_names" in optimizer.param_groups[0]):
        which = "with" if "param_names" in group else "without"
        raise ValueError(f"all optimizer param groups should be with/without names. cannot add param group {which} names to the optimizer")


def _check_param(optimizer, p):
    if not isinstance(p, Tensor):
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_typename(p)}")
    if not optimizer.defaults.get("differentiable", None) and not (p.is_leaf or p.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _cast(param, value, param_id, groups, key=None):
    """A loaded state with its tensors cast as the parameter asks for."""
    if isinstance(value, Tensor):
        return Optimizer._process_value_according_to_param_policy(param, value, param_id, groups, key)
    if isinstance(value, dict):
        return {k: _cast(param, v, param_id, groups, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_cast(param, v, param_id, groups) for v in value)
    return value


def _zeroed(g):
    if g.grad_fn is not None:
        g.detach_()
    else:
        g.requires_grad_(False)
    with no_grad():
        g.zero_()


def _step_dtype():
    from .._core import config, dtypes

    return dtypes.float64 if config.default_dtype() is dtypes.float64 else dtypes.float32


def _get_scalar_dtype(is_fused=None):
    """The dtype of step counts."""
    from .._core import dtypes

    return dtypes.float32 if is_fused else _step_dtype()


def loss_of(closure):
    """What a closure returns, called with grad mode on."""
    if closure is None:
        return None
    with enable_grad():
        return closure()
