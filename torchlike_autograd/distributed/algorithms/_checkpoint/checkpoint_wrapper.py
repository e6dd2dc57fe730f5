"""torch.distributed.algorithms._checkpoint.checkpoint_wrapper (layer 8): modules that compute again in the backward pass, or keep what they save elsewhere.

A wrapper is a module around one: names of parameters, keys of states, attributes and items are those of the module inside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum, auto
from functools import partial

from ...._core import publish as _publish
from ....autograd.graph import save_on_cpu
from ....nn.modules.module import Module
from ....utils.checkpoint import checkpoint
from ...fsdp import wrap as _wrap

__all__ = ["ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper", "apply_activation_checkpointing", "checkpoint_wrapper",
           "offload_wrapper"]

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(Enum):
    """Which of the two checkpoints."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module, ABC):
    """A module around one that goes by that one's names."""

    def __init__(self, mod):
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(self._post_state_dict_hook)
        self.register_load_state_dict_pre_hook(self._pre_load_state_dict_hook)

    @abstractmethod
    def forward(self, *args, **kwargs):
        """What the wrapper does around the module."""
        raise ValueError("Subclasses should implement forward().")

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key):
        return self._checkpoint_wrapped_module.__getitem__(key)

    def named_parameters(self, *args, **kwargs):
        """Parameters by the names that they have inside."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), parameter

    @staticmethod
    def _post_state_dict_hook(module, state_dict, prefix, *args):
        _rename(state_dict, f"{prefix}{_CHECKPOINT_PREFIX}", prefix)
        return state_dict

    @staticmethod
    def _pre_load_state_dict_hook(module, state_dict, prefix, *args):
        _rename(state_dict, prefix, f"{prefix}{_CHECKPOINT_PREFIX}")


def _rename(state, old, new):
    """Let keys of a state begin otherwise, in place and in order."""
    if old != new:
        for key in [k for k in state if k.startswith(old)]:
            state[new + key[len(old):]] = state.pop(key)


class OffloadWrapper(ActivationWrapper):
    """What the module saves for the backward pass waits in the host's memory."""

    def forward(self, *args, **kwargs):
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """The module is computed again in the backward pass."""

    def __init__(self, mod, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            checkpoint_fn = partial(checkpoint, use_reentrant=checkpoint_impl is CheckpointImpl.REENTRANT)
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args, **kwargs):
        if self.checkpoint_impl is CheckpointImpl.NO_REENTRANT or not kwargs:
            return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)
        count, names = len(args), tuple(kwargs)  # the other checkpoint takes what it differentiates by its place

        def inside(*flat):
            return self._checkpoint_wrapped_module(*flat[:count], **dict(zip(names, flat[count:], strict=True)))

        return self.checkpoint_fn(inside, *args, *kwargs.values())


def offload_wrapper(module):
    """`OffloadWrapper` around a module."""
    return OffloadWrapper(module)


def checkpoint_wrapper(module, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
    """`CheckpointWrapper` around a module."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda _: True, auto_wrap_policy=None):
    """Wrap those submodules that `check_fn` (or a policy) says, inner ones first."""
    policy = auto_wrap_policy or partial(_wrap.lambda_auto_wrap_policy, lambda_fn=check_fn)
    _wrap._recursive_wrap(model, policy, checkpoint_wrapper_fn, set(), set(), only_wrap_children=True)


__getattr__ = _publish.missing("torch.distributed.algorithms._checkpoint.checkpoint_wrapper")
