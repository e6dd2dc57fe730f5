"""torch.export (layer 8): nothing is exported here; `jax.export` does that.

What libraries name at import is there: the classes that annotations speak of, and the sizes that they declare as changing (`Dim`).  Whatever makes, reads or
writes a program raises NotImplementedError.
"""

from __future__ import annotations

from .._core import publish as _publish
from . import dynamic_shapes as dynamic_shapes
from . import exported_program as exported_program
from .dynamic_shapes import Dim, dims
from .exported_program import ExportedProgram, refuse

__all__ = ["Dim", "ExportedProgram", "dims", "draft_export", "export", "load", "register_dataclass", "save"]


def export(mod, args, kwargs=None, *, dynamic_shapes=None, strict=False, preserve_module_call_signature=(), prefer_deferred_runtime_asserts_over_guards=False):
    """NotImplementedError."""
    refuse("export")


def draft_export(mod, args, kwargs=None, *, dynamic_shapes=None, preserve_module_call_signature=(), strict=False,
                 prefer_deferred_runtime_asserts_over_guards=False):
    """NotImplementedError."""
    refuse("draft_export")


def save(ep, f, *, extra_files=None, opset_version=None, pickle_protocol=2):
    """NotImplementedError."""
    refuse("save")


def load(f, *, extra_files=None, expected_opset_version=None):
    """NotImplementedError."""
    refuse("load")


def register_dataclass(cls, *, serialized_type_name=None):
    """Make a dataclass a container of `torch.utils._pytree`."""
    from ..utils import _pytree

    _pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)


__getattr__ = _publish.missing("torch.export")
