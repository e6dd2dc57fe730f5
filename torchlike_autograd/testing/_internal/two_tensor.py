"""torch.testing._internal.two_tensor (layer 8): a subclass of Tensor made of two tensors, on both of which every function is called."""

from __future__ import annotations

from ..._core import publish as _publish
from ..._core.overriding import Off
from ..._tensor import Tensor
from ...utils._pytree import tree_flatten, tree_map, tree_unflatten


class TwoTensor(Tensor):
    """Tensors `a` and `b` of the same shape; it looks like the first of them."""

    @staticmethod
    def __new__(cls, a, b, outer_size=None, outer_stride=None, *, requires_grad=None):
        if a.device != b.device or a.layout != b.layout or a.dtype != b.dtype or a.shape != b.shape:
            raise AssertionError("the two tensors must agree in device, layout, dtype and shape")
        wants = a.requires_grad or b.requires_grad if requires_grad is None else requires_grad
        out = Tensor._make_subclass(cls, a.detach(), wants)
        out.a, out.b = a, b
        return out

    def __repr__(self, *, tensor_contents=None):
        return f"TwoTensor({self.a!r}, {self.b!r})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner_tensors, meta, outer_size, outer_stride):
        """Made again of its parts."""
        return TwoTensor(inner_tensors["a"], inner_tensors["b"], outer_size, outer_stride)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Call it for both."""
        part = lambda name: tree_map(lambda x: getattr(x, name) if isinstance(x, TwoTensor) else x, (args, kwargs or {}))  # noqa: E731
        with Off(False):
            if getattr(func, "__name__", "") in ("__get__", "__set__", "requires_grad_", "backward"):
                return func(*args, **(kwargs or {}))
            (a_args, a_kwargs), (b_args, b_kwargs) = part("a"), part("b")
            a, tree = tree_flatten(func(*a_args, **a_kwargs))
            b, _ = tree_flatten(func(*b_args, **b_kwargs))
            return tree_unflatten([TwoTensor(x, y) if isinstance(x, Tensor) else x for x, y in zip(a, b)], tree)


__getattr__ = _publish.missing("torch.testing._internal.two_tensor")
