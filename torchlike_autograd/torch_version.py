"""torch.torch_version (layer 8): a version that compares with text and with tuples of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["TorchVersion"]

_FORM = re.compile(r"\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)[-_.]?(?:(a|alpha|b|beta|c|rc|pre|preview)[-_.]?(\d*))?"
                   r"(?:(?:[-_.]?(?:post|rev|r)[-_.]?(\d*))|-(\d+))?(?:[-_.]?dev[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*", re.IGNORECASE)
_STAGE = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}


def _key(text):
    """What versions are ordered by (that of PEP 440); None for what is no version."""
    m = _FORM.fullmatch(text)
    if m is None:
        return None
    epoch, release, stage, count, post, post_too, dev, local = m.groups()
    numbers = tuple(map(int, release.split(".")))
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers = numbers[:-1]
    after = post if post is not None else post_too
    before = (_STAGE[stage.lower()], int(count or 0)) if stage else (-1, 0) if dev is not None and after is None else (9, 0)
    parts = tuple((1, int(p), "") if p.isdigit() else (0, 0, p.lower()) for p in re.split(r"[-_.]", local)) if local else None
    return (int(epoch or 0), numbers, before, -1 if after is None else int(after or 0), float("inf") if dev is None else int(dev or 0),
            (0,) if parts is None else (1, parts))


class TorchVersion(str):
    """A text that is compared as a version: with other texts and with tuples; as plain text with what is no version."""

    __slots__ = ()

    def _compare(self, other, method):
        if isinstance(other, Iterable) and not isinstance(other, str):
            other = ".".join(map(str, other))
        if isinstance(other, str):
            own, others = _key(self), _key(other)
            if own is not None and others is not None:
                return getattr(own, method)(others)
        return getattr(str, method)(self, other)

    __hash__ = str.__hash__


def _comparison(method):
    def compare(self, other):
        return self._compare(other, method)

    compare.__name__ = method
    return compare


for _method in ("__gt__", "__lt__", "__eq__", "__ge__", "__le__"):  # `!=` is that of the text, as in torch
    setattr(TorchVersion, _method, _comparison(_method))
