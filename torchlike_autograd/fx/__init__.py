"""torch.fx (layer 8): graphs of programs, traced by running them with proxies, edited, and written as Python again.

`symbolic_trace` runs a function or module once, each call that gets a Proxy becomes a Node of a Graph; a GraphModule runs what the graph says.  What is not
there: `torch.fx.experimental` beyond its names, and of `torch.fx.passes` what partitions for other backends.
"""

from __future__ import annotations

from .._core import publish as _publish
from . import _symbolic_trace, graph, graph_module, immutable_collections, interpreter, node, operator_schemas, proxy, subgraph_rewriter, traceback  # noqa: F401
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
           "PH",
           "CodeGen",
           "Graph",
           "GraphModule",
           "Interpreter",
           "Node",
           "Proxy",
           "ProxyableClassMeta",
           "Tracer",
           "Transformer",
           "has_side_effect",
           "map_arg",
           "replace_pattern",
           "symbolic_trace",
           "wrap",
]
__getattr__ = _publish.missing("torch.fx")
