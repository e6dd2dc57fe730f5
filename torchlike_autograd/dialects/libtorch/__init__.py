"""libtorch's spelling (layer 9): the rules of PyTorch's C++ interface, in Python.

    from torchlike_autograd.dialects import libtorch as torch

    x = torch.ones([3], torch.requires_grad())
    torch.autograd.backward([x * 2], [torch.ones([3])])
    x.grad()

A `Tensor` is a handle: empty (`torch.Tensor()`, not `defined()`), or of a tensor of this package (`.get()`).  An undefined tensor (or None) stands where no
gradient is given, and comes back where there is none; cotangents are summed to the shape of their root; counts must agree.
"""

from __future__ import annotations

import operator
import types

import torchlike_autograd as _torch

from .._core import engine
from .._core.saying import warn
from .._tensor import Tensor as _Inner
from .._tensor import wrap as _wrap
from ..autograd import _run
from ..autograd._reduced import reduced_to


class TensorOptions:
    """What factories take: `requires_grad(True)`, `dtype(...)`."""

    def __init__(self, **given):
        self.given = given

    def requires_grad(self, value=True):
        """The options with gradients asked for or not."""
        return TensorOptions(**{**self.given, "requires_grad": value})

    def dtype(self, value):
        """The options with a dtype."""
        return TensorOptions(**{**self.given, "dtype": value})


def requires_grad(value=True):
    """Options of a tensor that requires grad."""
    return TensorOptions(requires_grad=value)


def dtype(value):
    """Options of a tensor of some dtype."""
    return TensorOptions(dtype=value)


