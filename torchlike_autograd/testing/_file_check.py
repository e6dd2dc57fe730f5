"""Checks of what a text says, one after the other (layer 7)."""

import re


class FileCheck:
    """Conditions on a text, built by calls one after another and tried by `run`."""

    def __init__(self):
        self._checks = []  # (name, what, count)

    def check(self, text):
        """The text comes, after what was found so far."""
        return self._and("CHECK", text)

    def check_not(self, text):
        """The text does not come before what is found next."""
        return self._and("CHECK-NOT", text)

    def check_same(self, text):
        """The text comes within the line of the last find."""
        return self._and("CHECK-SAME", text)

    def check_next(self, text):
        """The text comes no later than on the line after the last find."""
        return self._and("CHECK-NEXT", text)

    def check_dag(self, text):
        """The text comes, in any order with other checks of this kind beside it."""
        return self._and("CHECK-DAG", text)

    def check_source_highlighted(self, text):
        """The text comes, and the line below it marks it with `~`."""
        return self._and("CHECK-SOURCE-HIGHLIGHTED", text)

    def check_regex(self, pattern):
        """Something comes that fits a regular expression."""
        return self._and("CHECK-REGEX", pattern)

    def check_count(self, text, count, exactly=False):
        """The text comes so many times, and no more if exactly."""
        if not count and not exactly:
            raise RuntimeError("Count == 0 && !exactly doesn't do anything")
        if count:
            self._and("CHECK-COUNT", text, count)
        return self._and("CHECK-NOT", text) if exactly else self

    def _and(self, name, text, count=1):
        if not isinstance(text, str):
            raise TypeError(f"{name.lower().replace('-', '_')}(): incompatible function arguments. The following argument types are supported:\n"
                            f"    1. (self: torch._C.FileCheck, arg0: str) -> torch._C.FileCheck\n\nInvoked with: {self!r}, {text!r}")
        self._checks.append((name, text, count))
        return self

    def run(self, text, test_file=None):
        """RuntimeError where a condition fails; with two texts the first one's comments (`# CHECK-NOT: that`) are conditions too."""
        if test_file is not None:
            for name, count, what in re.findall(r"^\s*#\s*(CHECK(?:-[A-Z]+)*?)(?:-(\d+))?: ?(.*)$", text, re.M):
                self._and(name, what.strip(), int(count or 1))
            text = test_file
        if not self._checks:
            raise RuntimeError("No checks have been added to this instance ofFilecheck! Check for bad input.")
        text = str(text)
        at, i, absent = 0, 0, []
        while i < len(self._checks):
            name, what, count = self._checks[i]
            if name == "CHECK-NOT":
                absent.append(what)
                i += 1
                continue
            group = [self._checks[i]]
            while name == "CHECK-DAG" and i + len(group) < len(self._checks) and self._checks[i + len(group)][0] == name:
                group.append(self._checks[i + len(group)])
            spans = [_found(text, one, at) for one in group]
            _none(text, absent, at, min(s for s, _ in spans))
            at, absent, i = max(e for _, e in spans), [], i + len(group)
        _none(text, absent, at, len(text))


def _found(text, check, at):
    """(start of the first, end of the last) of what a check looks for, from a place on."""
    name, what, count = check
    first, end = None, at
    for _ in range(count):
        m = re.compile(what if name == "CHECK-REGEX" else re.escape(what)).search(text, end)
        if m is None:
            said = f"{name}-{count}" if name == "CHECK-COUNT" else name
            raise RuntimeError(f"Expected to find {'regex ' if name == 'CHECK-REGEX' else ''}\"{what}\" but did not find it\nSearched string:\n{text[at:]}\n"
                               f"From {said}: {what}\n")
        first, end = m.start() if first is None else first, m.end()
    lines = text.count("\n", at, first)
    most = {"CHECK-SAME": 0, "CHECK-NEXT": 1}.get(name, lines)
    if lines > most:
        raise RuntimeError(f"Expected to not find \"\\n\" but found it\n{text}\nFrom {name}: {what}\n")
    if name == "CHECK-SOURCE-HIGHLIGHTED":
        _marked(text, what, first)
    return first, end


def _marked(text, what, at):
    column = at - (text.rfind("\n", 0, at) + 1)
    below = text[at:].split("\n", 2)[1:2]
    if not below or set(below[0][column:column + len(what)]) != {"~"}:
        raise RuntimeError(f"Expected to find \"{what}\"highlighted but it is not.\n{text}\n")


def _none(text, absent, start, end):
    for what in absent:
        if what in text[start:end]:
            raise RuntimeError(f"Expected to not find \"{what}\" but found it\n{text}\nFrom CHECK-NOT: {what}\n")


FileCheck.__module__ = "torch"
