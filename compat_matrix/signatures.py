"""Signatures as text, `(input, other, *, alpha=1, out=None)`, and whether one takes every call that another takes.

Three sources: `inspect`; the parameters as torch's argument parser names them (`torchlike_autograd/_core/signatures.txt`, recorded facts); docstrings.
Types are left out.
"""

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

PARSED = Path(__file__).resolve().parents[1] / "torchlike_autograd" / "_core" / "signatures.txt"
SAME = {"self": "input", "axis": "dim", "keepdims": "keepdim", "axes": "dim", "x": "input", "a": "input",
        "element": "elements", "test_element": "test_elements"}  # NumPy's words, which torch's parser takes too
UNCOMPARED = ("memory_format", "device", "layout", "reduction")  # objects, "as it is"; and torch's parser shows 1 where it takes 0: cases decide
UNKNOWN = "..."  # a default that is no plain value


class Param(NamedTuple):
    """kind: "pos", "kw", "var" (*args), "varkw" (**kwargs); default: None where it is required, else its text."""

    name: str
    kind: str
    default: str | None = None


def of_object(found):
    """The signature of a Python object as text, or None."""
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return None
    return text([from_inspect(p) for p in parameters])


def from_inspect(p):
    kind = {p.VAR_POSITIONAL: "var", p.VAR_KEYWORD: "varkw", p.KEYWORD_ONLY: "kw"}.get(p.kind, "pos")
    return Param(p.name, kind, None if p.default is p.empty else plain(p.default))


def plain(value):
    """A default as text: literals as they are, tuples of them too, everything else by UNKNOWN."""
    shown = repr(value)
    try:
        ast.literal_eval(shown)
    except (ValueError, SyntaxError):
        name = getattr(value, "__name__", None)
        return name if isinstance(value, type) and name else UNKNOWN
    return shown if len(shown) < 60 else UNKNOWN


def text(params):
    """`(a, b=1, *, c=None)` of parameters."""
    parts, starred = [], False
    for p in params:
        if p.kind == "kw" and not starred:
            parts.append("*")
            starred = True
        starred = starred or p.kind == "var"
        parts.append({"var": "*", "varkw": "**"}.get(p.kind, "") + p.name + ("" if p.default is None else f"={p.default}"))
    return f"({', '.join(parts)})"


@cache
def parse(signature):
    """The parameters of a signature given as text; None where it cannot be read."""
    try:
        made = ast.parse(f"def f{signature}: pass").body[0].args
    except SyntaxError:
        return None
    before = [*made.posonlyargs, *made.args]
    defaults = [None] * (len(before) - len(made.defaults)) + [ast.unparse(d) for d in made.defaults]
    found = [Param(a.arg, "pos", d) for a, d in zip(before, defaults)]
    found += [Param(made.vararg.arg, "var")] if made.vararg else []
    found += [Param(a.arg, "kw", None if d is None else ast.unparse(d)) for a, d in zip(made.kwonlyargs, made.kw_defaults)]
    return tuple(found + ([Param(made.kwarg.arg, "varkw")] if made.kwarg else []))


@cache
def parsed_facts():
    """{path without "torch.": [signature text]} of what torch's parser says."""
    found, here = {}, None
    for line in PARSED.read_text().splitlines():
        if line.startswith(" ("):
            made = from_parser(line.strip())
            if made is not None and made not in here:
                here.append(made)
        elif line and not line.startswith("#"):
            here = found.setdefault(line.split()[0].removeprefix("torch."), [])
    return found


def from_parser(line):
    """`(Tensor input, *, Number alpha = 1)` without its types; None where dims are meant by names, which few programs use."""
    if "name" in re.findall(r"\w+", line) or "names" in line or "Dimname" in line or "out_dtype" in line:  # the last on CUDA alone
        return None
    params, starred = [], False
    for part in re.split(r", (?![^\[]*\])", line[1:-1]) if line != "()" else ():
        if part == "*":
            starred = True
            continue
        head, _, default = part.partition(" = ")
        params.append(Param(head.split()[-1], "kw" if starred else "pos", normal(default) if default else None))
    return text(params)


def normal(default):
    """A default of C++ as Python writes it."""
    default = re.sub(r"^{(.*)}$", r"(\1)", default)
    try:
        ast.parse(default, mode="eval")
        return default
    except SyntaxError:
        return UNKNOWN


