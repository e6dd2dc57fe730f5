"""``python -m benchmarks``: run the steps and print the table."""

import argparse
import compileall
import json
import os
import pathlib
import platform
import shutil
import sys

from benchmarks import report, steps
from benchmarks.contest import Contest, Result
from benchmarks.process import ROOT

FULL = {"rounds": 11, "warm_rounds": 3, "seconds": 0.25}
QUICK = {"rounds": 3, "warm_rounds": 1, "seconds": 0.05}


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options; what is not said depends on ``--quick``."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time training steps: ours, hand-written jax.jit, and PyTorch eager.",
    )
    add = parser.add_argument
    add("--torch-python", metavar="PATH", help="an interpreter that has PyTorch; none: no PyTorch")
    add("--only", metavar="STEP", choices=steps.NAMES, action="append", help="may be repeated")
    add("--quick", action="store_true", help="smaller sizes, few short rounds")
    add("--json", metavar="FILE", type=pathlib.Path, help="write everything measured")
    add("--threads", type=int, default=0, help="processors for each contestant; 0: all (default)")
    add("--platform", default="cpu", help="where all of them run (default: cpu)")
    add("--rounds", type=int, help="rounds that count")
    add("--warm-rounds", type=int, help="rounds before them")
    add("--seconds", type=float, help="length of a round of the fastest contestant")
    add("--patience", type=float, default=600, help="seconds to wait for an answer")
    options = parser.parse_args(arguments)
    if options.torch_python and not shutil.which(options.torch_python):
        parser.error(f"no interpreter at {options.torch_python}")
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def show(result: Result) -> None:
    """Print a line for one step as soon as it is done."""
    times = ", ".join(
        f"{kind} {report.time_text(score.median)}" for kind, score in result.scores.items()
    )
    print(f"{result.step}: {times}", file=sys.stderr, flush=True)


def machine(options: argparse.Namespace) -> str:
    """Describe where this runs."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "?"
    used = options.threads or available
    return f"{platform.machine()}, {used} of {available} processors, JAX on {options.platform}"


def main() -> int:
    """Run the contests, print the table and what was missed; 1 if something broke."""
    options = parsed()
    compileall.compile_dir(ROOT / "torchlike_autograd", quiet=1)  # as an installed package has it
    print(machine(options))
    results = []
    for step in options.only or steps.NAMES:
        results.append(Contest(step, options).run())
        show(results[-1])
    print(report.table(results))
    for result in results:
        for text in report.missed(result):
            print(f"{result.step}: {text}")
    if options.json:
        said = {k: v for k, v in vars(options).items() if k not in ("json", "torch_python")}
        data = report.as_data(results, {**said, "machine": machine(options)})
        options.json.write_text(json.dumps(data, indent=1) + "\n")
    return int(any(map(report.broken, results)))


if __name__ == "__main__":
    sys.exit(main())
