"""python -m compat_matrix.programs run | record | list"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from compat_matrix.compare import differences
from compat_matrix.programs import table

CHILD = Path(__file__).with_name("child.py")
ROOT = Path(__file__).resolve().parents[2]


def observe(name, program, cache, prefix=()):
    """What a driver sees: (answer, None), or (None, what it said when it failed)."""
    folders = [str(table.fetch(need, cache)) for need in program["needs"]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *folders]), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "seen.json"
        command = [sys.executable, *prefix, str(CHILD), str(table.DRIVERS / f"{name}.py"), str(target)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
        if done.returncode or not target.exists():
            return None, done.stderr.strip()
        return json.loads(target.read_text()), None


def judge(name, program, cache):
    """What is wrong with one program here, as lines of text."""
    recorded = table.expected(name)
    if recorded is None or recorded["needs"] != program["needs"]:
        return ["no answer is recorded for these versions"]
    answer, failure = observe(name, program, cache, ("-m", "torchlike_autograd"))
    if failure is not None:
        return failure.splitlines()[::-1] or ["it failed without a word"]
    labels = [label for label, _ in recorded["seen"]]
    if labels != [label for label, _ in answer["seen"]]:
        return [f"recorded {labels}, seen {[label for label, _ in answer['seen']]}"]
    return [text for (label, a), (_, b) in zip(recorded["seen"], answer["seen"], strict=True) for text in differences(a, b, label)]


def run(programs, cache, verbose):
    """Compare each program with its recorded answer; the number of those that are not as they should be."""
    gaps, bad = table.gaps(), 0
    for name, program in programs.items():
        problems = judge(name, program, cache)
        status = ("gap" if name in gaps else "FAIL") if problems else ("UNEXPECTED PASS" if name in gaps else "pass")
        bad += status.isupper()
        print(f"{status:15} {name}" + (f": {problems[0]}" if problems else ""), flush=True)
        if verbose and problems:
            print("\n".join(f"    {text}" for text in problems[1:40]))
    return bad


def record(programs, cache):
    """Ask PyTorch; the number of programs that fail there."""
    bad = 0
    for name, program in programs.items():
        answer, failure = observe(name, program, cache)
        if failure is None and "torchlike" in str(answer["torch"]):
            raise SystemExit("this needs PyTorch itself")
        if failure is None:
            table.keep(name, answer["torch"], program["needs"], answer["seen"])
        else:
            bad += 1
        print(f"{'recorded' if failure is None else 'FAIL':15} {name}" + (f":\n{failure}" if failure else ""), flush=True)
    return bad


def parser():
    top = argparse.ArgumentParser(prog="python -m compat_matrix.programs", description=__doc__)
    top.add_argument("command", choices=["run", "record", "list"])
    top.add_argument("names", metavar="NAME", nargs="*", help="programs of programs.toml; all without one")
    top.add_argument("--cache", metavar="DIR", default=os.environ.get("TLA_PROGRAMS_CACHE"), help="keep fetched libraries here")
    top.add_argument("-v", "--verbose", action="store_true", help="say all that differs")
    return top


def main(arguments=None):
    given = parser().parse_intermixed_args(arguments)
    programs = table.read()
    if unknown := [n for n in given.names if n not in programs]:
        raise SystemExit(f"programs.toml has no {', '.join(unknown)}")
    chosen = {n: programs[n] for n in given.names or programs}
    if given.command == "list":
        print("\n".join(f"{n}: {p['needs'][0]} ({p['licence']}), {p['does']}" for n, p in chosen.items()))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        cache = given.cache or folder
        if given.command == "record":
            return bool(record(chosen, cache))
        bad = run(chosen, cache, given.verbose)
    if not given.names:
        strays = table.strays(programs)
        print("\n".join(strays), end="\n" * bool(strays))
        bad += len(strays)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
