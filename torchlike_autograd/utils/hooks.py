"""torch.utils.hooks (layer 7): handles of hooks, and the hooks around a module."""

from __future__ import annotations

from .._core.nodes import RemovableHandle
from .._core.record import thread
from .._core.saying import warn
from .._tensor import Tensor
from ..autograd.function import Function

RemovableHandle.__module__ = __name__
__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Mark a hook that is lost when its tensor is saved."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warn where a tensor that is being saved has hooks that will be lost."""
    for _, hook in (tensor._backward_hooks or {}).items():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function with "
                 "@torch.utils.hooks.unserializable_hook to suppress this warning")


class BackwardHookFunction(Function):
    """Hands tensors through, so that their gradients pass one node."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[a for a in args if not a._tl_needs])
        return args

    @staticmethod
    def backward(ctx, *grads):
        return grads


BackwardHookFunction.__qualname__ = "BackwardHookFunction"


class BackwardHook:
    """The full backward hooks of one call of a module: a node before its inputs and one behind its outputs."""

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs, self.n_outputs, self.output_places = None, -1, None
        self.n_inputs, self.input_places, self.blank = -1, None, ()

    def setup_input_hook(self, args):
        """The arguments, handed through a node where one of them requires grad."""
        self.blank = [None if t._tl_needs else t.detach() for t in args if isinstance(t, Tensor)]
        out, self.input_places = _through(self, args, _watch_inputs)
        self.n_inputs = len(args)
        return out

    def setup_output_hook(self, args):
        """The result, handed through a node where a tensor in it requires grad."""
        single = isinstance(args, Tensor)
        if not single and not isinstance(args, tuple):
            return args
        values = (args,) if single else args
        self.n_outputs = len(values)
        out, self.output_places = _through(self, values, _watch_outputs)
        return out[0] if single else out


def _spread(places, values, size):
    """`values` at their places among `size`, None elsewhere."""
    out = [None] * size
    for i, v in zip(places or (), values):
        out[i] = v
    return tuple(out)


def _ask_without_inputs(watched):
    warn("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require gradients. See "
         "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.")
    grads = _spread((), (), watched.n_inputs)
    for f in watched.user_hooks:
        other = f(watched.module, grads, watched.grad_outputs)
        if other is not None and not (isinstance(other, tuple) and all(g is None for g in other)):
            raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or None for all gradients.")
    watched.grad_outputs = None


def _watch_outputs(watched, node):
    def hook(_, grad_output):
        # A posthook, as in torch: a None that a pre-hook returns goes on as None, where a prehook's would become zeros.
        watched.grad_outputs = _spread(watched.output_places, grad_output, watched.n_outputs)
        for f in watched.user_pre_hooks:
            other = f(watched.module, watched.grad_outputs)
            if other is None:
                continue
            n = len(watched.grad_outputs)
            if len(other) != n:
                raise RuntimeError(f"Backward pre hook returned an invalid number of grad_output, got {len(other)}, but expected {n}")
            watched.grad_outputs = other
        now = tuple(watched.grad_outputs[i] for i in watched.output_places)
        if watched.input_places is None:
            _ask_without_inputs(watched)
        return now

    node.register_hook(hook)


def _ask(watched, grads, grad_outputs):
    """The gradients of the inputs after the module's hooks."""
    for f in watched.user_hooks:
        other = f(watched.module, grads, grad_outputs)
        if other is not None:
            if len(other) != len(grads):
                raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(other)}, but expected {len(grads)}")
            grads = other
    return grads


def _watch_inputs(watched, node):
    def hook(grad_input, _):
        if watched.grad_outputs is None:
            return None
        whole = [g if t is None else t * 0 for g, t in zip(grad_input, watched.blank, strict=True)]  # inputs that need no gradient have zeros, as in torch
        grads = _ask(watched, _spread(watched.input_places, whole, watched.n_inputs), watched.grad_outputs)
        watched.grad_outputs = None
        return tuple(grads[i] if t is None else None for i, t in zip(watched.input_places, watched.blank))  # nothing leads on from the others

    node.register_hook(hook)


def _through(watched, values, watch):
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not (any(values[i]._tl_needs for i in places) and thread.state.grad):
        return values, None
    passed = BackwardHookFunction.apply(*[values[i] for i in places])
    passed = passed if isinstance(passed, tuple) else (passed,)
    node = next((t.grad_fn for t in passed if t.grad_fn is not None), None)
    if node is None:
        raise RuntimeError("Error while setting up backward hooks. Please open an issue with a code sample to reproduce this.")
    watch(watched, node)
    new = list(values)
    for i, t in zip(places, passed):
        new[i] = t
    if type(values) is tuple:
        return tuple(new), places
    return type(values)(*new), places
