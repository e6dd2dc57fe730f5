"""Parsing of ATen schema strings (layer 2): the identity and signature of an operator."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

REQUIRED = object()


class Param(NamedTuple):
    """One parameter: `kind` is the ATen type without alias marks; `fill` is N of ``int[N]``."""

    name: str
    kind: str
    optional: bool
    default: object
    kw_only: bool
    alias: str | None
    writes: bool
    fill: int | None


class Schema(NamedTuple):
    name: str  # public name, without the overload
    overload: str
    params: tuple
    returns: tuple  # (kind, name, alias, writes) each

    @property
    def key(self):
        return f"{self.name}.{self.overload}" if self.overload else self.name


_PARAM = re.compile(r"^(?P<kind>[A-Za-z]+)(?P<alias>\([a-z]!?(?:\s*->\s*\*)?\))?(?P<list>(?:\?)?\[\d*\])?(?P<opt>\?)?\s*(?P<name>\w+)?(?:\s*=\s*(?P<default>.+))?$")


def _split(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


def _default(text):
    if text is None:
        return REQUIRED
    named = {"Mean": 1, "Sum": 2, "None": None, "True": True, "False": False, "long": None, "contiguous_format": None}
    if text in named:
        return named[text]
    value = ast.literal_eval(text)
    return tuple(value) if isinstance(value, list) else value


def _param(text, kw_only):
    m = _PARAM.match(text)
    if m is None:
        raise ValueError(f"cannot read the schema parameter {text!r}")
    kind, marks, listed = m["kind"].replace("SymInt", "int"), m["alias"], m["list"]
    fill = None
    if listed:
        digits = listed.strip("?[]")
        fill = int(digits) if digits else None
        kind += "?[]" if listed.startswith("?") else "[]"
    alias = marks.strip("()").rstrip("!") if marks else None
    return Param(m["name"] or "", kind, bool(m["opt"]), _default(m["default"]), kw_only, alias, bool(marks and "!" in marks), fill)


def parse(text: str) -> Schema:
    """Read ``name.overload(Type a, *, Type b=1) -> Type``."""
    head, _, tail = text.partition("->") if text.count("->") == 1 else _split_arrow(text)
    open_ = head.index("(")
    name, _, overload = head[:open_].strip().partition(".")
    kw_only, params = False, []
    for part in _split(head[open_ + 1: head.rindex(")")]):
        if part == "*":
            kw_only = True
            continue
        params.append(_param(part, kw_only))
    tail = tail.strip()
    if tail.startswith("(") and not tail.startswith("(a"):
        tail = tail[1:-1]
    return Schema(name, overload, tuple(params), tuple(_param(p, False) for p in _split(tail)) if tail else ())


def _split_arrow(text):
    close = 0
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == ")" and depth == 0:
            close = i
            break
    return text[: close + 1], "->", text[close + 1:].replace("->", "", 1)
