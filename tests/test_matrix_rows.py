"""`compat_matrix/rows.toml`: every row names cases and spellings that are there, recorded and equal or listed as gaps."""

import json
import tomllib
from pathlib import Path

import pytest

from compat_matrix import gaps, spellings, store
from compat_matrix.case import load

ROOT = Path(__file__).resolve().parents[1]
LISTS = tomllib.loads((ROOT / "compat_matrix" / "rows.toml").read_text())
CASES, GAPS, SPELLED = load(), gaps.read(), spellings.read()["rows"]


def _rows():
    for name, rows in LISTS.items():
        if set(rows) <= {"python", "spellings"}:
            rows = {"all": rows}
        for key, proof in rows.items():
            yield f"{name}.{key}", proof if isinstance(proof, dict) else {"python": proof}


def _problem(id):
    if id not in CASES:
        return "there is no such case"
    area = CASES[id].area
    if id not in store.read(area)["cases"]:
        return "no answer is recorded"
    file = ROOT / "compat_matrix" / "results" / f"{area}.json"
    seen = json.loads(file.read_text())["results"].get(id) if file.exists() else None  # a case that was not run since is run by test_matrix.py
    return None if seen is None or seen["status"] == ("gap" if id in GAPS else "pass") else seen["status"]


@pytest.mark.parametrize(("name", "proof"), list(_rows()))
def test_row(name, proof):
    assert proof and set(proof) <= {"python", "spellings"}
    assert all(proof.values())
    assert not {id: problem for id in proof.get("python", ()) if (problem := _problem(id))}
    for row in proof.get("spellings", ()):
        assert any(SPELLED[row][s] is not None for s in spellings.SPELLINGS[1:])


@pytest.mark.parametrize("name", LISTS)
def test_no_row_is_left_out(name):
    """Numbers without holes."""
    keys = [tuple(map(int, k.split("."))) for k in LISTS[name] if k not in ("python", "spellings")]
    for head in {k[:-1] for k in keys}:
        mine = [k[-1] for k in keys if k[:-1] == head]
        assert mine == list(range(1, len(mine) + 1))
