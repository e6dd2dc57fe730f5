"""Known differences: `gaps.toml` holds ["area.case"] tables with a reason and a kind, perhaps a workaround, and what of it differs: the labels of its
observations, in the op table's lists the columns.  What is not listed there must be equal."""

import tomllib
from pathlib import Path

FILE = Path(__file__).parent / "gaps.toml"
KINDS = ("unsupported", "divergence")


def read(file=FILE, optional=("workaround", "columns", "labels")):
    """{case id: {"reason": ..., "kind": ..., and what of `optional` is said}}, checked."""
    gaps = tomllib.loads(Path(file).read_text()) if Path(file).exists() else {}
    for name, gap in gaps.items():
        if not isinstance(gap, dict) or set(gap) - set(optional) != {"reason", "kind"} or not gap["reason"].strip():
            raise SystemExit(f'gaps.toml: ["{name}"] needs reason = "..." and kind = "...", no more')
        if gap["kind"] not in KINDS:
            raise SystemExit(f'gaps.toml: ["{name}"] kind must be one of {KINDS}, not {gap["kind"]!r}')
    return gaps
