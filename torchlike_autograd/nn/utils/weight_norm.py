"""torch.nn.utils.weight_norm (layer 8): a weight as length times direction, by a forward pre-hook."""

from __future__ import annotations

from ..._core.composite import COMPOSITES, named
from ..._core.saying import warn
from ..parameter import Parameter, UninitializedParameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v, dim):
    """The norms over all dims but one, which keeps its place; over all dims for -1."""
    if dim == -1:
        return v.norm()
    dim %= v.ndim
    return named("linalg_vector_norm")(v, 2, [d for d in range(v.ndim) if d != dim], True) if v.ndim > 1 else v.abs()


def product(v, g, dim):
    """g * v / |v|."""
    return COMPOSITES["torch._weight_norm"](v, g, dim)


def refuse_unknown(which, what, weight):
    """Refuse a parameter whose shape is not known yet."""
    if isinstance(weight, UninitializedParameter):
        raise ValueError(f"The module passed to `{which}` can't have uninitialized parameters. Make sure to run the dummy forward before applying {what} "
                         "normalization")


class WeightNorm:
    """The hook."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight of now."""
        return product(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Replace a parameter by its length and its direction."""
        warn("`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.", FutureWarning)
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        self = WeightNorm(name, dim)
        weight = getattr(module, name)
        refuse_unknown("WeightNorm", "weight", weight)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, self.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, self.compute_weight(module))
        module.register_forward_pre_hook(self)
        return self

    def remove(self, module):
        """Make the weight of now a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Give a module a weight of separate length and direction."""
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Undo `weight_norm`."""
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
