"""OneFlow's spelling (layer 9): `import torchlike_autograd.dialects.oneflow as flow`.

`flow.autograd.backward` and `grad` follow OneFlow's rules: the gradients of roots are a required argument, the node of a root is gone after one pass whatever
it saved (those below it are where they saved something), `create_graph` keeps them, an empty list of inputs means "accumulate into all leaves".  A `Function`
can be instantiated and called.  Names that are not here are those of this package; the modules that programs import by name
(`import torchlike_autograd.dialects.oneflow.nn as nn`) are its modules.

What the functions of this module make, and what is computed from it, is of the class `Tensor` here: its `backward` goes by the same rules, and its `numpy`
takes what requires grad.  (It asks for all calls, as classes with a `__torch_function__` do: each takes some microseconds more from the import on.)

What differs: parameters that layers make have PyTorch's methods, and so has what is computed from them alone; nodes that were released are known as long as
their graph is held.
"""

from __future__ import annotations

import functools
import gc
import importlib
import sys
import types
import weakref

import numpy as np

import torchlike_autograd as _torch

from .._core import passes
from .._core.nodes import Leaf
from .._core.plan import useful_slots
from .._core.record import Tape
from .._tensor import Tensor as _Tensor
from ..autograd import Function as _Function
from ..autograd import _run as _engine
from ..autograd import enable_grad, functional, no_grad, set_grad_enabled
from ..autograd.grad_mode import _DecoratorContextManager, is_grad_enabled, set_mode
from ..autograd.graph import saved_tensors_hooks as _hooks

_released: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # tape -> first slots of nodes that a pass has released


def backward(tensors=None, grad_tensors=..., retain_graph=False, create_graph=False, *, outputs=None, out_grads=...):
    """Accumulate the gradients of `tensors` into the leaves; `outputs` and `out_grads` are the names of the first releases.

    TypeError without `grad_tensors` (None is one); RuntimeError for what does not require grad, for shapes and counts that differ, and for released nodes.
    """
    roots, grads = _arguments("backward", tensors, outputs, grad_tensors, out_grads)
    if grads is ...:
        raise TypeError("backward() missing 1 required positional argument: 'grad_tensors'")
    _accumulate(roots, grads, retain_graph, create_graph)


