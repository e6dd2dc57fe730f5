"""torch.utils.benchmark.utils.timer (layer 8): how long a statement takes.

A call is recorded and runs when somebody looks; what nobody keeps is never computed.  So each turn of the measured loop ends its tape, with the value of an
expression held until then, and the clock is read when all has been computed.  A statement is charged with all that it asks for, and what one
turn records still runs as one compiled program, as it does where a program looks at its results once a turn.
"""

from __future__ import annotations

import ast
import enum
import textwrap
import timeit
from typing import ClassVar

import jax

from ...._core import execute
from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

timer = timeit.default_timer


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


def _settle():
    """Until all that was asked for has been computed."""
    execute.flush()
    jax.effects_barrier()
    for array in jax.live_arrays():
        array.block_until_ready()


_LOOP = """\
def _measured(_turns, _clock, _flush, _settle):
{setup}
    _settle()
    _begun = _clock()
    for _turn in _turns:
{stmt}
        _flush()
    _settle()
    return _clock() - _begun
"""


def _kept(stmt):
    """The statement, holding its value where it is an expression."""
    try:
        ast.parse(stmt.strip(), mode="eval")
    except SyntaxError:
        return stmt
    return f"_value = (\n{stmt.strip()}\n)"


class Timer:
    """Times a statement of Python, as ``timeit.Timer`` does: `stmt` runs many times after `setup`, names are looked up in `globals`.

    `label`, `sub_label`, `description` and `env` say in reports what is compared.  `num_threads` is what `torch.set_num_threads` is told meanwhile.
    Unlike torch's, the first block of a measurement is preceded by enough runs to compile.  ValueError for what is not text; NotImplementedError for C++.
    """

    _timer_cls: ClassVar = None

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None, description=None, env=None,
                 num_threads=1, language=Language.PYTHON):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("torch.utils.benchmark.Timer: statements in C++ are not compiled here")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        stmt, setup = (textwrap.dedent(x).strip("\n").rstrip() for x in (stmt, setup))
        self._task_spec = TaskSpec(stmt=stmt, setup=setup, global_setup=global_setup, label=label, sub_label=sub_label, description=description, env=env,
                                   num_threads=num_threads)
        self._clock = timer
        names = dict(globals or {})
        if "torch" not in names:
            import torchlike_autograd  # cycle: the root imports torch.utils

            names["torch"] = torchlike_autograd
        source = _LOOP.format(setup=textwrap.indent(setup, "    "), stmt=textwrap.indent(_kept(stmt), "        "))
        exec(compile(source, "<torch.utils.benchmark>", "exec"), names)
        self._measured = names["_measured"]

    def _timeit(self, number):
        return max(self._measured(range(number), self._clock, execute.flush, _settle), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement of `number` runs, after a hundredth as many that are not counted (two at least)."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return Measurement(number_per_run=number, raw_times=[self._timeit(number)], task_spec=self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """NotImplementedError: see `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None) -> None:
        """NotImplementedError: see `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time):
        """How many runs make one measurement: what setup costs is then small beside it."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = sorted(self._timeit(0) for _ in range(5))[2]
            self._timeit(2)
            number = 1
            while True:
                taken = self._timeit(number)
                if taken > min_run_time or (overhead / taken <= 1e-4 and taken >= min_run_time / 1000):
                    return number
                number *= 10

    def _blocks(self, number, min_run_time, max_run_time, done, callback):
        times, total = [], 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or (total < max_run_time and not done(times)):
                times.append(self._timeit(number))
                total += times[-1]
                if callback is not None:
                    callback(number, times[-1])
        return Measurement(number_per_run=number, raw_times=times, task_spec=self._task_spec)

    def blocked_autorange(self, callback=None, min_run_time: float = 0.2) -> Measurement:
        """As many measurements as take `min_run_time` seconds, of blocks large enough to hide the clock."""
        return self._blocks(self._block_size(min_run_time), min_run_time, min_run_time, bool, callback)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback=None) -> Measurement:
        """Measures until the quartiles are closer than `threshold` of the median, or `max_run_time` seconds have passed."""

        def done(times):
            return len(times) > 3 and Measurement(number, times, self._task_spec).meets_confidence(threshold)

        number = self._block_size(0.05)
        return self._blocks(number, min_run_time, max_run_time, done, callback)

    def collect_callgrind(self, number: int = 100, *, repeats=None, collect_baseline: bool = True, retain_out_file: bool = False):
        """NotImplementedError: instructions are not counted here."""
        raise NotImplementedError("torch.utils.benchmark.Timer.collect_callgrind: instructions are not counted here; see timeit and blocked_autorange")
