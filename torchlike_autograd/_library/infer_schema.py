"""torch._library.infer_schema (layer 8): the schema of a Python function, from its annotations."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing

from .._core import devices, dtypes
from .._tensor import Tensor

_NUMBER = typing.Union[int, float, bool]  # noqa: UP007 (as torch spells it)
_OPTIONAL = typing.Optional


def _supported():
    """{annotation: type in a schema} of what a parameter may be."""
    lists = (typing.Sequence, typing.List, collections.abc.Sequence, list)  # noqa: UP006
    out = {}
    for kind, name, optional, listed in ((Tensor, "Tensor", True, True), (_OPTIONAL[Tensor], "Tensor?", False, True), (int, "SymInt", True, True),
                                         (float, "float", True, True), (bool, "bool", True, True), (str, "str", True, False), (_NUMBER, "Scalar", True, True),
                                         (dtypes.dtype, "ScalarType", True, False), (devices.device, "Device", True, False)):
        if name != "Tensor?":
            out[kind] = name
        if optional:
            out[_OPTIONAL[kind]] = f"{name}?"
        if listed:
            out.update({one[kind]: f"{name}[]" for one in lists})
        if name in ("SymInt", "float", "bool"):
            out.update({_OPTIONAL[one[kind]]: f"{name}[]?" for one in lists})
    return out


PARAMETERS = _supported()
RETURNS = {Tensor: "Tensor", typing.List[Tensor]: "Tensor[]", list[Tensor]: "Tensor[]", int: "SymInt", float: "float", bool: "bool",  # noqa: UP006
           _NUMBER: "Scalar"}


def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """``(Tensor x, ...) -> Tensor`` of a function, op_name before it; ValueError in torch's words where an annotation is missing or not supported."""
    sig = inspect.signature(prototype_function)

    def refuse(what):
        text = f"infer_schema(func): {what} Got func with signature {sig})"
        raise ValueError(text.replace(f"{Tensor.__module__}.Tensor", "torch.Tensor"))

    def resolved(annotation):
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if not isinstance(annotation, str):
            inner = typing.get_args(annotation)
            found = tuple(map(resolved, inner))
            return annotation if found == inner else typing.get_origin(annotation)[found]
        try:
            return eval(annotation, prototype_function.__globals__, {"Tensor": Tensor})  # what `typing.get_type_hints` does, one by one
        except Exception:
            refuse(f"Unsupported type annotation {annotation}. It is not a type.")

    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError("mutates_args must either be a sequence of the names of the arguments that are mutated or the string 'unknown'. ")
    seen, parts, star = set(), [], False
    for i, (name, p) in enumerate(sig.parameters.items()):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            refuse("We do not support positional-only args, varargs, or varkwargs.")
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.annotation is p.empty:
            refuse(f"Parameter {name} must have a type annotation.")
        kind = _kind(resolved(p.annotation), name, refuse)
        if mutates_args == "unknown" or name in mutates_args:
            if not kind.startswith("Tensor"):
                if mutates_args != "unknown":
                    refuse(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            else:
                kind = f"Tensor(a{i}!){kind[6:]}"
        seen.add(name)
        parts.append(f"{kind} {name}" if p.default is p.empty else f"{kind} {name}={_default(p.default, name, refuse)}")
    if mutates_args != "unknown":
        missing = set(mutates_args) - seen
        if missing:
            refuse(f"{missing} in mutates_args were not found in the custom op's signature. mutates_args should contain the names of all args that "
                   f"the custom op "
                   "mutates, or just the string 'unknown' if you don't know.")
    if sig.return_annotation is sig.empty:
        refuse("No return type annotation was provided. Please add one.")
    return f"{op_name or ''}({', '.join(parts)}) -> {_returned(resolved(sig.return_annotation), refuse)}"


def _plain(annotation):
    """An annotation with unions written one way."""
    if isinstance(annotation, types.UnionType):
        return typing.Union[tuple(_plain(a) for a in typing.get_args(annotation))]  # noqa: UP007
    return annotation


def _kind(annotation, name, refuse):
    annotation = _plain(annotation)
    if type(annotation) is typing.TypeVar:
        refuse(f"Parameter {name} has unsupported type {annotation}.")
    try:
        found = PARAMETERS.get(annotation)
    except TypeError:
        found = None
    if found is None:
        origin = typing.get_origin(annotation)
        more = ""
        if origin is tuple:
            of = {a.__name__ if hasattr(a, "__name__") else str(a) for a in typing.get_args(annotation) if a is not ...}
            better = f" For example, list[{of.pop()}].\n\n" if len(of) == 1 else "\n\n"
            more = f"We do not support Tuple inputs in schema. As a workaround, please try to use List instead.{better}"
        refuse(f"Parameter {name} has unsupported type {annotation}. {more}The valid types are: {PARAMETERS.keys()}.")
    return found


def _default(x, name, refuse):
    if x is None or isinstance(x, (int, float, bool)):
        return str(x)
    if isinstance(x, str):
        return f'"{x}"'
    if isinstance(x, dtypes.dtype):
        return str(x).removeprefix("torch.")
    if isinstance(x, devices.device):
        return f'"{x}"'
    refuse(f"Parameter {name} has an unsupported default value type {type(x)}. Please file an issue on GitHub so we can prioritize this.")
    return None


def _returned(annotation, refuse):
    if annotation is None or annotation is type(None):
        return "()"
    annotation = _plain(annotation)
    if typing.get_origin(annotation) is tuple:
        found = [RETURNS.get(_plain(a)) for a in typing.get_args(annotation)]
        if None not in found:
            return f"({', '.join(found)})"
    try:
        found = RETURNS.get(annotation)
    except TypeError:
        found = None
    if found is None:
        refuse(f"Return has unsupported type {annotation}. The valid types are: {RETURNS}.")
    return found


def tuple_to_list(tuple_type):
    """The list type of a tuple type: of the one type of its elements, or of a union of them."""
    args = typing.get_args(tuple_type)
    if typing.get_origin(tuple_type) is None and tuple_type is not tuple and tuple_type is not typing.Tuple:  # noqa: UP006
        raise ValueError(f"{tuple_type} is no tuple type")
    if not args:
        return list
    if (len(args) == 2 and args[1] is Ellipsis) or len(args) == 1:
        return list[args[0]]
    return list[typing.Union[args]]  # noqa: UP007
