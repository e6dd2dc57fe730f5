"""torch._functorch.make_functional (layer 8): modules as functions of their parameters, as functorch had them before `torch.func.functional_call`."""

from __future__ import annotations

import copy

from .._core import publish as _publish
from ..autograd._stateless import functional_call
from ..nn import Module

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional", "make_functional_with_buffers"]


class FunctionalModule(Module):
    """A module that is called with its parameters: f(params, *args)."""

    def __init__(self, stateless_model, param_names):
        super().__init__()
        self.stateless_model, self.param_names = stateless_model, param_names

    def forward(self, params, *args, **kwargs):
        """The model's result with these parameters."""
        return functional_call(self.stateless_model, dict(zip(self.param_names, params)), args, kwargs)


class FunctionalModuleWithBuffers(Module):
    """A module that is called with its parameters and buffers: f(params, buffers, *args)."""

    def __init__(self, stateless_model, param_names, buffer_names):
        super().__init__()
        self.stateless_model, self.param_names, self.buffer_names = stateless_model, param_names, buffer_names

    def forward(self, params, buffers, *args, **kwargs):
        """The model's result with these parameters and buffers."""
        return functional_call(self.stateless_model, {**dict(zip(self.param_names, params)), **dict(zip(self.buffer_names, buffers))}, args, kwargs)


def _split(model, disable_autograd_tracking):
    """(a copy of the model, names and values of its parameters, names and values of its buffers)."""
    own = copy.deepcopy(model)
    named, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    values = tuple(p.detach().clone() if disable_autograd_tracking else copy.deepcopy(p) for p in named.values())
    return own, tuple(named), values, tuple(buffers), tuple(b.detach().clone() for b in buffers.values())


def make_functional(model, disable_autograd_tracking=False):
    """(function of parameters and arguments, parameters).  RuntimeError for a model with buffers."""
    own, names, params, buffers, _ = _split(model, disable_autograd_tracking)
    if buffers:
        raise RuntimeError("make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead.")
    return FunctionalModule(own, names), params


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """(function of parameters, buffers and arguments, parameters, buffers)."""
    own, names, params, buffer_names, buffers = _split(model, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(own, names, buffer_names), params, buffers


def combine_state_for_ensemble(models):
    """(function of parameters, buffers and arguments, stacked parameters, stacked buffers) of models of one class."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    stack = _publish.load_all()["torch.stack"]
    made = [make_functional_with_buffers(m) for m in models]
    return made[0][0], *(tuple(stack([t.detach() for t in ts]) for ts in zip(*(m[k] for m in made))) for k in (1, 2))


def _of_data(model, with_buffers):
    """((weights, names), (buffers, their names), function of weights, buffers and a tuple of arguments) of a model, as functorch first had them."""
    fn, params, buffers = make_functional_with_buffers(model)
    if with_buffers:
        return (params, fn.param_names), (buffers, fn.buffer_names), lambda weights, buffers, data: fn(weights, buffers, *data)
    if buffers:
        raise RuntimeError("make_functional_deprecated_v1(model): `model` has buffers. Please use make_functional_with_buffers_deprecated_v1(model) instead.")
    return (params, fn.param_names), (buffers, ()), lambda weights, data: fn(weights, (), *data)


def make_functional_deprecated_v1(model):
    """(weights, function of weights and a tuple of arguments, names).  RuntimeError for a model with buffers."""
    (weights, names), _, fn = _of_data(model, False)
    return weights, fn, names


def make_functional_with_buffers_deprecated_v1(model):
    """(weights, buffers, function of both and a tuple of arguments, names of weights, names of buffers)."""
    (weights, names), (buffers, buffer_names), fn = _of_data(model, True)
    return weights, buffers, fn, names, buffer_names


def _ensemble(model_class, ensemble_shape, device, make, states):
    def wrapped(*args, **kwargs):
        if len(ensemble_shape) >= 2:
            raise ValueError("NYI: ensemble_shape with more than 1 element")
        if not ensemble_shape:
            return make_functional_deprecated_v1(model_class(*args, **kwargs).to(device))
        count = ensemble_shape[0]
        if count <= 0:
            raise ValueError(f"num_models {count} should be > 0")
        models = [model_class(*args, **kwargs).to(device) for _ in range(count)]
        rest = make(model_class(*args, **kwargs))[states:]
        stack = _publish.load_all()["torch.stack"]
        made = [make(m)[:states] for m in models]
        return *(tuple(stack(ts).detach() for ts in zip(*(m[k] for m in made))) for k in range(states)), *rest

    return wrapped


def functional_init(model_class, ensemble_shape=(), device="cpu"):
    """A function that makes (stacked weights, function of them, names) of as many models as ensemble_shape says."""
    return _ensemble(model_class, ensemble_shape, device, make_functional_deprecated_v1, 1)


def functional_init_with_buffers(model_class, ensemble_shape=(), device="cpu"):
    """`functional_init` of models with buffers: (stacked weights, stacked buffers, function of both, two tuples of names)."""
    return _ensemble(model_class, ensemble_shape, device, make_functional_with_buffers_deprecated_v1, 2)


__getattr__ = _publish.missing("torch._functorch.make_functional")
