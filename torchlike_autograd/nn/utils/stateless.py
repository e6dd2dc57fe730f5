"""torch.nn.utils.stateless (layer 8): a module called with other parameters and buffers."""

from __future__ import annotations

from contextlib import contextmanager

from ..._core.saying import warn
from ..._tensor import Tensor

__all__ = ["functional_call"]


def _places(module):
    """{name: (table, key)} of all parameters and buffers."""
    return {f"{path}.{key}" if path else key: (table, key)
            for path, m in module.named_modules(remove_duplicate=False) for table in (m._parameters, m._buffers) for key in table}


def _untie_named_tensors_map(module, parameters_and_buffers):
    """The given tensors, also under the other names of tensors that the module holds twice."""
    names = {}
    for name, (table, key) in _places(module).items():
        if table[key] is not None:
            names.setdefault(id(table[key]), []).append(name)
    out = dict(parameters_and_buffers)
    for group in names.values():
        given = [n for n in group if n in parameters_and_buffers]
        if len({id(parameters_and_buffers[n]) for n in given}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider using tie_weights=False")
        for n in group if given else ():
            out[n] = parameters_and_buffers[given[0]]
    return out


@contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """Inside, the module holds the given tensors."""
    given = _untie_named_tensors_map(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    places = _places(module)
    if strict:
        _check_names(module, given, places)
    before = []
    try:
        for name, value in given.items():
            if name in places:
                table, key = places[name]
                before.append((table, key, table[key]))
                table[key] = value
        yield
    finally:
        for table, key, value in reversed(before):
            table[key] = value


def _check_names(module, given, places):
    missing = [n for n, (table, key) in places.items() if n not in given and table[key] is not None]
    unexpected = [n for n in given if n not in places]
    if missing or unexpected:
        text = f"Error(s) in reparametrizing for {module._get_name()}:"
        if unexpected:
            text += "\n\tUnexpected key(s): " + ", ".join(map(repr, sorted(unexpected))) + "."
        if missing:
            text += "\n\tMissing key(s): " + ", ".join(map(repr, sorted(missing))) + "."
        raise RuntimeError(text)


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Deprecated: `_functional_call`."""
    warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of PyTorch. Please use "
         "`torch.func.functional_call` instead which is a drop-in replacement.", FutureWarning)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Call a module with other parameters and buffers in place of its own."""
    if isinstance(parameters_and_buffers, Tensor):
        raise TypeError("Expected parameters_and_buffers to be a dict")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))