def grad(outputs, inputs, grad_outputs=None, retain_graph=False, create_graph=False, allow_unused=False, is_grads_batched=False, *, out_grads=...):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; without inputs they are accumulated into the leaves and the tuple is empty."""
    roots, grads = _arguments("grad", outputs, None, grad_outputs, out_grads)
    targets = _sequence("inputs", inputs)
    if not targets:
        _accumulate(roots, grads, retain_graph, create_graph)
        return ()
    if not all(t.requires_grad for t in targets):
        raise RuntimeError("All input tensors `.requires_grad` should be true")
    if is_grads_batched:
        return _torch.autograd.grad(roots, targets, grads, retain_graph or create_graph, create_graph, allow_unused=True, is_grads_batched=True)
    gs = _gradients(roots, grads)
    nodes = _nodes(roots, targets)
    _refuse_released(nodes, roots)
    if not allow_unused and not all(map(_entered, _unreached(roots, targets))):
        raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired "
                           "behavior.")
    out = _engine.grad(roots, targets, gs, retain_graph or create_graph, create_graph, allow_unused=True) if roots else (None,) * len(targets)
    _release(nodes, retain_graph or create_graph)
    return _spelled(out)


def _accumulate(roots, grads, retain_graph, create_graph):
    gs = _gradients(roots, grads)
    if not roots:
        return
    nodes = _nodes(roots, None)
    _refuse_released(nodes, roots)
    leaves = [n._tl_leaf for n in nodes if hasattr(n, "variable")] + [t._tl_v.leaf for t in roots if isinstance(t._tl_value().leaf, Leaf)]
    before = {leaf: leaf.grad for leaf in leaves if leaf.grad is not None}
    pairs = _engine._roots(roots, gs)
    _engine.engine.run_backward(pairs, retain_graph or create_graph, create_graph)
    for leaf, old in before.items():  # accumulated in place also where the sum has a graph
        if leaf.grad is not old and leaf.grad is not None:
            old._tl_set_value(leaf.grad._tl_value())
            leaf.grad = old
    _release(nodes, retain_graph or create_graph)


class _Kind(type(_Tensor)):
    """Any tensor is one, as parameters are."""

    def __instancecheck__(cls, x):
        return isinstance(x, _Tensor)


class Tensor(_Tensor, metaclass=_Kind):
    """A tensor with OneFlow's methods where they differ from PyTorch's."""

    _tl_asked = True  # as a class outside of the package
    is_local = is_eager = True  # here is no other kind
    is_global = is_lazy = False

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return _spelled(super().__torch_function__(func, types, args, kwargs or {}))

    def backward(self, gradient=None, retain_graph=False, create_graph=False):
        """Accumulate the gradients of this tensor into the leaves, by the rules of `flow.autograd.backward` and with its errors."""
        backward(self, gradient, retain_graph, create_graph)

    def numpy(self):
        """The values as an array of NumPy's, also of what requires grad."""
        return self.detach().as_subclass(_Tensor).numpy()

    def _register_post_grad_accumulation_hook(self, hook):
        """Call `hook(grad)` once a gradient has been added to this leaf; what it returns, unless None, takes the place of `grad`."""

        def replace(t):
            new = hook(_spelled(t.grad))
            if new is not None:
                t.grad = new

        self.register_post_accumulate_grad_hook(replace)

    def __repr__(self, **contents):
        return "tensor" + super().__repr__(**contents).removeprefix("Tensor")

    def register_hook(self, hook):
        """As Tensor's; what the hook is called with is of this class."""

        @functools.wraps(hook)
        def told(grad):
            return hook(_spelled(grad))

        return super().register_hook(told)

    def copy_(self, other, non_blocking=False):
        """As Tensor's, also from an array of NumPy's."""
        return super().copy_(_torch.from_numpy(other) if isinstance(other, np.ndarray) else other, non_blocking)

    def where(self, x=None, y=None):
        """`flow.where` with this tensor as the condition."""
        return where(self, x, y)

    def cast(self, dtype):
        """The elements in another dtype."""
        return self.to(dtype)

    def __mod__(self, other):
        """The remainder with the sign of the dividend."""
        return self.fmod(other)

    __imod__ = __mod__

    def __rmod__(self, other):
        """Likewise."""
        return _torch.as_tensor(other).fmod(self)

    def new_empty(self, *args, **kwargs):
        """As Tensor's; copies are made by it."""
        return _spelled(super().new_empty(*args, **kwargs))

    def __reduce_ex__(self, protocol):  # files hold plain tensors
        return self.detach().as_subclass(_Tensor).requires_grad_(self.requires_grad).__reduce_ex__(protocol)


def _method(name):
    f = getattr(_torch.nn.functional, name)
    return lambda self, *args, **kwargs: f(self, *args, **kwargs)


_ACTIVATIONS = ("gelu", "mish", "selu", "silu", "softplus", "softsign")  # methods there, and functions of the module itself
for _name in _ACTIVATIONS:
    setattr(Tensor, _name, _method(_name))


def where(condition, x=None, y=None):
    """As `torch.where`, also with a condition of numbers."""
    return _spelled(_torch.where(condition.bool(), *(() if x is None and y is None else (x, y))))


def cast(x, dtype):
    """The elements of `x` in another dtype."""
    return _spelled(x.to(dtype))


def _spelled(made):
    """`made`, the plain tensors in it of this module's class from now on."""
    if type(made) is _Tensor:
        made.__class__ = Tensor
    elif isinstance(made, (list, tuple)):
        for x in made:
            _spelled(x)
    elif type(made) is dict:
        _spelled(list(made.values()))
    return made


