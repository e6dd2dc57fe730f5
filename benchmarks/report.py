"""The table of a run, the goals that were missed, and the same as JSON."""

import dataclasses
import math

from benchmarks import steps
from benchmarks.contest import Result, Score

SHORT = 1e-3
SHORT_JIT_GOAL, LONG_JIT_GOAL = 2.0, 1.15
FIRST_STEP_GOAL, IMPORT_GOAL = 1.5, 0.5

HEADINGS = (
    "step",
    "torch",
    "jit",
    "ours",
    "ours/torch",
    "ours/jit",
    "first step: torch, jit, ours",
    "compiles",
    "op by op",
    "peak MiB: jit, ours",
    "losses",
)
NOTES = """\
Times of a step are medians of the rounds, ratios the medians of the ratios round by round.
`compiles` and `op by op` count what we compiled and what we ran one by one: until warm + after.
`losses` is the largest relative difference between the first losses of any two contestants.
A jit marked * is not compiled, it runs op by op."""


def missing(number: float) -> bool:
    """Whether a number is not there."""
    return math.isnan(number)


def time_text(seconds: float) -> str:
    """Write a time in the unit that suits it."""
    if missing(seconds) or not seconds:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e6:.0f} us"


def ratio_text(ratio: float) -> str:
    """Write a ratio."""
    return "-" if missing(ratio) else f"{ratio:.2f}x"


def memory_text(score: Score) -> str:
    """Write the peak memory in MiB."""
    return f"{score.peak_memory / 2**20:.0f}" if score.peak_memory else "-"


def difference_text(difference: float) -> str:
    """Write a relative difference, of which only the size matters."""
    return "-" if missing(difference) else f"{difference:.0e}"


def count_text(score: Score, key: str) -> str:
    """Write how often something happened until warm, and after."""
    if key not in score.final:
        return "-"
    warm = score.warm.get(key, 0)
    return f"{warm:g} + {score.final[key] - warm:g}"


def row(result: Result) -> list[str]:
    """Return the cells of one step."""
    torch, jit, ours = (result.scores.get(kind, Score()) for kind in ("torch", "jit", "ours"))
    star = "" if getattr(steps.load(result.step), "COMPILED", True) else "*"
    return [
        result.step,
        time_text(torch.median),
        time_text(jit.median) + star,
        time_text(ours.median),
        ratio_text(result.ratio("ours", "torch")),
        ratio_text(result.ratio("ours", "jit")),
        ", ".join(time_text(score.first_step) for score in (torch, jit, ours)),
        count_text(ours, "compiles"),
        count_text(ours, "op_by_op"),
        ", ".join(memory_text(score) for score in (jit, ours)),
        difference_text(result.losses_differ()),
    ]


def table(results: list[Result]) -> str:
    """Return all steps, one line each, in columns."""
    rows = [list(HEADINGS), *map(row, results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in pairs)
        for pairs in (enumerate(zip(cells, widths, strict=True)) for cells in rows)
    ]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join([*lines, NOTES])


def missed(result: Result) -> list[str]:
    """Return in words what went wrong at one step, and which goals were not reached."""
    found = [f"{kind} failed: {s.failure}" for kind, s in result.scores.items() if s.failure]
    if not result.losses_agree():
        found.append(f"losses differ by {result.losses_differ():.1e}")
    return found + slower(result) + dearer(result)


def slower(result: Result) -> list[str]:
    """Return the ratios within the run that are above their goals."""
    rules = steps.load(result.step)
    goals = {"torch": getattr(rules, "TORCH_GOAL", 1.0)}
    if getattr(rules, "COMPILED", True):
        short = result.scores["jit"].median < getattr(rules, "LONG_FROM", SHORT)
        goals["jit"] = SHORT_JIT_GOAL if short else getattr(rules, "LONG_JIT_GOAL", LONG_JIT_GOAL)
    ratios = {other: result.ratio("ours", other) for other in goals}
    return [
        f"{ratios[other]:.2f}x {other}, goal {goal:g}x"
        for other, goal in goals.items()
        if ratios[other] > goal
    ]


def dearer(result: Result) -> list[str]:
    """Return what compiling, starting, importing and memory cost us above the goals."""
    rules, (ours, jit) = steps.load(result.step), (result.scores[k] for k in ("ours", "jit"))
    found = []
    if getattr(rules, "COMPILED", True):
        if ours.final.get("compiles", 0) > ours.warm.get("compiles", 0):
            found.append("compiles after warm-up")
        if ours.first_step > FIRST_STEP_GOAL:
            found.append(f"first step {ours.first_step:.1f} s, goal {FIRST_STEP_GOAL:g} s")
    if ours.imported - jit.imported > IMPORT_GOAL and jit.imported:
        added = ours.imported - jit.imported
        found.append(f"import adds {added:.1f} s to that of jax, goal {IMPORT_GOAL:g} s")
    memory_goal = getattr(rules, "MEMORY_GOAL", math.inf)
    if jit.peak_memory and ours.peak_memory / jit.peak_memory > memory_goal:
        ratio = ours.peak_memory / jit.peak_memory
        found.append(f"{ratio:.2f}x the peak memory of jit, goal {memory_goal:g}x")
    return found


def broken(result: Result) -> bool:
    """Whether somebody failed or the losses disagree; a missed goal does not break a run."""
    failed = any(score.failure for score in result.scores.values())
    return failed or not result.losses_agree()


def as_data(results: list[Result], options: dict) -> dict:
    """Return everything that was measured, for a file."""
    return {
        "options": options,
        "steps": {
            result.step: {
                "scores": {kind: dataclasses.asdict(s) for kind, s in result.scores.items()},
                "medians": {kind: number(s.median) for kind, s in result.scores.items()},
                "ours/torch": number(result.ratio("ours", "torch")),
                "ours/jit": number(result.ratio("ours", "jit")),
                "losses_differ": number(result.losses_differ()),
                "missed": missed(result),
            }
            for result in results
        },
    }


def number(value: float) -> float | None:
    """Return the number, or None where JSON has no word for it."""
    return value if math.isfinite(value) else None
