"""How a Module is called (layer 8): straight to `forward` where nobody has a hook; hooks of modules and global ones."""

from __future__ import annotations

import functools
import types
import weakref
from collections import OrderedDict

from ..._core.saying import warn
from ..._tensor import Tensor
from ...utils.hooks import BackwardHook, RemovableHandle

_global_backward_pre_hooks: dict = OrderedDict()
_global_backward_hooks: dict = OrderedDict()
_global_is_full_backward_hook = None
_global_forward_pre_hooks: dict = OrderedDict()
_global_forward_hooks: dict = OrderedDict()
_global_forward_hooks_always_called: dict = OrderedDict()
_global_forward_hooks_with_kwargs: dict = OrderedDict()
_global_buffer_registration_hooks: dict = OrderedDict()
_global_module_registration_hooks: dict = OrderedDict()
_global_parameter_registration_hooks: dict = OrderedDict()


class HoldsGlobals(types.ModuleType):
    """A module whose `_global_*` are those above, also where a program puts others in their place."""


def _held(name):
    return property(lambda _: globals()[name], lambda _, value: globals().__setitem__(name, value))


for _name in [n for n in globals() if n.startswith("_global_")]:
    setattr(HoldsGlobals, _name, _held(_name))


class _WrappedHook:
    """A hook that may get its module (held weakly) as first argument."""

    def __init__(self, hook, module=None):
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args, **kwargs):
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self):
        return {"hook": self.hook, "with_module": self.with_module, **({"module": self.module()} if self.with_module else {})}

    def __setstate__(self, state):
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


def _forward_unimplemented(self, *input):
    """To be written by every subclass."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


# Calling

def _call_impl(self, *args, **kwargs):
    """What a call of a module does."""
    if not (self._backward_hooks or self._backward_pre_hooks or self._forward_hooks or self._forward_pre_hooks or _global_forward_pre_hooks
            or _global_forward_hooks or _global_backward_hooks or _global_backward_pre_hooks):
        return self.forward(*args, **kwargs)
    return _with_hooks(self, args, kwargs)


def _slow_forward(self, *input, **kwargs):
    """`forward`, as a tracer of torch's calls it."""
    return self.forward(*input, **kwargs)


def _with_hooks(module, args, kwargs):
    called = set()
    try:
        return _hooked(module, args, kwargs, called)
    except Exception:
        _call_always(module, args, kwargs, called)
        raise


def _hooked(module, args, kwargs, called):
    """The call with all hooks; `called` collects the forward hooks that ran."""
    args, kwargs = _before(module, args, kwargs)
    full, plain = module._get_backward_hooks()
    pre = module._get_backward_pre_hooks()
    around = None
    if full or pre:
        around = BackwardHook(module, full, pre)
        args = around.setup_input_hook(args)
    result = module.forward(*args, **kwargs)
    for table, always, with_kwargs in ((_global_forward_hooks, _global_forward_hooks_always_called, _global_forward_hooks_with_kwargs),
                                       (module._forward_hooks, module._forward_hooks_always_called, module._forward_hooks_with_kwargs)):
        for key, hook in list(table.items()):
            if key in always:
                called.add((id(table), key))
            other = hook(module, args, kwargs, result) if key in with_kwargs else hook(module, args, result)
            result = result if other is None else other
    if around is not None:
        result = _around_output(around, result)
    if plain:
        _hook_node(module, plain, args, result)
    return result


def _before(module, args, kwargs):
    """Arguments after the forward pre-hooks."""
    for table, with_kwargs in ((_global_forward_pre_hooks, ()), (module._forward_pre_hooks, module._forward_pre_hooks_with_kwargs)):
        for key, hook in list(table.items()):
            if key not in with_kwargs:
                other = hook(module, args)
                if other is not None:
                    args = other if isinstance(other, tuple) else (other,)
                continue
            other = hook(module, args, kwargs)
            if other is not None:
                if not isinstance(other, tuple) or len(other) != 2:
                    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {other}.")
                args, kwargs = other
    return args, kwargs


def _around_output(around, result):
    if not isinstance(result, (Tensor, tuple)):
        warn(f"For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {type(result)}")
    return around.setup_output_hook(result)


def _hook_node(module, hooks, args, result):
    """Give the hooks that are not full to the node of (the first tensor of) the result."""
    found = result
    while not isinstance(found, Tensor):
        found = next(v for v in found.values() if isinstance(v, Tensor)) if isinstance(found, dict) else found[0]
    node = found.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(_WrappedHook(hook, module))
        module._maybe_warn_non_full_backward_hook(args, result, node)


def _call_always(module, args, kwargs, called):
    """After an error: the hooks registered with always_call that did not run yet; their own errors are only said."""
    for table, always, with_kwargs, word in (
            (_global_forward_hooks, _global_forward_hooks_always_called, _global_forward_hooks_with_kwargs, "global module forward hook"),
            (module._forward_hooks, module._forward_hooks_always_called, module._forward_hooks_with_kwargs, "module forward hook")):
        for key, hook in list(table.items()):
            if key not in always or (id(table), key) in called:
                continue
            try:
                other = hook(module, args, kwargs, None) if key in with_kwargs else hook(module, args, None)
                del other
            except Exception as e:
                warn(f"{word} with ``always_call=True`` raised an exception that was silenced as another error was raised in forward: {e}")


