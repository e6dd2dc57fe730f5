"""State dicts of Modules (layer 8): saving, loading, their hooks, and torch's words for what does not fit."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from ... import __future__
from ..._core.saying import warn
from ..._core.spread import beside
from ..._tensor import Tensor
from ...autograd.grad_mode import no_grad
from ...utils._swap import put_in
from ...utils.hooks import RemovableHandle
from ..parameter import Parameter, is_lazy
from ._call import _add, _WrappedHook

EXTRA = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


IncompatibleKeys.__name__ = "_IncompatibleKeys"


# Extra state

def get_extra_state(self):
    """To be written, with `set_extra_state`, where a state dict needs more than tensors."""
    raise _never("get")


def set_extra_state(self, state):
    """The counterpart of `get_extra_state`."""
    raise _never("set")


def _never(which):
    return RuntimeError(f"Reached a code path in Module.{which}_extra_state() that should never be called. Please file an issue at "
                        "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug.")


# Saving

def _register_state_dict_hook(self, hook):
    """Call hook(module, state_dict, prefix, local_metadata) after saving; it may return another state dict."""
    if getattr(hook, "_from_public_api", False):
        raise RuntimeError("Cannot register the same function as the state dict post hook that was previously registered via "
                           "register_state_dict_post_hook")
    return _add(self._state_dict_hooks, hook)


def register_state_dict_post_hook(self, hook):
    """Call hook(module, state_dict, prefix, local_metadata) after saving."""
    hook._from_public_api = True
    return _add(self._state_dict_hooks, hook)


def register_state_dict_pre_hook(self, hook):
    """Call hook(module, prefix, keep_vars) before saving."""
    return _add(self._state_dict_pre_hooks, hook)


def _save_to_state_dict(self, destination, prefix, keep_vars):
    """Put this module's own parameters and persistent buffers into `destination`."""
    for name, found in [*self._parameters.items(), *self._buffers.items()]:
        if found is not None and name not in self._non_persistent_buffers_set:
            destination[prefix + name] = found if keep_vars else found.detach()
    from .module import Module

    if type(self).get_extra_state is not Module.get_extra_state:
        destination[prefix + EXTRA] = self.get_extra_state()


def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
    """An ordered dict of all parameters and persistent buffers by dotted name; tensors are detached unless keep_vars."""
    if args:
        warn("Positional args are being deprecated, use kwargs instead. Refer to "
             "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.", FutureWarning)
        destination = args[0] if destination is None else destination
        prefix = args[1] if len(args) > 1 and prefix == "" else prefix
        keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local = {"version": self._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local
    for hook in self._state_dict_pre_hooks.values():
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, module in self._modules.items():
        if module is not None:
            module.state_dict(destination=destination, prefix=f"{prefix + name}.", keep_vars=keep_vars)
    for hook in self._state_dict_hooks.values():
        other = hook(self, destination, prefix, local)
        if getattr(hook, "_from_public_api", False):
            if other is not None:
                raise RuntimeError("state_dict post-hook must return None")
        elif other is not None:
            destination = other
    return destination


# Loading

def _register_load_state_dict_pre_hook(self, hook, with_module=False):
    """Call hook([module,] state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before loading."""
    return _add(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))


def register_load_state_dict_pre_hook(self, hook):
    """Call hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before loading."""
    return self._register_load_state_dict_pre_hook(hook, with_module=True)


def register_load_state_dict_post_hook(self, hook):
    """Call hook(module, incompatible_keys) after loading; it may change the keys in place."""
    return _add(self._load_state_dict_post_hooks, hook)


def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
    """Load this module's own parameters and buffers (not those below); keys and errors are added to the lists."""
    for hook in self._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    own = {n: t for n, t in [*self._parameters.items(), *self._buffers.items()] if t is not None and n not in self._non_persistent_buffers_set}
    for name, tensor in own.items():
        key = prefix + name
        if key in state_dict:
            error = _load_one(self, name, key, tensor, state_dict[key], local_metadata.get("assign_to_params_buffers", False))
            if error is not None:
                error_msgs.append(error)
        elif strict:
            missing_keys.append(key)
    _load_extra(self, state_dict, prefix + EXTRA, strict, missing_keys, unexpected_keys)
    if strict:
        for key in state_dict:
            first, dot, _ = key[len(prefix):].partition(".")
            if key.startswith(prefix) and key != prefix + EXTRA and first not in (self._modules if dot else own):
                unexpected_keys.append(key)


