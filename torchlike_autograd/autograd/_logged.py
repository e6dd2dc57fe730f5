"""What a backward pass writes to the log `torch.autograd.graph` at level DEBUG (layer 7): every node, when it runs, and the gradients that it is given."""

from __future__ import annotations

import logging

from .. import _logging  # noqa: F401  the handlers
from .._core.dtypes import DTYPES
from .._core.nodes import Leaf, node_at

log = logging.getLogger("torch.autograd.graph")
_SHORT = {"uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "float32": "f32", "float64": "f64", "complex32": "c32",
          "complex64": "c64", "complex128": "c128", "bool": "b8", "bfloat16": "bf16", "float8_e5m2": "f8e5m2", "float8_e4m3fn": "f8e4m3fn", "uint16": "u16",
          "uint32": "u32", "uint64": "u64", "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e8m0fnu": "f8e8m0fnu"}
dtype_abbrs = {DTYPES[name]: short for name, short in _SHORT.items() if name in DTYPES}


class logged:
    """A context around a pass from these places: its nodes tell when they run."""

    def __init__(self, places):
        self.places = places

    def __enter__(self):
        self.handles = [node.register_prehook(_telling(node)) for node in _below(self.places)]

    def __exit__(self, *exc):
        for handle in self.handles:
            handle.remove()


def _below(places):
    """All nodes of the graph below these places (torch says nothing of a root that is a leaf)."""
    found = {}
    stack = [node_at(*p)[0] for p in places if not isinstance(p, Leaf)]
    while stack:
        node = stack.pop()
        if node is not None and id(node) not in found:
            found[id(node)] = node
            stack += [n for n, _ in node.next_functions]
    return list(found.values())


def _telling(node):
    text = str(node)

    def tell(grads):
        log.debug(f"Executing: {text} with grad_outputs: [{','.join(map(_about, grads))}]")

    return tell


def _about(g):
    return "None" if g is None else f"{dtype_abbrs[g.dtype]}{list(g.shape)}"


__all__ = ["log", "logged"]