# Hooks of one module

def _refuse_both(module, full):
    if module._is_full_backward_hook is (not full):
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them.")
    module._is_full_backward_hook = full


def _add(table, hook, prepend=False, extra=(), flags=()):
    """Register a hook in an ordered table; flags: further tables that hold True under its id."""
    handle = RemovableHandle(table, extra_dict=list(extra) or None)
    table[handle.id] = hook
    for flagged in flags:
        flagged[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def register_full_backward_pre_hook(self, hook, prepend=False):
    """Call hook(module, grad_output) before the gradients of the inputs are computed; it may return another grad_output."""
    return _add(self._backward_pre_hooks, hook, prepend)


def register_backward_hook(self, hook):
    """Call hook(module, grad_input, grad_output) at the last node of the forward pass (torch deprecates it for the full hook)."""
    _refuse_both(self, False)
    return _add(self._backward_hooks, hook)


def register_full_backward_hook(self, hook, prepend=False):
    """Call hook(module, grad_input, grad_output) when the gradients of the inputs are known; it may return another grad_input."""
    _refuse_both(self, True)
    return _add(self._backward_hooks, hook, prepend)


def _get_backward_hooks(self):
    """(full hooks, others), the global ones first."""
    full, plain = [], []
    if _global_is_full_backward_hook is not None:
        (full if _global_is_full_backward_hook else plain).extend(_global_backward_hooks.values())
    if self._is_full_backward_hook is not None:
        (full if self._is_full_backward_hook else plain).extend(self._backward_hooks.values())
    return full, plain


def _get_backward_pre_hooks(self):
    return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]


_DEPRECATED = "is deprecated and will be removed in future versions. This hook will be missing"
_INSTEAD = "Please use register_full_backward_hook to get the documented behavior."


def _maybe_warn_non_full_backward_hook(self, inputs, result, grad_fn):
    """torch's warnings where a hook that is not full sees only a part."""
    results = result if isinstance(result, tuple) else (result,)
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    if not all(isinstance(r, Tensor) for r in results):
        text = f"Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors {_DEPRECATED} some of the grad_output."
    elif not all(isinstance(i, Tensor) for i in inputs):
        text = ("Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors "
                f"{_DEPRECATED} some of the grad_input.")
    elif len({r.grad_fn for r in results if r.grad_fn is not None}) > 1:
        text = f"Using a non-full backward hook when outputs are generated by different autograd Nodes {_DEPRECATED} some grad_output."
    elif {n for n, _ in grad_fn.next_functions} != {i.grad_fn for i in inputs if i.grad_fn is not None}:
        text = f"Using a non-full backward hook when the forward contains multiple autograd Nodes {_DEPRECATED} some grad_input."
    else:
        return
    warn(f"{text} {_INSTEAD}", FutureWarning)


def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
    """Call hook(module, args) before `forward`; it may return other arguments."""
    flags = [self._forward_pre_hooks_with_kwargs]
    return _add(self._forward_pre_hooks, hook, prepend, flags, flags if with_kwargs else ())


def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
    """Call hook(module, args, result) after `forward`; it may return another result."""
    kw, always = self._forward_hooks_with_kwargs, self._forward_hooks_always_called
    return _add(self._forward_hooks, hook, prepend, [kw, always], [*([kw] if with_kwargs else ()), *([always] if always_call else ())])


# Hooks of all modules

def _has_any_global_hook():
    """Whether a global hook is registered."""
    return (_global_backward_pre_hooks or _global_backward_hooks or _global_forward_pre_hooks or _global_forward_hooks
            or _global_forward_hooks_always_called or _global_forward_hooks_with_kwargs)


def register_module_buffer_registration_hook(hook):
    """Call hook(module, name, buffer) when any buffer is registered; it may return another."""
    return _add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Call hook(module, name, submodule) when any module is registered; it may return another."""
    return _add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Call hook(module, name, parameter) when any parameter is registered; it may return another."""
    return _add(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook):
    """A forward pre-hook of all modules."""
    return _add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """A forward hook of all modules."""
    kw, always = _global_forward_hooks_with_kwargs, _global_forward_hooks_always_called
    return _add(_global_forward_hooks, hook, False, [kw, always], [*([kw] if with_kwargs else ()), *([always] if always_call else ())])


def _global_backward(hook, full):
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them.")
    _global_is_full_backward_hook = full
    return _add(_global_backward_hooks, hook)


def register_module_backward_hook(hook):
    """A backward hook of all modules that is not full."""
    return _global_backward(hook, False)


def register_module_full_backward_pre_hook(hook):
    """A full backward pre-hook of all modules."""
    return _add(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """A full backward hook of all modules."""
    return _global_backward(hook, True)


METHODS = (_call_impl, _slow_forward, register_full_backward_pre_hook, register_backward_hook, register_full_backward_hook, _get_backward_hooks,
           _get_backward_pre_hooks, _maybe_warn_non_full_backward_hook, register_forward_pre_hook, register_forward_hook)
