"""Schemas as objects (layer 8): torch.FunctionSchema and its arguments, read from text; arguments of a call checked against one, in torch's words."""

from __future__ import annotations

import ast
import re

from .._core import devices, dtypes
from .._core.overloads import SCHEMA, entry_of, of_number
from .._ops.schema import REQUIRED, _split
from .._tensor import Tensor
from . import schema_words

_ARGUMENT = re.compile(r"^(?P<kind>[A-Za-z_]\w*)(?:\((?P<before>[a-z]\w*|\*)(?P<writes>!?)(?:\s*->\s*(?P<after>[a-z]\w*|\*))?\))?(?P<suffix>(?:\[\d*\]|\?)*)\s*"
                       r"(?P<name>[A-Za-z_]\w*)?\s*(?:=\s*(?P<default>.+))?$", re.S)
_WORDS = {"SymInt": "int", "Scalar": "number", "ScalarType": "int", "Layout": "int", "MemoryFormat": "int", "SymBool": "bool"}


class AliasInfo:
    """Which memory an argument shows: names of sets, and whether it is written."""

    def __init__(self, before, after, is_write):
        self.before_set, self.after_set, self.is_write = {before}, {after or before}, is_write


class Argument:
    """One argument or result of a schema."""

    def __init__(self, text, kwarg_only=False):
        m = _ARGUMENT.match(text)
        if m is None:
            raise RuntimeError(f"expected a type in a schema but found {text!r}")
        self.kind, self.suffix, self.name, self.kwarg_only = m["kind"], m["suffix"], m["name"] or "", kwarg_only
        self.alias_info = AliasInfo(m["before"], m["after"], bool(m["writes"])) if m["before"] else None
        self.alias = f"({m['before']}{m['writes']}{' -> ' + m['after'] if m['after'] else ''})" if m["before"] else ""
        self._default = REQUIRED if m["default"] is None else _value(m["default"].strip(), self.kind)
        size = re.search(r"\[(\d+)\]", self.suffix)
        self.N = int(size[1]) if size else None

    @property
    def default_value(self):
        """Its default, None without one."""
        return None if self._default is REQUIRED else self._default

    def has_default_value(self):
        """Whether it may be left out."""
        return self._default is not REQUIRED

    @property
    def is_write(self):
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self):
        return self.is_write and self.kwarg_only

    @property
    def optional(self):
        return self.suffix.endswith("?")

    @property
    def type(self):
        """Its type in the words of errors."""
        out = _WORDS.get(self.kind, self.kind)
        for mark in re.findall(r"\[\d*\]|\?", self.suffix):
            out = f"Optional[{out}]" if mark == "?" else f"List[{out}]"
        return out

    real_type = type

    def __str__(self):
        shown = f"{self.kind}{self.alias}{self.suffix}{' ' + self.name if self.name else ''}"
        return shown if self._default is REQUIRED else f"{shown}={_shown(self._default, self.kind)}"


def _value(text, kind):
    if kind == "Device" and text[0] in "\"'":
        return devices.device(ast.literal_eval(text))
    if kind in ("ScalarType", "Layout", "MemoryFormat", "Device"):
        return None if text == "None" else getattr(dtypes, f"{text}_" if text == "bool" else text, text)
    try:
        return ast.literal_eval(text)
    except ValueError:
        return {"Mean": 1, "Sum": 2}.get(text, text)


def _shown(x, kind):
    if isinstance(x, str) and kind in ("str",):
        return f'"{x}"'
    if isinstance(x, float):
        return f"{x:g}" if x != int(x) else f"{int(x)}." if abs(x) < 1e6 else repr(x)
    return getattr(x, "name", None) or str(list(x) if isinstance(x, tuple) else x)


