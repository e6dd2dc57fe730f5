"""Comparing what was seen with what was recorded."""

import builtins
import math
import re

TOLERANCE = {
    "float64": 1e-9, "complex128": 1e-9,
    "float32": 2e-5, "complex64": 2e-5,
    "float16": 2e-2, "bfloat16": 2e-2,
}


def differences(expected, got, where="", tolerance=1e-9):
    """Every place where two encoded observations differ, as lines of text."""
    if is_number(expected) and is_number(got):
        return [] if same_number(expected, got, tolerance) else [line(where, expected, got)]
    if type(expected) is not type(got) and not (isinstance(expected, dict) and isinstance(got, dict)):
        return [line(where, expected, got)]
    if isinstance(expected, dict):
        return in_dicts(expected, got, where, tolerance)
    if isinstance(expected, list):
        return in_lists(expected, got, where, tolerance)
    return [] if expected == got or same_words(expected, got) else [line(where, expected, got)]


# What Python itself says since 3.12, and what it said before
SAID = (
    (re.compile(r"without an implementation for abstract method '(\w+)'"), r"with abstract method \1"),
    (re.compile(r"OrderedDict\(\{('\w+'): (\w+)\}\)"), r"OrderedDict([(\1, \2)])"),
)


def same_words(expected, got):
    """Whether two texts differ only by what one Python or the other says."""
    return type(expected) is str and type(got) is str and in_old_words(expected) == in_old_words(got)


def in_old_words(text):
    """A text with Python's sentences as they were before 3.12."""
    for now, before in SAID:
        text = now.sub(before, text)
    return text


def in_dicts(expected, got, where, tolerance):
    if "error" in expected and "error" in got:
        return in_errors(expected["error"], got["error"], where)
    if "float" in expected and not isinstance(expected["float"], dict):
        return [] if expected == got else [line(where, expected, got)]
    if set(expected) != set(got):
        return [line(where, expected, got)]
    found = []
    for kind, value in expected.items():
        inner = where if kind in ("tensor", "array", "tuple", "dict", "complex") else f"{where}.{kind}"
        closer = tolerance
        if kind in ("tensor", "array"):
            closer = TOLERANCE.get(value["dtype"], 1e-9)
        found += differences(value, got[kind], inner, closer)
    return found


def in_lists(expected, got, where, tolerance):
    if len(expected) != len(got):
        return [line(where, expected, got)]
    pairs = [differences(a, b, f"{where}[{i}]", tolerance)
             for i, (a, b) in enumerate(zip(expected, got, strict=True))]
    return [text for found in pairs for text in found]


def in_errors(expected, got, where):
    """The same `except` clauses must catch both; the message must be the same."""
    found = []
    if not caught_alike(expected["class"], got["class"]):
        found.append(line(f"{where}.class", expected["class"], got["class"]))
    if expected["message"] != got["message"] and not same_words(expected["message"], got["message"]):
        found.append(line(f"{where}.message", expected["message"], got["message"]))
    return found


def caught_alike(expected, got):
    """`got` may add classes of its own, but none of Python's, and keeps the recorded ones in order."""
    rest = iter(got)
    in_order = all(name in rest for name in expected)
    return in_order and not [n for n in got if n not in expected and hasattr(builtins, n)]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same_number(expected, got, tolerance):
    if isinstance(expected, int) or isinstance(got, int):
        return type(expected) is type(got) and expected == got
    return math.isclose(expected, got, rel_tol=tolerance, abs_tol=tolerance)


def line(where, expected, got):
    return f"{where}: recorded {short(expected)}, seen {short(got)}"


def short(value, limit=400):
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "..."
