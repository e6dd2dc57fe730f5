"""torch.nn.utils.prune (layer 8): masks over parameters.  `name_orig` is the parameter, `name_mask` the buffer, `name` their product."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ..._core.composite import named
from ..._core.publish import load_all
from ..._functions.create import ones_like, zeros_like

_T = load_all()


class BasePruningMethod(ABC):
    """A way to make masks; kept as a forward pre-hook of its module."""

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for a tensor, within a mask that is there already."""

    def apply_mask(self, module):
        """The parameter under its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune a parameter: make the mask, and the hook that applies it."""
        old = None
        for k, hook in list(module._forward_pre_hooks.items()):
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
                old = hook
                del module._forward_pre_hooks[k]
        method = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs {original.shape}")
        if old is not None:
            whole = PruningContainer(old)
            whole.add_pruning_method(method)
            method = whole
        if not isinstance(method, PruningContainer) or old is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default = ones_like(original)
        else:
            default = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(scores, default_mask=default)
        except Exception:
            if old is None:
                setattr(module, name, module._parameters.pop(name + "_orig"))
            raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned copy of a tensor."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}")
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        """Make the pruned tensor the parameter."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other on what the earlier ones left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if not isinstance(args, Iterable):
            self._tensor_name = args._tensor_name
            self.add_pruning_method(args)
        elif len(args) == 1:
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            for method in args:
                self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Add a method for the same tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. Found "
                             f"'{method._tensor_name}'")
        new = method._pruning_methods if isinstance(method, PruningContainer) else (method,)
        self._pruning_methods += tuple(new)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The mask of the last method, over what is not pruned yet."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "global":
            return method.compute_mask(t, default_mask=mask)
        if method.PRUNING_TYPE == "unstructured":
            left = mask == 1
            part = method.compute_mask(t[left], default_mask=mask[left])
            return mask.masked_scatter(left, part.to(dtype=mask.dtype))
        if method.PRUNING_TYPE != "structured":
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        dim = method.dim % t.dim()
        left = (mask.abs().sum(dim=[d for d in range(t.dim()) if d != dim]) != 0).nonzero().flatten()
        part = method.compute_mask(t.index_select(dim, left), default_mask=mask.index_select(dim, left))
        return mask.index_copy(dim, left, part.to(dtype=mask.dtype))


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        n = _checked_count(self.amount, t.nelement())
        mask = default_mask.clone()
        if n:
            places = _T["torch.topk"](_T["torch.rand_like"](t).view(-1), k=n).indices
            mask = mask.view(-1).index_fill(0, places, 0).view(mask.shape)
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements nearest to 0."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        n = _checked_count(self.amount, t.nelement())
        mask = default_mask.clone()
        if n:
            places = _T["torch.topk"](t.abs().view(-1), k=n, largest=False).indices
            mask = mask.view(-1).index_fill(0, places, 0).view(mask.shape)
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Prunes slices at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        n, size = _checked_slices(t, self.amount, self.dim)
        if n == 0:
            return default_mask
        drawn = _T["torch.rand"](size)
        keep = _T["torch.topk"](drawn, k=size - n).indices
        return zeros_like(t).index_fill(self.dim, keep, 1) * default_mask.to(dtype=t.dtype)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the slices with the least norms."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t, default_mask):
        n, size = _checked_slices(t, self.amount, self.dim)
        if n == 0:
            return default_mask
        keep = _T["torch.topk"](_compute_norm(t, self.n, self.dim), k=size - n, largest=True).indices
        return zeros_like(t).index_fill(self.dim, keep, 1) * default_mask.to(dtype=t.dtype)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


# Functions

def identity(module, name):
    """Mask with ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the elements nearest to 0."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune slices at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the slices with the least norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prune by a given mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune several parameters, (module, name) each, as if they were one tensor."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = importance_scores if importance_scores is not None else {}
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    flat = named("cat")([scores.get((m, n), getattr(m, n)).reshape(-1) for m, n in parameters])
    masks = named("cat")([getattr(m, n + "_mask", ones_like(getattr(m, n))).reshape(-1) for m, n in parameters])
    whole = PruningContainer()
    whole._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    whole.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}')
    final = whole.compute_mask(flat, masks)
    start = 0
    for m, n in parameters:
        p = getattr(m, n)
        custom_from_mask(m, n, mask=final[start:start + p.numel()].view_as(p))
        start += p.numel()


def remove(module, name):
    """Make a pruned tensor the parameter."""
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a module, or one below, is pruned."""
    return any(isinstance(h, BasePruningMethod) for _, m in module.named_modules() for h in m._forward_pre_hooks.values())


# Checks

def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t):
    if t.dim() <= 1:
        raise ValueError(f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with {t.dim()} dims")


def _compute_nparams_toprune(amount, tensor_size):
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _checked_count(amount, size):
    """How many of `size` to prune."""
    n = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(n, size)
    return n


def _checked_slices(t, amount, dim):
    """(how many slices along a dim to prune, how many there are)."""
    _validate_structured_pruning(t)
    _validate_pruning_dim(t, dim)
    return _checked_count(amount, t.shape[dim]), t.shape[dim]


def _validate_pruning_dim(t, dim):
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t, n, dim):
    """The n-norms over all dims but one."""
    return _T["torch.norm"](t, p=n, dim=[d for d in range(t.dim()) if d != dim % t.dim()])
