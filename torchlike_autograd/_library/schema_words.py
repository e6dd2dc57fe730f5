"""What torch's schema parser says of text that is no schema (layer 8): a walk over its tokens that builds nothing."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\s*(?:(?P<arrow>->)|(?P<ident>[A-Za-z_][\w]*(?:::[A-Za-z_]\w*)*(?:\.[A-Za-z_]\w*)*)|(?P<number>-?[\d.]+(?:e[+-]?\d+)?)|"
                    r"(?P<string>\"[^\"]*\"|'[^']*')|"
                    r"(?P<mark>[()\[\],?=*!|<>-]))")
_TYPES = frozenset((
    "Tensor", "int", "SymInt", "float", "bool", "SymBool", "str", "Scalar", "ScalarType", "Layout", "Device", "DeviceIndex", "MemoryFormat", "Dimname",
    "Generator", "Storage", "Stream", "QScheme", "complex", "number", "Any", "AnyEnumType", "AnyClassType", "Dict", "Future", "RRef", "NoneType", "None",
    "ConstQuantizerPtr", "Dynamic", "DispatchKeySet", "Capsule"))
_CONSTANTS = ("None", "True", "False", "inf", "nan", "Mean", "Sum", "long", "float", "contiguous_format")
_NUMERIC = ("int", "SymInt", "float", "Scalar")


class _Words:
    def __init__(self, text):
        self.text, self.at, self.found = text, 0, []
        while True:
            m = _TOKEN.match(text, self.at)
            if m is None:
                break
            self.found.append((m.lastgroup, m[m.lastgroup], m.start(m.lastgroup)))
            self.at = m.end()
        self.found.append(("eof", "", len(text)))
        self.i = 0

    @property
    def now(self):
        return self.found[self.i]

    def take(self, word):
        """Go on if `word` is next."""
        here = self.now[1] == word and self.now[0] in ("mark", "arrow")
        self.i += here
        return here

    def refuse(self, said, spot=None):
        _, word, start = spot or self.now
        mark = f"\n{' ' * start}{'~' * len(word)} <--- HERE\n" if word else ""
        raise RuntimeError(f"{said}:\n{self.text}{mark}")

    def expect(self, name, word=None):
        if (self.now[0] != name) if word is None else not self.take(word):
            kind = self.now[0] if self.now[0] != "mark" else self.now[1]
            self.refuse(f"expected {name} but found '{kind}' here")
        self.i += word is None

    def type(self):
        """One type with its alias and its marks; returns its name."""
        if self.take("("):
            self.several(self.type)
            self.expect(")", ")")
            name = "tuple"
        else:
            spot = self.now
            self.expect("ident")
            name = spot[1]
            if name not in _TYPES and not re.fullmatch(r"[a-z]\w{0,2}|__torch__.*", name):
                self.refuse("\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full list, please see "
                            "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func ", spot)
        while self.now[1] in ("(", "[", "?"):
            closing = {"(": ")", "[": "]", "?": "?"}[self.now[1]]
            while self.now[1] != closing and self.now[0] != "eof":
                self.i += 1
            self.expect(closing, closing)
        return name

    def argument(self):
        if self.take("*"):
            return
        kind = self.type()
        self.expect("ident")
        if self.take("="):
            if kind in _NUMERIC and self.now[0] == "ident" and self.now[1] not in _CONSTANTS:
                _, word, start = self.now
                self.refuse("\ninvalid numeric default value", ("", "~", start + len(word)))
            depth = 0
            while self.now[0] != "eof" and (depth or self.now[1] not in (",", ")")):
                depth += (self.now[1] in ("[", "(")) - (self.now[1] in ("]", ")"))
                self.i += 1

    def result(self):
        self.type()
        self.i += self.now[0] == "ident"

    def several(self, one):
        if self.now[1] == ")":
            return
        one()
        while self.take(","):
            one()


def check(text):
    """RuntimeError in torch's words for text that is no schema."""
    words = _Words(text)
    words.expect("ident")
    words.expect("(", "(")
    words.several(words.argument)
    words.expect(")", ")")
    words.expect("arrow", "->")
    if words.take("("):
        words.several(words.result)
        words.expect(")", ")")
    else:
        words.result()
