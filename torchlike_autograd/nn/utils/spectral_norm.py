"""torch.nn.utils.spectral_norm (layer 8): a weight divided by its greatest singular value, by a forward pre-hook."""

from __future__ import annotations

from ..._core.composite import named
from ...autograd.grad_mode import no_grad
from ..parameter import Parameter
from .weight_norm import refuse_unknown

__all__ = ["SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook", "remove_spectral_norm", "spectral_norm"]

_mv = named("mv")


def _unit(v, eps):
    from .. import functional as F

    return F.normalize(v, dim=0, eps=eps)


class SpectralNorm:
    """The hook; `u` and `v` follow the singular vectors by power iteration in training."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight):
        """The weight with `dim` first and the others flattened."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        """The weight of now, divided."""
        weight, u, v = (getattr(module, f"{self.name}_{n}") for n in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(_unit(_mv(matrix.t(), u), self.eps))
                    u.copy_(_unit(_mv(matrix, v), self.eps))
                u, v = u.clone(), v.clone()
        return weight / named("dot")(u, _mv(matrix, v))

    def remove(self, module):
        """Make the weight of now a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for n in ("u", "v", "orig"):
            delattr(module, f"{self.name}_{n}")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat, u, target_sigma):
        """The `v` of which u W v is that number."""
        v = _mv(weight_mat.t().mm(weight_mat).pinverse(), _mv(weight_mat.t(), u))
        return v * (target_sigma / named("dot")(u, _mv(weight_mat, v)))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Replace a parameter by one that is divided at every call."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        self = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        refuse_unknown("SpectralNorm", "spectral", weight)
        with no_grad():
            h, w = self.reshape_weight_to_matrix(weight).size()
            u = _unit(weight.new_empty(h).normal_(0, 1), eps)
            v = _unit(weight.new_empty(w).normal_(0, 1), eps)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(self)
        module._register_state_dict_hook(SpectralNormStateDictHook(self))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(self))
        return self


class SpectralNormLoadStateDictPreHook:
    """Makes `v` for state dicts from before version 1, which have the divided weight in its place."""

    def __init__(self, fn):
        self.fn = fn
        self.__name__ = "SpectralNormLoadStateDictPreHook"

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("spectral_norm", {}).get(f"{self.fn.name}.version", None)
        key = prefix + self.fn.name
        if version is not None and version >= 1:
            return
        if version is None and key not in state_dict and all(key + n in state_dict for n in ("_orig", "_u", "_v")):
            return  # a new one without its metadata
        missing = [key + n for n in ("_orig", "", "_u") if key + n not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else ())
            return
        with no_grad():
            whole, u = state_dict[f"{key}_orig"], state_dict[f"{key}_u"]
            sigma = (whole / state_dict.pop(key)).mean()
            state_dict[f"{key}_v"] = self.fn._solve_v_and_rescale(self.fn.reshape_weight_to_matrix(whole), u, sigma)


class SpectralNormStateDictHook:
    """Writes the version."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, module, state_dict, prefix, local_metadata):
        key = f"{self.fn.name}.version"
        found = local_metadata.setdefault("spectral_norm", {})
        if key in found:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        found[key] = self.fn._version


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a module's weight by its greatest singular value."""
    if dim is None:
        from ..modules.conv import _ConvTransposeNd

        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Undo `spectral_norm`."""
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for table, kind in ((module._state_dict_hooks, SpectralNormStateDictHook), (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook)):
        for k, hook in list(table.items()):
            hook = getattr(hook, "hook", hook)
            if isinstance(hook, kind) and hook.fn.name == name:
                del table[k]
                break
    return module
