"""torch.utils.benchmark.utils.common (layer 8): what a measurement is, and how its numbers are told."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import textwrap

import numpy as np

__all__ = ["Measurement", "TaskSpec", "ordered_unique", "select_unit", "set_torch_threads", "trim_sigfig", "unit_to_english"]

_MAX_SIGNIFICANT = 4
_MIN_CONFIDENCE = 25e-9  # a median cannot be known better than the clock
_IQR_WARN, _IQR_WARN_GROSS = 0.1, 0.25
_UNITS = (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What was measured: statement, setup, labels, threads."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """Label and sub-label, or the statement without a label."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup as a report shows it."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """The lines above the numbers of a report."""
        said = [self.title, self.description or "", self.setup_str(), f"Global setup:\n{textwrap.indent(self.global_setup, '  ')}" if self.global_setup else ""]
        return "\n".join(f"{x}\n" if "\n" in x else x for x in said if x)


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Times of a statement: `raw_times` seconds, each of `number_per_run` runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict | None = None

    def __post_init__(self):
        if not self.raw_times:
            raise ValueError("No raw times for this measurement.")

    def __getattr__(self, name):
        if name in {f.name for f in dataclasses.fields(TaskSpec)} or name == "setup_str" or name == "summarize":
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """Seconds of one run, for each measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """Of `times`."""
        return float(np.median(self.times))

    @property
    def mean(self) -> float:
        """Of `times`."""
        return float(np.mean(self.times))

    def _quarter(self, percent):
        return float(np.percentile(self.times, percent))

    @property
    def iqr(self) -> float:
        """The distance of the quartiles of `times`."""
        return self._quarter(75) - self._quarter(25)

    @property
    def significant_figures(self) -> int:
        """How many figures of the median can be meant."""
        n = len(self.raw_times)
        lower, upper = (int(n * q // 1) for q in (0.25, 0.75)) if n > 1 else (0, 0)
        ordered = sorted(self.times)
        middle = ordered[lower:upper + 1] or ordered
        error = max(1.645 * float(np.std(middle)) / math.sqrt(len(middle)), _MIN_CONFIDENCE)  # a normal 90% interval around the middle half
        relative = math.log10(self.median / error)
        return min(max(math.floor(relative), 1), _MAX_SIGNIFICANT)

    @property
    def has_warnings(self) -> bool:
        """Whether the quartiles lie so far apart that the report says so."""
        return not self.meets_confidence(_IQR_WARN)

    def meets_confidence(self, threshold: float = _IQR_WARN) -> bool:
        """Whether the quartiles are closer than `threshold` of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """As of the TaskSpec."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """What the TaskSpec says, or "Unspecified env"."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """What stands at the left of a row of `Compare`."""
        return self.sub_label or self.stmt or "[Unknown]"

    def _numbers(self):
        unit, scale = select_unit(self.median)
        if len(self.raw_times) == 1:
            return [f"  {self.median / scale:.2f} {unit}"]
        return [f"  Median: {self.median / scale:.2f} {unit}",
                f"  IQR:    {self.iqr / scale:.2f} {unit} ({self._quarter(25) / scale:.2f} to {self._quarter(75) / scale:.2f})"]

    def _caution(self):
        if len(self.raw_times) == 1 or not self.has_warnings:
            return []
        gross = not self.meets_confidence(_IQR_WARN_GROSS)
        return [f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median measurement.",
                f"           This {'suggests significant environmental influence' if gross else 'could indicate system fluctuation'}."]

    def __repr__(self):
        n = len(self.raw_times)
        runs = f"{n} measurement{'s' if n > 1 else ''}, {self.number_per_run} runs {'per measurement,' if n > 1 else ','}"
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        return "\n".join([object.__repr__(self), self.task_spec.summarize(), *self._numbers(), f"  {runs} {threads}", *self._caution()])

    @staticmethod
    def merge(measurements) -> list[Measurement]:
        """Measurements of equal tasks as one each; the times are of single runs then."""
        grouped: dict = {}
        for m in measurements:
            grouped.setdefault(m.task_spec, []).append(m)
        return [Measurement(1, [t for m in group for t in m.times], task) for task, group in grouped.items()]


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which `t` seconds are told, and its size: ("us", 1e-06)."""
    power = max(min(math.floor(math.log10(t)) // 3, 0), -3) if t > 0 else 0
    return _UNITS[-power]


def unit_to_english(u: str) -> str:
    """The name of a unit."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x: float, n: int) -> float:
    """`x` with `n` figures."""
    if x == 0:
        return 0.0
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements) -> list:
    """Each element once, in the order of first sight."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int):
    """A context in which `torch.set_num_threads` was told `n`."""
    from ...._api import get_num_threads, set_num_threads  # cycle: the root imports torch.utils

    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)
