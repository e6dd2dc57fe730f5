"""The table of programs, their recorded answers, and fetching what they need."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from compat_matrix import gaps as gap_list
from compat_matrix import store

HERE = Path(__file__).parent
DRIVERS, EXPECTED, GAPS = HERE / "drivers", HERE / "expected", HERE.parent / "gaps_programs.toml"
FIELDS = {"needs", "licence", "does"}


def read():
    """{name: {"needs": [...], "licence": ..., "does": ...}}, checked."""
    programs = tomllib.loads((HERE / "programs.toml").read_text())
    for name, program in programs.items():
        if set(program) != FIELDS or not all("==" in need for need in program["needs"]):
            raise SystemExit(f"programs.toml: [{name}] has {sorted(FIELDS)}, no more, and every need is pinned by ==")
    return programs


def gaps():
    return gap_list.read(GAPS)


def expected(name):
    """{"torch": version, "needs": [...], "seen": [[label, observation], ...]}, or None."""
    file = EXPECTED / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def keep(name, torch_version, needs, seen):
    rows = ",\n".join(f"  {store.dumps(row)}" for row in seen)
    head = f'{{"torch": {json.dumps(torch_version)}, "needs": {json.dumps(needs)}, "seen": [\n'
    (EXPECTED / f"{name}.json").write_text(head + rows + "\n]}\n")


def fetch(need, cache):
    """The folder with one requirement in it, from PyPI unless it is there already."""
    folder = Path(cache) / need
    if not folder.exists():
        unfinished = folder.with_name(need + ".part")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(unfinished), need]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"pip cannot fetch {need}:\n{done.stderr.strip()}")
        unfinished.rename(folder)
    return folder


def strays(programs):
    """What does not fit together, as lines: drivers, answers and gaps of no program, programs without a driver or an answer to these versions."""
    found = [f"{p.name}: no such program" for p in [*DRIVERS.glob("*.py"), *EXPECTED.glob("*.json")] if p.stem not in programs]
    found += [f"{n}: is listed in gaps_programs.toml but there is no such program" for n in gaps() if n not in programs]
    for name, program in programs.items():
        answer = expected(name)
        if not (DRIVERS / f"{name}.py").exists():
            found.append(f"{name}: has no driver")
        if answer is None or answer["needs"] != program["needs"]:
            found.append(f"{name}: no answer is recorded for these versions; run `python -m compat_matrix.programs record {name}`")
    return found