def _spelling(f):
    """A function of the package that makes tensors of this module's class."""

    @functools.wraps(f)
    def spelled(*args, **kwargs):
        return _spelled(f(*args, **kwargs))

    return spelled


class inference_mode(_DecoratorContextManager):
    """Recording off, or with False on: what is made meanwhile is as other tensors are, and may be used with gradients later."""

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self._before = is_grad_enabled()
        set_mode(not self.mode)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        set_mode(self._before)

    def clone(self):
        return type(self)(self.mode)


class saved_tensors_hooks(_hooks):
    """As `autograd.graph.saved_tensors_hooks`, in OneFlow's words: TypeError where `unpack_hook` gives no tensor."""

    def __init__(self, pack_hook, unpack_hook):
        def unpack(kept):
            t = unpack_hook(kept)
            if not isinstance(t, _Tensor):
                raise TypeError(f"unpack_hook should return a Tensor, but got `{type(t)}` instead")
            return t

        super().__init__(pack_hook, unpack)


class _Context:
    _tl_emptied = False  # whether something was saved and is gone

    def _tl_let_go(self):
        self._tl_emptied |= bool(self.__dict__.get("_tl_saved"))
        super()._tl_let_go()

    def name(self):
        """The name of the Function: errors tell it."""
        return self._forward_cls.__name__

    @property
    def saved_tensors(self):
        """What `forward` saved."""
        return _spelled(super().saved_tensors)

    def _tl_call_backward(self, grads, *rest):
        return super()._tl_call_backward(_spelled(tuple(grads)), *rest)

    def _is_data_valid(self):
        """Whether what `forward` saved can still be read."""
        try:
            return self.saved_tensors is not None
        except RuntimeError:
            return False


class _FunctionKind(type(_Function)):
    def __init__(cls, name, bases, attrs):
        super().__init__(name, bases, attrs)
        made = cls._backward_cls
        cls._backward_cls = type(made.__name__, (_Context, made), {"__module__": made.__module__})


class Function(_Function, metaclass=_FunctionKind):
    """The base of functions with a derivative of their own: `F.apply(...)`, `F().apply(...)` and `F()(...)` are the same."""

    def __init__(self):
        pass

    @classmethod
    def apply(cls, *inputs):
        return _spelled(super().apply(*inputs))

    def __call__(self, *inputs):
        return type(self).apply(*inputs)


# Arguments

def _arguments(name, roots, older_roots, grads, older_grads):
    if older_roots is not None:
        roots = older_roots
    if roots is None:
        raise TypeError(f"{name}() missing 1 required positional argument: 'tensors'")
    return _sequence("tensors", roots), grads if older_grads is ... else older_grads


def _sequence(name, x):
    if isinstance(x, _Tensor):
        return [x]
    if not isinstance(x, (list, tuple)) or not all(isinstance(t, _Tensor) for t in x):
        raise TypeError(f"{name} must be a Tensor or a sequence of Tensors, but got {type(x).__name__}")
    return list(x)


def _gradients(roots, grads):
    """One gradient for each root, checked as OneFlow does and cast to its dtype."""
    if grads is not None:
        if isinstance(grads, _Tensor):
            grads = [grads]
        if not isinstance(grads, (list, tuple)) or not all(g is None or isinstance(g, _Tensor) for g in grads):
            raise TypeError(f"grad_tensors must be a Tensor, None or a sequence of them, but got {type(grads).__name__}")
        if grads and len(grads) != len(roots):
            raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    out = []
    for i, root in enumerate(roots):
        if not root.requires_grad:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        g = grads[i] if grads else None
        if g is None:
            if root.numel() != 1:
                raise RuntimeError("Grad can be implicitly created only for scalar outputs")
            g = _torch.ones_like(root.detach())
        elif g.shape != root.shape:
            raise RuntimeError(f"out_grad's shape must be same as output's ({tuple(root.shape)} vs {tuple(g.shape)})")
        elif g.dtype != root.dtype:
            g = (g.real if g.is_complex() and not root.is_complex() else g).to(root.dtype)
        else:
            g = g.clone() if root.is_leaf else g
        out.append(g)
    return out


