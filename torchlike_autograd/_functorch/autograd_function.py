"""torch._functorch.autograd_function (layer 8): helpers around custom Functions under transformations that programs and tests import."""

from __future__ import annotations

from .._core import publish as _publish
from ..autograd._function_levels import VmapInfo
from ..autograd._vmap import vmap as _vmap
from ..autograd.function import Function as _Function

__all__ = ["CtxWithSavedTensors", "VmapInfo", "WrappedCtx", "has_overridden_vmap_rule", "reductify", "reductify_leaf",
           "validate_vmap_returns_tuple_of_two_elements"]


class WrappedCtx:
    """A context that hands every attribute on to the one inside, but for reserved ones.  RuntimeError where that has one of their names."""

    _pt_reserved_attrs = ("_pt_reserved_attrs", "_pt_inner_ctx")

    def __init__(self, ctx):
        names = type(self)._pt_reserved_attrs
        if not isinstance(ctx, WrappedCtx) and any(hasattr(ctx, n) for n in names):
            raise RuntimeError(f"PyTorch reserves the {names} field on ctx. Please name your fields on ctx something else to avoid name collision.")
        self._pt_inner_ctx = ctx

    def __getattr__(self, name):
        return getattr(self.__dict__["_pt_inner_ctx"], name)

    def __setattr__(self, name, value):
        if name in type(self)._pt_reserved_attrs:
            self.__dict__[name] = value
        else:
            setattr(self._pt_inner_ctx, name, value)


class CtxWithSavedTensors(WrappedCtx):
    """A context whose saved_tensors are others."""

    _pt_reserved_attrs = ("_pt_new_saved_tensors", *WrappedCtx._pt_reserved_attrs)

    def __init__(self, ctx, new_saved_tensors):
        super().__init__(ctx)
        self._pt_new_saved_tensors = new_saved_tensors

    @property
    def saved_tensors(self):
        """What was given instead."""
        return self._pt_new_saved_tensors


def has_overridden_vmap_rule(autograd_function):
    """Whether a Function has a `vmap` of its own."""
    return autograd_function.vmap is not _Function.vmap


def validate_vmap_returns_tuple_of_two_elements(result):
    """RuntimeError for what a `vmap` staticmethod must not return."""
    if not (isinstance(result, tuple) and len(result) == 2):
        got = f"{len(result)} returns" if isinstance(result, tuple) else f"a {type(result)}"
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. "
                           f"Got {got} instead")


def reductify(grad_input, grad_input_bdim, input_bdim, batch_size, target_shape_without_bdim_to_reduce_to=None):
    """`reductify_leaf` of each of the gradients of several inputs; a tuple."""
    grads, dims, places = (x if isinstance(x, tuple) else (x,) for x in (grad_input, grad_input_bdim, input_bdim))
    targets = target_shape_without_bdim_to_reduce_to or (None,) * len(grads)
    return tuple(reductify_leaf(g, d, i, batch_size, t) for g, d, i, t in zip(grads, dims, places, targets))


def reductify_leaf(grad_input, grad_input_bdim, input_bdim, batch_size, target_shape_without_bdim_to_reduce_to=None):
    """A gradient mapped as its input is: summed where only the gradient is mapped, expanded where only the input is; target: the input's shape in the map."""
    g, at = grad_input, grad_input_bdim
    if g is None or (at is None and input_bdim is None):
        return g
    if input_bdim is None:
        return g.sum(at)
    if at is None:
        at = input_bdim
        g = g.unsqueeze(at)
        g = g.expand([batch_size if d == at else n for d, n in enumerate(g.shape)])
    if target_shape_without_bdim_to_reduce_to is not None:
        return _vmap(lambda x: x.sum_to_size(target_shape_without_bdim_to_reduce_to), in_dims=at, out_dims=input_bdim)(g)
    return g if at == input_bdim else g.movedim(at, input_bdim)


globals().update(_publish.refused(
    "torch._functorch.autograd_function", "custom_function_call", "CustomFunctionHigherOrderOperator", "vmapify_autograd_function",
    "generate_single_level_function", "autograd_function_forward_rewritten", "wrap_outputs_maintaining_identity",
    why="a Function finds its levels by itself here"))
__getattr__ = _publish.missing("torch._functorch.autograd_function")