class FunctionSchema:
    """``ns::name.overload(arguments) -> returns``."""

    def __init__(self, name, overload_name, arguments, returns):
        self.name, self.overload_name, self.arguments, self.returns = name, overload_name, arguments, returns
        self._places = {a.name: i for i, a in enumerate(arguments)}

    @property
    def is_mutable(self):
        return any(a.is_write for a in self.arguments)

    @property
    def written(self):
        """Names of the arguments that are written."""
        return [a.name for a in self.arguments if a.is_write]

    def __str__(self):
        parts, star = [], False
        for a in self.arguments:
            if a.kwarg_only and not star:
                parts.append("*")
                star = True
            parts.append(str(a))
        out = str(self.returns[0]) if len(self.returns) == 1 and not self.returns[0].name else f"({', '.join(map(str, self.returns))})"
        return f"{self.name}{'.' + self.overload_name if self.overload_name else ''}({', '.join(parts)}) -> {out}"

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, FunctionSchema) and str(self) == str(other)

    __hash__ = object.__hash__

    def takes(self, kind):
        """Whether an argument is of a kind, or a list of those."""
        return any(a.kind == kind for a in self.arguments)

    def spoken(self, args):
        """How many arguments by position there are without those at the end that are the defaults: a formula owes them no gradients."""
        n = len(args)
        while n and self.arguments[n - 1].has_default_value() and not isinstance(args[n - 1], Tensor) and args[n - 1] == self.arguments[n - 1].default_value:
            n -= 1
        return n

    def refuse_keyword_tensors(self, what, advice):
        """torch's error where a tensor is passed by keyword alone."""
        if any(a.kwarg_only and a.kind == "Tensor" for a in self.arguments):
            raise NotImplementedError(f"{what} with kwarg-only Tensor args. {advice}")

    def bound(self, args, kwargs):
        """(what is passed by position, by keyword alone) of a call, defaults filled in; torch's RuntimeErrors."""
        own = [a for a in self.arguments if not a.kwarg_only]
        if len(args) > len(own) or len(args) + len(kwargs) > len(self.arguments):
            raise RuntimeError(f"{self.name}() expected at most {len(self.arguments)} argument(s) but received {len(args) + len(kwargs)} argument(s). "
                               f"Declaration: {self}")
        given, left = [], dict(kwargs)
        for i, a in enumerate(self.arguments):
            if i < len(args) and not a.kwarg_only:
                x = self._cast(a, i, args[i])
            elif a.name in left:
                x = self._cast(a, i, left.pop(a.name))
            elif a.has_default_value():
                x = a.default_value
            elif a.optional and a.is_out:
                x = None
            else:
                raise RuntimeError(f"{self.name}() is missing value for argument '{a.name}'. Declaration: {self}")
            given.append(x)
        for name in left:
            said = (f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self}" if name not in self._places
                    else f"{self.name}() got multiple values for argument '{name}'. Declaration: {self}")
            raise RuntimeError(said)
        return given[:len(own)], {a.name: x for a, x in zip(self.arguments[len(own):], given[len(own):])}

    def _cast(self, a, i, x):
        if a.kind == "Device" and isinstance(x, str) and not a.suffix.startswith("["):
            return devices.device(x)
        if _takes(a.kind, re.findall(r"\[\d*\]|\?", a.suffix), x) or (x is None and a.kind == "Tensor" and not a.suffix):  # None is the undefined tensor
            return x
        why = (f"Unable to cast {x} to Tensor" if a.kind == "Tensor" and "[" not in a.suffix else
               f"Unable to cast Python instance of type {type(x)} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode "
               f"for details)")
        raise RuntimeError(f"{self.name}() Expected a value of type '{a.type}' for argument '{a.name}' but instead found type '{type(x).__name__}'.\n"
                           f"Position: {i}\nValue: {x!r}\nDeclaration: {self}\nCast error details: {why}")


