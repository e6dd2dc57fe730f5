"""torch.utils.benchmark.utils.compare (layer 8): measurements beside each other, in a table of text."""

from __future__ import annotations

import enum

from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD, _BAD, _VERY_BAD = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m"
_BOLD, _END = "\033[1m", "\033[0m"


class Colorize(enum.Enum):
    """Among what the best is looked for."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class _Column:
    """The measurements of one description, a row each, None where there is none."""

    def __init__(self, name, rows, scale, trim, warn):
        self.name, self.rows, self.scale, self.trim, self.warn = name, rows, scale, trim, warn
        shown = [self.number(m) for m in rows if m is not None]
        leading = max((len(f"{x:.0f}") for x in shown), default=1)
        figures = max((m.significant_figures for m in rows if m is not None), default=1)
        self.digits = max(figures - leading, 0) if trim else 1
        self.width = max([len(name), *(len(f"{x:.{self.digits}f}") for x in shown)])

    def number(self, m):
        x = m.median / self.scale
        return trim_sigfig(x, m.significant_figures) if self.trim else x

    def cell(self, m, best):
        """The text of a measurement; `best` is what it is coloured against, or None."""
        if m is None:
            return " " * self.width
        said = f"{self.number(m):.{self.digits}f}".center(self.width)
        if self.warn and m.has_warnings:
            said += f" (! {m.iqr / m.median * 100:.0f}%)"
        if best is None:
            return said
        mark = _BEST + _BOLD if m.median <= best * 1.01 else _GOOD + _BOLD if m.median <= best * 1.1 else _BAD if m.median < best * 5 else _VERY_BAD + _BOLD
        return mark + said + _END * (2 if _BOLD in mark or mark == _BAD else 1)


class _Table:
    """The table of one label."""

    def __init__(self, results, colorize, trim, warn):
        self.label = results[0].label or ""
        self.unit, scale = select_unit(min(m.median for m in results))
        self.colorize = colorize
        self.with_env = len({m.env for m in results}) > 1
        names = ordered_unique(m.description or m.env if m.description is None and self.with_env else m.description or "" for m in results)
        keys = ordered_unique((m.num_threads, m.env if self.with_env else "", m.as_row_name) for m in results)
        self.keys = sorted(keys, key=lambda k: k[0])
        found = {(m.num_threads, m.env if self.with_env else "", m.as_row_name, m.description or ""): m for m in results}
        self.columns = [_Column(n, [found.get((*k, n)) for k in self.keys], scale, trim, warn) for n in names]

    def _best(self, row, column):
        if self.colorize is Colorize.NONE:
            return None
        threads, among = self.keys[row][0], []
        if self.colorize is Colorize.ROWWISE:
            among = [c.rows[row] for c in self.columns]
        else:
            among = [m for m, k in zip(column.rows, self.keys) if k[0] == threads]
        return min(m.median for m in among if m is not None)

    def _heads(self):
        """The texts left of the columns: number of threads above, then rows."""
        return [" " * 6 + (f"({env})  " if env else "") + name for _, env, name in self.keys]

    def lines(self):
        heads = self._heads()
        left = max(map(len, heads)) + 2
        top = " " * left + "|  " + "  |  ".join(c.name.center(c.width) for c in self.columns)
        out, width, threads = [top], len(top), None
        for i, (key, head) in enumerate(zip(self.keys, heads)):
            if key[0] != threads:
                threads = key[0]
                out.append(f"{threads} threads: ".ljust(width, "-"))
            cells = "  |  ".join(c.cell(c.rows[i], self._best(i, c)) for c in self.columns)
            out.append(f"{head:<{left}}|  {cells}")
        title = f" {self.label} " if self.label else ""
        return [f"[{title:-^{width - 2}}]", *out, "", f"Times are in {unit_to_english(self.unit)}s ({self.unit})."]


class Compare:
    """Tables of measurements: a row for each sub-label and number of threads, a column for each description, a table for each label."""

    def __init__(self, results):
        self._results: list = []
        self.extend_results(results)
        self._trim, self._colorize, self._warn = False, Colorize.NONE, False

    def __str__(self):
        return "\n".join(self._render())

    def extend_results(self, results) -> None:
        """Adds measurements; ValueError for what is none."""
        for r in results:
            if not isinstance(r, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show only figures that can be meant."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour what is fast and what is slow, among columns or, `rowwise`, rows."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark measurements that vary much."""
        self._warn = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def _render(self):
        merged = Measurement.merge(self._results)
        tables = []
        for label in ordered_unique(m.label for m in merged):
            group = [m for m in merged if m.label == label]
            tables.append("\n".join(_Table(group, self._colorize, self._trim, self._warn).lines()) + "\n")
        return tables