class Tensor:
    """A handle of a tensor; empty without one."""

    def __init__(self, inner=None):
        self._t = inner._t if isinstance(inner, Tensor) else inner

    def get(self):
        """The tensor of this package, or None."""
        return self._t

    def defined(self):
        """Whether there is a tensor."""
        return self._t is not None

    def grad(self):
        """The gradient, undefined where there is none."""
        return Tensor(_defined(self).grad if self._t.is_leaf or self._t.retains_grad else None)

    def requires_grad(self):
        """Whether gradients are asked for."""
        return _defined(self).requires_grad

    def set_requires_grad(self, value):
        """Ask for gradients, or not."""
        _defined(self).requires_grad = value
        return self

    def requires_grad_(self, value=True):
        """Likewise."""
        return self.set_requires_grad(value)

    def is_leaf(self):
        """Whether it has no history."""
        return _defined(self).is_leaf

    def grad_fn(self):
        """The node, or None."""
        return _defined(self).grad_fn

    def sizes(self):
        """The shape as a list."""
        return list(_defined(self).shape)

    def data(self):
        """The contents without history."""
        return Tensor(_defined(self).data)

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Accumulate gradients; RuntimeError for an empty list of inputs."""
        if inputs is not None and not list(inputs):
            raise RuntimeError("'inputs' argument to backward cannot be empty")
        backward([self], [gradient], retain_graph, create_graph, inputs or ())

    def __getattr__(self, name):
        found = getattr(_defined(self), name)
        return _calling(found) if callable(found) and not isinstance(found, _Inner) else _handle(found)

    def __getitem__(self, index):
        return Tensor(_defined(self)[_bare(index)])

    def __setitem__(self, index, value):
        _defined(self)[_bare(index)] = _bare(value)

    def __repr__(self):
        return "[ Tensor (undefined) ]" if self._t is None else repr(self._t)


def _operator(name):
    f = getattr(operator, name)

    def forward(self, *others):
        return Tensor(f(_defined(self), *map(_bare, others)))

    def backward(self, other):
        return Tensor(f(_bare(other), _defined(self)))

    return forward, backward


for _name in ("add", "sub", "mul", "truediv", "matmul", "pow", "neg"):
    _forward, _back = _operator(_name)
    setattr(Tensor, f"__{_name}__", _forward)
    setattr(Tensor, f"__r{_name}__", _back)


def _defined(handle):
    if handle is None or handle._t is None:
        raise RuntimeError("cannot call a method of an undefined tensor")
    return handle._t


def _bare(x):
    if isinstance(x, Tensor):
        return x._t
    return type(x)(map(_bare, x)) if isinstance(x, (list, tuple)) else x


def _handle(x):
    if isinstance(x, _Inner):
        return Tensor(x)
    return type(x)(map(_handle, x)) if type(x) in (list, tuple) else x


def _calling(f):
    def call(*args, **kwargs):
        options = {}
        plain = []
        for a in args:
            if isinstance(a, TensorOptions):
                options.update(a.given)
            else:
                plain.append(_bare(a))
        return _handle(f(*plain, **{k: _bare(v) for k, v in kwargs.items()}, **options))

    return call


# Backward passes

def backward(tensors, grad_tensors=(), retain_graph=None, create_graph=False, inputs=()):
    """Accumulate the gradients of `tensors` into all leaves, or into `inputs` where there are some."""
    _run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs, True, True)


def grad(outputs, inputs, grad_outputs=(), retain_graph=None, create_graph=False, allow_unused=False):
    """The gradients of `outputs` with respect to `inputs`, as a list; undefined where an unused input is allowed."""
    if not list(inputs):
        raise RuntimeError("grad requires non-empty inputs.")
    return _run_backward(outputs, grad_outputs, retain_graph, create_graph, inputs, allow_unused, False)


def _run_backward(tensors, grads, retain_graph, create_graph, inputs, allow_unused, accumulate):
    roots, targets = [_bare(t) for t in tensors], [_bare(t) for t in inputs]
    if any(t is None for t in roots):
        raise RuntimeError("cannot call get_autograd_meta() on undefined tensor")
    given = _make_grads(roots, [_bare(g) for g in grads])
    for i, t in enumerate(roots):
        if not t.requires_grad:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    places = [_target(i, t, accumulate) for i, t in enumerate(targets)]
    if accumulate and create_graph:
        warn(_run.CYCLE)
    pairs = [(_run._place(t), g._value()) for t, g in zip(roots, given)]
    keep = create_graph if retain_graph is None else retain_graph
    found = engine.run_backward(pairs, keep, create_graph, set(places) if places else None, accumulate)
    if accumulate:
        return None
    out = [None if found.get(p) is None else _wrap(found[p]) for p in places]
    for i, g in enumerate(out):
        if g is None and not allow_unused:
            raise RuntimeError(f"element {i}of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the "
                               "desired behavior.")
    return [Tensor(g) for g in out]


def _target(i, t, accumulate):
    if accumulate:
        t.retain_grad()
    if not t.requires_grad:
        raise RuntimeError(f"element {i} of the input tensors does not require grad")
    return _run._place(t)


def _make_grads(roots, grads):
    if grads and len(grads) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    out = []
    for i, t in enumerate(roots):
        g = grads[i] if grads else None
        if not t.requires_grad:
            out.append(g)
        elif g is None:
            out.append(_one(t))
        else:
            out.append(_fitting(i, t, g))
    return out


def _one(t):
    if t.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if t.is_complex():
        raise RuntimeError(f"grad can be computed only for real scalar outputs but got {t.dtype.char_name}")
    return _torch.ones_like(t.detach())


def _fitting(i, t, g):
    """A cotangent of the dtype of its root, summed to its shape."""
    if g.is_complex() != t.is_complex():
        raise RuntimeError(f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: grad_output[{i}] has a "
                           f"dtype of {g.dtype.char_name} and output[{i}] has a dtype of {t.dtype.char_name}.")
    if g.shape != t.shape:
        g = _wrap(reduced_to(g._value(), tuple(t.shape), i))
    return g.to(t.dtype)


autograd = types.ModuleType(f"{__name__}.autograd", "torch::autograd.")
vars(autograd).update(backward=backward, grad=grad, Function=_torch.autograd.Function, forward_ad=types.SimpleNamespace(
    enter_dual_level=_torch.autograd.forward_ad.enter_dual_level, exit_dual_level=_torch.autograd.forward_ad.exit_dual_level))
kFloat, kDouble, kLong, kComplexFloat = _torch.float32, _torch.float64, _torch.int64, _torch.complex64


def __getattr__(name):
    found = getattr(_torch, name)
    return _calling(found) if callable(found) and not isinstance(found, type) else found


__all__ = ["Tensor", "TensorOptions", "autograd", "dtype", "requires_grad"]
