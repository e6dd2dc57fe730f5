"""torch.nn.utils.stateless (layer 8): a module called with other parameters and buffers."""

from __future__ import annotations

from contextlib import contextmanager

from ..._core.saying import warn
from ._named_member_accessor import NamedMemberAccessor

__all__ = ["functional_call"]


def _untie_named_tensors_map(module, parameters_and_buffers):
    """The given tensors, also under the other names of tensors that the module holds twice."""
    names = {}
    for name, value in NamedMemberAccessor(module).named_tensors(remove_duplicate=False):
        names.setdefault(id(value), []).append(name)
    given = {*parameters_and_buffers.keys()}
    out = parameters_and_buffers.copy()
    for group in names.values():
        told = [n for n in group if n in given]
        if len({id(parameters_and_buffers[n]) for n in told}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(group)}, which are tied. Consider using tie_weights=False")
        for n in group if told else ():
            out[n] = parameters_and_buffers[told[0]]
    return out


@contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """Inside, the module holds the given tensors.  What it put in their places meanwhile is written back into the given dict."""
    given = _untie_named_tensors_map(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    accessor = NamedMemberAccessor(module)
    if strict:
        _check_names(module, accessor, given)
    before = {}
    try:
        before, _ = accessor.swap_tensors_dict(given, allow_missing=True)
        yield
    finally:
        if stack_weights:
            before = dict(reversed(before.items()))
        after, _ = accessor.swap_tensors_dict(before, allow_missing=True)
        parameters_and_buffers.update({name: after[name] for name in parameters_and_buffers if name in after})


def _check_names(module, accessor, given):
    missing, unexpected = accessor.check_keys(given)
    problems = [f"\n\t{kind} key(s): {', '.join(map(repr, names))}." for kind, names in (("Unexpected", unexpected), ("Missing", missing)) if names]
    if problems:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:" + "".join(problems))


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Deprecated: `_functional_call`."""
    warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of PyTorch. Please use "
         "`torch.func.functional_call` instead which is a drop-in replacement.", FutureWarning)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Call a module with other parameters and buffers in place of its own."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))