# Released nodes

def _nodes(roots, targets):
    """The nodes of a pass: all below the roots, or those on a way to a target."""
    nodes, _, run = passes._needed(_pass(roots, targets))
    return [nodes[k] for k in run]


def _pass(roots, targets):
    places = [(_engine._place(t), None) for t in roots]
    return types.SimpleNamespace(begun=places, targets=None if targets is None else [_engine._place(t) for t in targets], accumulate=False)


def _refuse_released(nodes, roots):
    own = [t.grad_fn for t in roots]
    for node in nodes:
        if hasattr(node, "variable") or node._tl_first not in _released.get(node._tl_tape, ()):
            continue
        if node._tl_first in node._tl_tape.freed or getattr(node, "_tl_emptied", False) or any(node is n for n in own):
            raise RuntimeError(f"This FunctionNode with name `{node.name()}` has been released.\nMaybe you try to backward through the node a second time. "
                               "Specify retain_graph=True when calling .backward() or autograd.grad() the first time.")


def _release(nodes, keep):
    for node in () if keep else nodes:
        if not hasattr(node, "variable"):
            _released.setdefault(node._tl_tape, set()).add(node._tl_first)


def _unreached(roots, targets):
    """The targets that the roots do not depend on."""
    found = passes._reached(_pass(roots, None))[0]
    return [t for t in targets if t.is_leaf and t._tl_value().leaf not in found and all(t is not r for r in roots)]


def _entered(t):
    """Whether a leaf has been part of a graph that is still held."""
    v = t._tl_value()
    kept = [held for x in (v, v.leaf) for held in gc.get_referrers(x) if type(held) in (dict, list)]
    tapes = [tape for held in kept for tape in gc.get_referrers(held) if isinstance(tape, Tape)]
    return any(_used(v.leaf, tape) for tape in (_engine.thread.state.tape, *tapes))  # the open one may be frozen (`gc.freeze`), and is not shown then


def _used(leaf, tape):
    edges = [v.leaf for v in tape.inputs] if tape.open else tape.edges
    slots = frozenset([s for s, made in tape.leaves.items() if made is leaf] + [-i - 1 for i, e in enumerate(edges) if e is leaf])
    return len(useful_slots(tape.prefix, slots)) > len(slots)


autograd = types.ModuleType(f"{__name__}.autograd", "OneFlow's names of `autograd`.")
vars(autograd).update(
    backward=backward, grad=grad, Function=Function, set_grad_enabled=set_grad_enabled, enable_grad=enable_grad, inference_mode=inference_mode,
    is_grad_enabled=is_grad_enabled, no_grad=no_grad, graph=types.SimpleNamespace(saved_tensors_hooks=saved_tensors_hooks),
    **{name: _spelling(getattr(functional, name)) for name in ("vjp", "jvp", "jacobian", "hessian", "hvp", "vhp")})
autograd.functional = types.ModuleType(f"{autograd.__name__}.functional", functional.__doc__)
vars(autograd.functional).update({name: getattr(autograd, name) for name in functional.__all__})

grad_enable = enable_grad
_MODULES = ("fft", "linalg", "nn", "nn.functional", "nn.init", "nn.modules", "nn.parallel", "nn.parameter", "nn.utils", "nn.utils.rnn", "optim",
            "optim.lr_scheduler", "special", "utils", "utils.data")
sys.modules.update({f"{__name__}.{m}": importlib.import_module(f"{_torch.__name__}.{m}") for m in _MODULES} |
                   {m.__name__: m for m in (autograd, autograd.functional)})


def __getattr__(name):
    if name.startswith("__"):  # __path__: this is no package whose files would be those of another
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = getattr(_torch.nn.functional if name in _ACTIVATIONS else _torch, name)
    if callable(found) and not isinstance(found, type | types.ModuleType):
        found = globals()[name] = _spelling(found)
    return found


__all__ = ["Function", "Tensor", "autograd", "enable_grad", "grad_enable", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"]
