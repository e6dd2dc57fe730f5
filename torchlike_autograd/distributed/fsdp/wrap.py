"""torch.distributed.fsdp.wrap (layer 8): which submodules get a wrapper of their own, and giving it to them."""

from __future__ import annotations

import contextlib as _contextlib

from ..._core import publish as _publish
from ...nn.modules.activation import MultiheadAttention as _MultiheadAttention
from ...nn.modules.container import ModuleDict as _ModuleDict
from ...nn.modules.container import ModuleList as _ModuleList

__all__ = ["CustomPolicy", "ModuleWrapPolicy", "always_wrap_policy", "enable_wrap", "lambda_auto_wrap_policy", "size_based_auto_wrap_policy",
           "transformer_auto_wrap_policy", "wrap"]


def always_wrap_policy(*args, **kwargs):
    """Every module."""
    return True


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn):
    """Modules that `lambda_fn` says."""
    return True if recurse else lambda_fn(module)


def _module_wrap_policy(module, recurse, nonwrapped_numel, module_classes):
    return True if recurse else isinstance(module, tuple(module_classes))


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls):
    """Modules of some classes."""
    return _module_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls)


def _or_policy(module, recurse, nonwrapped_numel, policies):
    return any(policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel) for policy in policies)


def size_based_auto_wrap_policy(module, recurse, nonwrapped_numel, min_num_params=int(1e8), force_leaf_modules=None, exclude_wrap_modules=None):
    """Modules with many parameters that none inside of them has taken."""
    kept = size_based_auto_wrap_policy.FORCE_LEAF_MODULES if force_leaf_modules is None else force_leaf_modules
    left_out = size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES if exclude_wrap_modules is None else exclude_wrap_modules
    return nonwrapped_numel >= min_num_params and not isinstance(module, tuple(kept if recurse else left_out))


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {_ModuleList, _ModuleDict}
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {_MultiheadAttention}


class ModuleWrapPolicy:
    """A policy: modules of some classes."""

    def __init__(self, module_classes):
        classes = set(module_classes)
        self._module_classes, self._module_classes_str = classes, str(classes)

    def __call__(self, module, recurse, *args, **kwargs):
        return _module_wrap_policy(module, recurse, -1, self._module_classes)

    def __repr__(self):
        return f"{super().__repr__()}({self._module_classes_str})"


class CustomPolicy:
    """A policy for sharding: what a function says of each module, True or the arguments of its wrapper.  Nothing here shards by it."""

    def __init__(self, lambda_fn):
        self._lambda_fn = lambda_fn


_open = []  # (class, arguments) of each `enable_wrap` that lasts


@_contextlib.contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    """`wrap` makes wrappers of this class while this lasts."""
    _open.append((wrapper_cls, wrapper_kwargs))
    try:
        yield
    finally:
        _open.pop()


def wrap(module, **wrap_overrides):
    """A module in a wrapper inside of `enable_wrap`, as it is elsewhere."""
    if not _open:
        return module
    cls, given = _open[-1]
    return cls(module, **{**given, **wrap_overrides})


def _recursive_wrap(module, auto_wrap_policy, wrapper_cls, ignored_modules, ignored_params, only_wrap_children=False, **kwargs):
    """(the module, wrapped if the policy says so after its children have had their turn; how many parameters lie in wrappers now)."""
    if isinstance(wrapper_cls, type) and any(isinstance(m, wrapper_cls) for m in module.modules() if m not in ignored_modules):
        raise AssertionError(f"A module inside is already a {wrapper_cls}")
    numel = sum(p.numel() for p in module.parameters() if p not in ignored_params)
    if not auto_wrap_policy(module=module, recurse=True, nonwrapped_numel=numel):
        return module, 0
    taken = 0
    for name, child in module.named_children():
        if child not in ignored_modules:
            wrapped, count = _recursive_wrap(child, auto_wrap_policy, wrapper_cls, ignored_modules, ignored_params, **kwargs)
            setattr(module, name, wrapped)
            taken += count
    if only_wrap_children or not auto_wrap_policy(module=module, recurse=False, nonwrapped_numel=numel - taken):
        return module, taken
    return wrapper_cls(module, **kwargs), numel


__getattr__ = _publish.missing("torch.distributed.fsdp.wrap")
