"""torch.nn.utils._named_member_accessor (layer 8): tensors and submodules of a module, named by their paths, put in each other's place."""

from __future__ import annotations

from ..._tensor import Tensor
from ..modules.module import Module

__all__ = ["NamedMemberAccessor", "set_tensor", "swap_submodule", "swap_tensor"]
_MISSING = object()  # what stands where there was nothing


def _need_module(module):
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")


def _need_name(kind, name):
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')


def _table(module, name):
    """The table of a module that holds `name`: parameters, buffers, or its own attributes."""
    return next((t for t in (module._parameters, module._buffers) if name in t), module.__dict__)


def set_tensor(module, name, tensor):
    """Put a tensor in the place of a parameter or buffer, whatever its class."""
    _need_module(module)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    _need_name("tensor", name)
    table = _table(module, name)
    if table is module.__dict__:
        setattr(module, name, tensor)
    else:
        table[name] = tensor


def swap_tensor(module, name, tensor, allow_missing=False):
    """Put a tensor (or None, or what an earlier swap gave for nothing) in the place of another one and return that."""
    _need_module(module)
    if tensor is not _MISSING and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    _need_name("tensor", name)
    table = _table(module, name)
    old = table[name] if table is not module.__dict__ else getattr(module, name, _MISSING)
    if old is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if table is not module.__dict__:
        if tensor is _MISSING:
            del table[name]
        else:
            table[name] = tensor
    elif tensor is not _MISSING:
        setattr(module, name, tensor)
    elif old is not _MISSING:
        delattr(module, name)
    return old


def swap_submodule(module, name, submodule):
    """Put a module in the place of a submodule and return that."""
    _need_module(module)
    _need_module(submodule)
    _need_name("submodule", name)
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    old = module._modules[name]
    if not isinstance(old, Module):
        raise TypeError(f"{name} attribute is not an instance of torch.nn.Module")
    module._modules[name] = submodule
    return old


class NamedMemberAccessor:
    """The tensors and submodules of a module by their paths."""

    def __init__(self, module):
        self.module, self.memo = module, {}

    def get_submodule(self, name):
        """The module at a path; "" is the whole."""
        if not name:
            return self.module
        if name not in self.memo:
            before, _, last = name.rpartition(".")
            parent = self.get_submodule(before)
            if not hasattr(parent, last):
                raise AttributeError(f"{parent._get_name()} has no attribute `{last}`")
            found = getattr(parent, last)
            if not isinstance(found, Module):
                raise TypeError(f"submodule `{name}`: {found} is not an instance of torch.nn.Module")
            self.memo[name] = found
        return self.memo[name]

    def swap_submodule(self, path, value):
        """Put a module at a path and return the one that was there."""
        before, _, last = path.rpartition(".")
        old = swap_submodule(self.get_submodule(before), last, value)
        self.memo = {n: m for n, m in self.memo.items() if n != path and not n.startswith(path + ".")}
        return old

    def _place(self, name):
        before, _, last = name.rpartition(".")
        return self.get_submodule(before), last

    def get_tensor(self, name):
        """The tensor at a path, or None where that stands there."""
        module, last = self._place(name)
        if not hasattr(module, last):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        found = getattr(module, last)
        if found is not None and not isinstance(found, Tensor):
            raise TypeError(f"{found} is not an instance of torch.Tensor")
        return found

    def set_tensor(self, name, value):
        """Put a tensor at a path."""
        module, last = self._place(name)
        set_tensor(module, last, value)

    def del_tensor(self, name):
        """Take the tensor at a path away."""
        module, last = self._place(name)
        if not hasattr(module, last):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        delattr(module, last)

    def swap_tensor(self, name, value, allow_missing=False):
        """Put a tensor at a path and return the one that was there."""
        module, last = self._place(name)
        return swap_tensor(module, last, value, allow_missing)

    def get_tensors(self, names):
        """The tensors at these paths."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names, values):
        """Put tensors at these paths."""
        for name, value in zip(*_matched(names, values)):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors):
        """Put tensors at their paths."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names):
        """Take the tensors at these paths away."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names, values, allow_missing=False):
        """Put tensors at these paths and return those that were there."""
        return [self.swap_tensor(name, value, allow_missing) for name, value in zip(*_matched(names, values))]

    def swap_tensors_dict(self, named_tensors, allow_missing=False):
        """Put tensors at their paths; ({path: what was there}, the paths that had nothing).  RuntimeError for those, with everything as it was."""
        old, missing = {}, []
        try:
            for name, value in named_tensors.items():
                old[name] = self.swap_tensor(name, value, True)
                if old[name] is _MISSING:
                    missing.append(name)
            if missing and not allow_missing:
                raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        except Exception:
            for name, value in old.items():
                self.swap_tensor(name, value, True)
            raise
        return old, missing

    def check_keys(self, keys):
        """(the paths of tensors that are not among `keys`, the keys that are none)."""
        keys, here = set(keys), {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(here - keys), sorted(keys - here)

    def named_parameters(self, remove_duplicate=True):
        """(path, parameter) of all."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate=True):
        """(path, buffer) of all."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate=True):
        """(path, tensor) of all parameters and buffers."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate=True):
        """(path, module) of all."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)


def _matched(names, values):
    """Both as lists of one length."""
    names, values = list(names), list(values)
    if len(names) != len(values):
        raise AssertionError(f"names and values must have the same length, got {len(names)} names and {len(values)} values")
    return names, values
