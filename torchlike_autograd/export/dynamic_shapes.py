"""torch.export.dynamic_shapes (layer 8): sizes declared as changing, which libraries write down before they ask for an export; see `torch.export`."""

from __future__ import annotations

from .._core import publish as _publish

__all__ = ["Dim", "dims"]


class _DimHint:
    """What is left to the exporter: `Dim.AUTO`, `Dim.DYNAMIC`, `Dim.STATIC`; the first two take bounds when they are called."""

    def __init__(self, kind, min=None, max=None):
        self.type, self.min, self.max = kind, min, max

    def __call__(self, min=None, max=None):
        for name, bound in (("min", min), ("max", max)):
            if bound is not None and bound < 0:
                raise AssertionError(f"{name} must be non-negative, got {bound}")
        return _DimHint(self.type, min, max)

    def __repr__(self):
        said = [self.type, *(f"{name}={bound}" for name, bound in (("min", self.min), ("max", self.max)) if bound is not None)]
        return f"DimHint({', '.join(said)})"


class Dim:
    """A size with a name, between bounds."""

    AUTO, DYNAMIC, STATIC = (_DimHint(kind) for kind in ("AUTO", "DYNAMIC", "STATIC"))

    def __init__(self, name, *, min=None, max=None):
        self.min, self.max = 0 if min is None else min, max
        if self.max is not None and self.max <= self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name

    def __repr__(self):
        said = [repr(self.__name__), *(f"{name}={bound}" for name, bound in (("min", None if self.min == 2 else self.min), ("max", self.max))
                                             if bound is not None)]
        return f"Dim({', '.join(said)})"


def dims(*names, min=None, max=None):
    """Several `Dim`s with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


__getattr__ = _publish.missing("torch.export.dynamic_shapes")