def _takes(kind, marks, x):
    if marks and marks[-1] == "?":
        return x is None or _takes(kind, marks[:-1], x)
    if marks:
        if isinstance(x, (list, tuple)):
            return all(_takes(kind, marks[:-1], y) for y in x)
        return marks[-1] != "[]" and _takes(kind, marks[:-1], x)
    if kind == "Tensor":
        return isinstance(x, Tensor)
    single = isinstance(x, Tensor) and x.numel() == 1
    if kind in ("int", "SymInt"):
        return (hasattr(type(x), "__index__") and not isinstance(x, Tensor)) or (single and not x.is_floating_point())
    if kind == "float":
        return isinstance(x, (int, float)) or (hasattr(type(x), "__float__") and (not isinstance(x, Tensor) or single))
    if kind in ("bool", "SymBool"):
        return isinstance(x, bool)
    if kind == "Scalar":
        return isinstance(x, (int, float, complex)) or single
    if kind == "str":
        return isinstance(x, str)
    if kind == "ScalarType":
        return isinstance(x, dtypes.dtype)
    if kind == "Device":
        return isinstance(x, (str, devices.device))
    return True


def parse(text, namespace=None):
    """A FunctionSchema from ``[ns::]name[.overload](...) -> ...``."""
    if "(" not in text:
        raise RuntimeError("Tried to parse a function schema but only the operator name was given")
    schema_words.check(text)
    head, tail = _halves(text)
    name, _, overload = head[:head.index("(")].strip().partition(".")
    if overload == "default":
        raise RuntimeError("default is not a legal overload name for aten operators")
    if namespace is not None and "::" not in name:
        name = f"{namespace}::{name}"
    kwarg_only, arguments = False, []
    for part in _split(head[head.index("(") + 1:head.rindex(")")]):
        if part == "*":
            kwarg_only = True
        else:
            arguments.append(Argument(part, kwarg_only))
    tail = tail.strip()
    if tail.startswith("("):
        tail = tail[1:-1]
    return FunctionSchema(name, overload, arguments, [Argument(p) for p in _split(tail)])


def _halves(text):
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == ")" and depth == 0:
            return text[:i + 1], text[i + 1:].strip().removeprefix("->")
    return text, ""


def of_table(op, inplace=False, numbers=(), overload=None):
    """The schema of an entry of the op table, or of its twin; of the overload that has numbers for some parameters."""
    arguments = []
    for p in op.params:
        if p.name in numbers or (numbers and p.name == "alpha"):
            arguments.append(Argument(f"Scalar {p.name}", False))
            arguments[-1]._default = 1 if p.name == "alpha" else p.default
            continue
        writes = p.writes or (inplace and p.name == "self")
        marks = f"({p.alias or 'a'}{'!' if writes else ''})" if p.alias or writes else ""
        kind, listed = (p.kind[:-2], f"[{'' if p.fill is None else p.fill}]") if p.kind.endswith("[]") else (p.kind, "")
        one = p.name in ("alpha", "beta") and p.default is None  # None stands for 1 in the table
        arguments.append(Argument(f"{kind}{marks}{listed}{'?' if p.optional and not one else ''} {p.name}", p.kw_only))
        arguments[-1]._default = 1 if one else list(p.default) if isinstance(p.default, tuple) else p.default
    returns = [Argument("Tensor(a!)")] if inplace else [
        Argument(f"{r.kind.removesuffix('[]')}{f'({r.alias})' if r.alias else ''}{'[]' if r.kind.endswith('[]') else ''}{' ' + r.name if r.name else ''}")
        for r in op.schema.returns]
    return FunctionSchema(f"aten::{op.name}{'_' if inplace else ''}", overload or op.schema.overload, arguments, returns)


def _of_overload(found):
    """The schema of `torch.ops.aten.name.overload`; NotImplementedError for what is built on the table in Python."""
    op, inplace = entry_of(found)
    if op is not None:
        return of_table(op, inplace)
    op, inplace, numbers = of_number(found)
    if op is None:
        raise NotImplementedError(f"torch.ops.{found}._schema: not known here")
    return of_table(op, inplace, numbers, found._overloadname)


SCHEMA[:] = [_of_overload]
