"""Policies of selective checkpoints (layer 7): which calls keep their results."""

from __future__ import annotations

import enum

from .._core.overloads import OpOverload, OpOverloadPacket, overload
from .._core.publish import load_all as _load_all
from .._core.selective import IGNORED, Keeping, Taking


class CheckpointPolicy(enum.Enum):
    """What a policy says of one call."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)  # torch 2.13 computes what a policy would have offloaded again


class SelectiveCheckpointContext:
    """What a policy is told besides the call."""

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute, self.op_output = is_recompute, op_output


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """Contexts for `context_fn` of a checkpoint without re-entry: policy(ctx, op, *args, **kwargs), or a list of operators whose results are kept.

    TypeError, ValueError for what is neither.  The operators are those of this package's table (`torch.ops.aten.mm.default`).  A write to what is held is an
    error in the second run, unless `allow_cache_entry_mutation`; then it takes what was computed.
    """
    held = {}
    return Keeping(_asking(policy_fn_or_list), held), Taking(held, allow_cache_entry_mutation)


def _asking(policy):
    if isinstance(policy, list):
        for op in policy:
            _check_op(op)
        return lambda op, args, kwargs, out: op in policy
    if not callable(policy):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")

    def wants(op, args, kwargs, out):
        said = policy(SelectiveCheckpointContext(is_recompute=False, op_output=out), op, *args, **kwargs)
        return said if isinstance(said, bool) else said in _KEPT

    return wants


def _check_op(op):
    if isinstance(op, OpOverload):
        return
    hint = ""
    if isinstance(op, OpOverloadPacket):
        hint = ("Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, change it to "
                "`torch.ops.aten.mm.default`.")
    kind = "<class 'torch._ops.OpOverloadPacket'>" if hint else str(type(op))
    raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {kind}. {hint}")


def _ignored():
    _load_all()
    return {op for op in (overload(n.removeprefix("aten.").removesuffix(".default")) for n in IGNORED) if op is not None}


SAC_IGNORED_OPS = _ignored()
