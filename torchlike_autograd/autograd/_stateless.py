"""Calls of modules with other parameters (layer 7), for anything with `named_parameters` and `named_buffers`."""

from __future__ import annotations

from contextlib import contextmanager

from .._core.composite import named

stack = named("stack")


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the named tensors in the place of its own; tied ones are replaced together."""
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (tuple, list)):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        every = [k for d in parameter_and_buffer_dicts for k in d]
        again = [k for k in dict.fromkeys(every) if every.count(k) > 1]
        if again:
            raise ValueError(f"{again} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {k: v for d in parameter_and_buffer_dicts for k, v in d.items()}
    else:
        raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def _own(module):
    """{name: tensor} of all parameters and buffers, tied ones under each of their names."""
    found = {}
    for method in ("named_parameters", "named_buffers"):
        f = getattr(module, method, None)
        if f is not None:
            try:
                found.update(f(remove_duplicate=False))
            except TypeError:
                found.update(f())
    return found


@contextmanager
def _swapped(module, given, tie_weights, strict):
    own = _own(module)
    unexpected = [k for k in given if k not in own]
    if tie_weights:
        given = _tied(own, given)
    missing = [k for k in own if k not in given]
    if strict and (missing or unexpected):
        texts = [f"{word} key(s): {', '.join(map(repr, sorted(names)))}." for word, names in (("Unexpected", unexpected), ("Missing", missing)) if names]
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(texts))
    old = []
    try:
        for name, t in given.items():
            if name not in own:
                continue
            *path, last = name.split(".")
            owner = module
            for part in path:
                owner = getattr(owner, part)
            old.append((owner, last, _put(owner, last, t)))
        yield
    finally:
        for owner, last, before in reversed(old):
            _put(owner, last, before)


def _tied(own, given):
    out = dict(given)
    for name, t in given.items():
        same = [k for k in given if name in own and k in own and own[k] is own[name]]
        if len({id(given[k]) for k in same}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(same)}, which are tied. Consider using tie_weights=False")
        for other, u in own.items():
            if name in own and own[name] is u and other not in given:
                out[other] = t
    return out


def _put(owner, name, t):
    """Set a tensor of a module without its checks; returns what was there."""
    for table in ("_parameters", "_buffers"):
        have = owner.__dict__.get(table)
        if have is not None and name in have:
            before = have[name]
            have[name] = t
            return before
    before = getattr(owner, name)
    object.__setattr__(owner, name, t)
    return before


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
