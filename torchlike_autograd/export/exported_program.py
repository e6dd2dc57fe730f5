"""torch.export.exported_program (layer 8): a class that annotations name; see `torch.export`."""

from __future__ import annotations

from .._core import publish as _publish

__all__ = ["ExportedProgram"]


def refuse(name):
    """The error of everything that needs an exported program."""
    raise NotImplementedError(f"torchlike_autograd: torch.export.{name}: nothing is exported here; use jax.export")


class ExportedProgram:
    """A program that was exported: there is none, NotImplementedError."""

    def __init__(self, *args, **kwargs):
        refuse("ExportedProgram")


__getattr__ = _publish.missing("torch.export.exported_program")
