"""Calls of modules with other parameters (layer 7), and the parameters of many as one."""

from __future__ import annotations

from collections.abc import Sequence

from .._core.composite import named

stack = named("stack")


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the named tensors in the place of its own; tied ones are replaced together."""
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        every = [k for d in parameter_and_buffer_dicts for k in d]
        again = [k for k in dict.fromkeys(every) if every.count(k) > 1]
        if again:
            raise ValueError(f"{again} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {k: v for d in parameter_and_buffer_dicts for k, v in d.items()}
    else:
        raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}")
    from ..nn.utils.stateless import _functional_call  # modules are built upon what is here

    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models):
    """(parameters, buffers) of several modules of one architecture, stacked by name along a new first dim."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return tuple({name: _stacked(tuple(dict(getattr(m, method)())[name] for m in models), name) for name in dict(getattr(models[0], method)())}
                 for method in ("named_parameters", "named_buffers"))


def _stacked(tensors, name):
    needs = [t.requires_grad for t in tensors]
    if any(needs) and not all(needs):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    if needs[0]:
        return stack(list(tensors)).detach().requires_grad_()
    return stack(list(tensors))


__all__ = ["functional_call", "stack_module_state"]