def _load_one(module, name, key, tensor, source, assign):
    """Load one tensor; the words of what went wrong, or None."""
    if not isinstance(source, Tensor):
        return (f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but received {type(source)}')
    lazy = is_lazy(tensor)
    if not lazy and tensor.ndim == 0 and tuple(source.shape) == (1,):
        source = source[0]
    if not lazy and source.shape != tensor.shape:
        return (f"size mismatch for {key}: copying a param with shape {source.shape} from checkpoint, the shape in current model is {tensor.shape}.")
    swaps = __future__.get_swap_module_params_on_conversion()
    if tensor.is_meta and not source.is_meta and not assign and not (lazy and is_lazy(source)):
        warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a no-op. (Did you mean to "
             "pass `assign=True` to assign items in the state dictionary to their corresponding key in the module instead of copying them in place?)")
    try:
        with no_grad():
            if swaps:
                new = tensor.module_load(source, assign=assign)
                if new is source or new is tensor:
                    raise RuntimeError("module_load returned one of self or other, please .detach() the result if returning one of the inputs in module_load")
                put_in(tensor, _as_parameter(tensor, new) if isinstance(tensor, Parameter) else new)
            elif assign:
                _assign(module, name, tensor, source)
            elif not (lazy and is_lazy(source)):
                tensor.copy_(beside(source, tensor))  # a file may hold whole tensors where the parameter is spread
    except Exception as e:
        return (f'While {"swapping" if swaps else "copying"} the parameter named "{key}", whose dimensions in the model are {tensor.size()} and whose '
                f"dimensions in the checkpoint are {source.size()}, an exception occurred : {e.args}.")
    return None


def _assign(module, name, tensor, source):
    setattr(module, name, _as_parameter(tensor, source) if isinstance(tensor, Parameter) else source)


def _as_parameter(tensor, source):
    return source.requires_grad_(tensor.requires_grad) if isinstance(source, Parameter) else Parameter(source, requires_grad=tensor.requires_grad)


def _load_extra(module, state_dict, key, strict, missing, unexpected):
    from .module import Module

    if type(module).set_extra_state is not Module.set_extra_state:
        if key in state_dict:
            module.set_extra_state(state_dict[key])
        elif strict:
            missing.append(key)
    elif strict and key in state_dict:
        unexpected.append(key)


def _load_all(module, part, prefix, metadata, assign, missing, unexpected, errors):
    """Load a module and all below; no function within `load_state_dict`, which would hold itself, and so what was given, until garbage is collected."""
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(part, prefix, local, True, missing, unexpected, errors)
    for name, below in module._modules.items():
        if below is not None:
            inner = f"{prefix}{name}."
            _load_all(below, {k: v for k, v in part.items() if k.startswith(inner)}, inner, metadata, assign, missing, unexpected, errors)
    keys = IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                                 "incompatible_keys need to be modified, it should be done inplace.")


def load_state_dict(self, state_dict, strict=True, assign=False):
    """Load parameters and buffers; strict: the keys must be exactly this module's; assign: put the given tensors in place of the own ones."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    metadata = getattr(state_dict, "_metadata", None)
    missing, unexpected, errors = [], [], []
    state_dict = OrderedDict(state_dict)
    if metadata is not None:
        state_dict._metadata = metadata
    _load_all(self, state_dict, "", metadata, assign, missing, unexpected, errors)
    if strict and unexpected:
        errors.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected)))
    if strict and missing:
        errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
    if errors:
        raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors)))
    return IncompatibleKeys(missing, unexpected)


METHODS = (get_extra_state, set_extra_state, _register_state_dict_hook, register_state_dict_post_hook, register_state_dict_pre_hook,
           _save_to_state_dict, state_dict, _register_load_state_dict_pre_hook, register_load_state_dict_pre_hook,
           register_load_state_dict_post_hook, _load_from_state_dict, load_state_dict)
__all__ = ["EXTRA", "METHODS", "IncompatibleKeys", "RemovableHandle"]
