"""MATRIX.md: what passes, area by area, and what is known to differ."""

import importlib
from collections import Counter
from pathlib import Path

from compat_matrix import gaps as gap_list
from compat_matrix import store
from compat_matrix.observe import PACKAGE
from compat_matrix.run import BAD, run_all

FILE = Path(__file__).parent / "MATRIX.md"


def text(results, gaps, version):
    """The page as one string."""
    counts = {}
    for result in results:
        counts.setdefault(result.area, Counter())[result.status] += 1
    lines = ["# Compatibility matrix", "",
             f"Each case is one body that ran under PyTorch {version} (CPU) and under `{PACKAGE}`;",
             "what both saw was compared: values, dtypes, shapes, gradients, names, warnings, messages.",
             "", "| area | cases | pass | known gaps | fail |", "|---|--:|--:|--:|--:|"]
    for area in sorted(counts):
        lines.append(line(area, counts[area]))
    lines.append(line("**all**", sum(counts.values(), Counter())))
    for kind in gap_list.KINDS:
        lines += section(kind, gaps)
    failing = [r.id for r in results if r.status in BAD]
    if failing:
        lines += ["", "## Failing", ""] + [f"- `{name}`" for name in failing]
    return "\n".join(lines) + "\n"


def line(area, count):
    bad = sum(count[status] for status in BAD)
    return f"| {area} | {sum(count.values())} | {count['pass']} | {count['gap']} | {bad} |"


def section(kind, gaps):
    mine = {name: gap for name, gap in gaps.items() if gap["kind"] == kind}
    if not mine:
        return []
    title = {"unsupported": "Not supported", "divergence": "Different on purpose"}[kind]
    return ["", f"## {title}", "", "| case | reason |", "|---|---|"] + [
        f"| `{name}` | {gap['reason']} |" for name, gap in sorted(mine.items())]


def main(file=FILE):
    torch = importlib.import_module(PACKAGE)
    results = run_all(torch)
    versions = {store.read(area)["torch"] for area in {r.area for r in results}} - {None}
    file.write_text(text(results, gap_list.read(), ", ".join(sorted(versions))))
    print(f"wrote {file}")
    return 0
