"""Arguments by signature (layer 8)."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import torchlike_autograd as torch

from .codegen import is_from_torch


class ArgsKwargsPair(NamedTuple):
    """Positional arguments, arguments by name."""

    args: tuple
    kwargs: dict


def _by_signature(call, args, kwargs, only_kwargs):
    try:
        bound = inspect.signature(call).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    if not only_kwargs:
        return ArgsKwargsPair(bound.args, bound.kwargs)
    return ArgsKwargsPair((), dict(bound.arguments))


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
    """ArgsKwargsPair of a call of a Python function, defaults included; None for functions without a signature."""
    return _by_signature(target, args, kwargs or {}, normalize_to_only_use_kwargs)


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """ArgsKwargsPair of a call of a submodule, or None."""
    try:
        module = root.get_submodule(target)
    except AttributeError as e:
        raise RuntimeError(f"Tried to normalize arguments for module target {target} but root did not have an attribute with that name!") from e
    return _by_signature(module.forward, args, kwargs or {}, normalize_to_only_use_kwargs)


def of_node(node, root, only_kwargs):
    """ArgsKwargsPair of a node's call, or None."""
    if node.op == "call_function":
        return normalize_function(node.target, node.args, node.kwargs, normalize_to_only_use_kwargs=only_kwargs)
    if node.op == "call_module":
        return normalize_module(root, node.target, node.args, node.kwargs, only_kwargs)
    return None


def check_for_mutable_operation(target, args, kwargs):
    """RuntimeError for a function of torch that writes: to its first argument (`relu_`), or to `out=` where it has one overload that does."""
    name = getattr(target, "__name__", "")
    packet = getattr(torch.ops.aten, name, None) if is_from_torch(target) and (name.endswith("_") or "out" in kwargs) else None
    if packet is None:
        return
    first, *others = packet.overloads()
    schema = str(getattr(packet, first)._schema)
    if not name.endswith("_"):
        if others or first != "default" or not schema.endswith(") -> Tensor"):
            return
        head, _, given = schema.removesuffix(") -> Tensor").partition("(")
        schema = f"{head}.out({given}{', ' if '*, ' in given else ', *, '}Tensor(a!) out) -> Tensor(a!)"
    raise RuntimeError(f"Tried to trace mutable operation {schema}. FX only supports functional code, so operations that mutate operands in-place "
                       "(e.g. via `out` arguments) are not supported")


__all__ = ["ArgsKwargsPair", "check_for_mutable_operation", "normalize_function", "normalize_module"]
