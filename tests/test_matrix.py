"""The cases of the compatibility matrix, under this package."""

import importlib
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import gaps, run, store
from compat_matrix.case import load
from compat_matrix.observe import PACKAGE
from sampling import sample

CASES = load()
# Areas of which every n-th case is enough here.
SWEPT = {"distributions": 12, "fft": 8, "functional": 8, "linalg": 10, "nn": 6, "nn_ops": 14, "optim": 8, "promotion": 4, "kinks": 2, "views": 2, "foreach": 2}
GAPS = gaps.read()
answers = cache(store.read)


def _chosen():
    by_area = {}
    for name, case in CASES.items():
        by_area.setdefault(case.area, []).append(name)
    return [name for area, names in by_area.items() for name in sample(names, SWEPT.get(area, 1))]


@pytest.mark.parametrize("name", _chosen())
def test_case(name):
    case, gap = CASES[name], GAPS.get(name)
    torch = importlib.import_module(PACKAGE)
    result = run.judge(case, torch, answers(case.area)["cases"].get(name), gap)
    if result.status == "gap":
        pytest.xfail(f"{gap['kind']}: {gap['reason']}")
    assert result.status == "pass", "\n" + run.show(result)


def test_gaps_and_answers_belong_to_cases():
    recorded = {area: answers(area) for area in {case.area for case in CASES.values()}}
    strays = run.bookkeeping(CASES, recorded, GAPS)
    assert not strays, "\n".join(run.show(stray) for stray in strays)
