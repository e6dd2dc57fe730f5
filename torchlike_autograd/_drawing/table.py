"""The executor's counters as a table (layer 9)."""

from __future__ import annotations

from .._core import execute

_MEANING = {
    "flushes": "times that pending work was run", "compiles": "programs compiled", "hits": "runs of a compiled program",
    "op_by_op": "runs operator by operator",
    "compile_seconds": "seconds spent compiling", "programs": "programs remembered", "structures": "structures remembered"}


class Table(dict):
    """Counters by name; prints as a table."""

    def __repr__(self):
        shown = {k: f"{x:.3f}" if isinstance(x, float) else f"{x:,}" for k, x in self.items()}
        name, number = max(map(len, shown), default=0), max(map(len, shown.values()), default=0)
        rows = [f"{k:<{name}}  {x:>{number}}  {_MEANING.get(k, '')}".rstrip() for k, x in shown.items()]
        return "\n".join(rows)

    def _repr_html_(self):
        cells = [(k, f"{x:.3f}" if isinstance(x, float) else f"{x:,}", _MEANING.get(k, "")) for k, x in self.items()]
        return "<table>" + "".join(f"<tr><td>{k}</td><td style='text-align:right'>{x}</td><td>{meaning}</td></tr>" for k, x, meaning in cells) + "</table>"


def stats() -> Table:
    """Counters since the start, what is pending included (it is run)."""
    execute.flush()
    return Table(execute.stats)


__all__ = ["stats"]
