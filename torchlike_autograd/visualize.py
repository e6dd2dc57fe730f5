"""Looking at what is recorded and what becomes of it (layer 9).

    graph(t)        the grad_fn graph of a tensor: `.svg`, `.dot`, `.save("graph.svg")`, shown as a picture in a notebook
    program(t)      the recorded program that computes a tensor, its pieces, and what XLA made of them: `.text`, `.hlo()`, `.cost()`
    stats()         the executor's counters as a table
    timeline()      a context manager: recorded calls, backward passes, flushes, compilations and runs as a Chrome trace (chrome://tracing, Perfetto)

No other programs are needed, and nothing here costs anything while it is not used.
"""

from ._core.timeline import Timeline as timeline
from ._drawing.graph import Graph, graph
from ._drawing.program import Shown, program
from ._drawing.table import stats

__all__ = ["Graph", "Shown", "graph", "program", "stats", "timeline"]