def of_docstring(name, doc):
    """Signatures that stand at the beginning of the lines of a docstring."""
    found = []
    for line in (doc if isinstance(doc, str) else "").splitlines()[:40]:
        match = re.match(rf"^\s*(?:\.\. function:: )?(?:[\w.]*\.)?{re.escape(name)}(\(.*\))\s*(?:->.*)?$", line)
        params = parse(match.group(1)) if match else None
        if params is not None:
            found.append(text(params))
    return list(dict.fromkeys(found))


# Whether ours takes what theirs takes

def problem(theirs, ours):
    """Why a call that one of `theirs` takes is not taken by any of `ours` (lists of text); None where all are taken, "open" where ours takes anything."""
    mine = [p for p in map(parse, ours) if p is not None]
    others = {}
    for p in (p for signature in theirs for p in parse(signature) or ()):
        others.setdefault(p.name, set()).add(p.default)
    if any(is_open(p) for p in mine):
        return "open"
    for signature in theirs:
        wanted = parse(signature)
        if wanted is None or is_open(wanted):
            continue
        found = [refused(wanted, p, others) for p in mine]
        if found and None not in found and not between_them(wanted, mine, others):
            return min(found, key=len)
    return None


def between_them(wanted, mine, others):
    """Whether one of ours takes the calls that give an optional keyword of `wanted`, and another one those that do not: two overloads for one function."""
    def taken(params):
        return any(refused(params, own, others) is None for own in mine)

    for i, p in enumerate(wanted):
        without, given = [*wanted[:i], *wanted[i + 1:]], [*wanted[:i], Param(p.name, "kw", None), *wanted[i + 1:]]
        if p.kind == "kw" and p.default is not None and taken(without) and taken(given):
            return True
    return False


def renamed(theirs, ours):
    """The parameters of ours that have a word of NumPy's where all of theirs have PyTorch's, which cannot be given by name then."""
    words = {p.name for signature in theirs for p in parse(signature) or ()}
    own = {p.name for signature in ours for p in parse(signature) or ()} - words - {"self"}
    return sorted(n for n in own if same(n) != n and same(n) in words and not any(p.name == same(n) for o in ours for p in parse(o) or ()))


def is_open(params):
    return {"var", "varkw"} <= {p.kind for p in params}


def refused(wanted, own, others=None):
    """Why parameters `own` do not take every call of `wanted`; None where they do.  others: {parameter: its defaults in all of torch's signatures}."""
    def agree(theirs, ours):
        return theirs.name in UNCOMPARED or any(alike(d, ours.default) for d in {theirs.default, *(others or {}).get(theirs.name, ())})

    places = [p for p in own if p.kind == "pos"]
    names = {same(p.name): p for p in own if p.kind in ("pos", "kw")}
    takes_more, takes_words = any(p.kind == "var" for p in own), any(p.kind == "varkw" for p in own)
    for i, p in enumerate(q for q in wanted if q.kind == "pos"):
        at = places[i] if i < len(places) else None
        if at is None or same(at.name) != same(p.name):
            if not takes_more:
                return f"parameter {i + 1} is {p.name!r}, here {at.name if at else 'absent'!r}"
            continue
        if not agree(p, at):
            return f"default of {p.name!r}: {p.default}, here {at.default}"
    for p in wanted:
        if p.kind == "kw":
            own_p = names.get(same(p.name))
            if own_p is None and not takes_words:
                return f"no keyword {p.name!r}"
            if own_p is not None and not agree(p, own_p):
                return f"default of {p.name!r}: {p.default}, here {own_p.default}"
        if p.kind == "varkw" and not takes_words:
            return f"no **{p.name}"
        if p.kind == "var" and not takes_more and len(places) != 1:
            return f"no *{p.name}"
    asked = {same(p.name) for p in wanted}
    more = [p.name for p in own if p.kind in ("pos", "kw") and p.default is None and same(p.name) not in asked]
    return f"also requires {', '.join(more)}" if more and not any(p.kind == "var" for p in wanted) else None


def same(name):
    return SAME.get(name, name)


def alike(theirs, ours):
    """Whether defaults agree: both required, or equal as far as they can be read; an optional parameter may stand where one is required."""
    if theirs is None or UNKNOWN in (theirs, ours):
        return True
    if ours is None:
        return False
    try:
        theirs, ours = ast.literal_eval(theirs), ast.literal_eval(ours)
        return (list(theirs), type(ours)) == (list(ours), type(ours)) if isinstance(theirs, (list, tuple)) and isinstance(ours, (list,
            tuple)) else theirs == ours
    except (ValueError, SyntaxError):
        return True
