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
from sampling import EVERYTHING, sample

CASES = load()
SWEPT = {  # areas of which every n-th case is enough here
    "autocast": 5, "borders": 2, "complex": 3, "distributions": 16, "errors": 4, "everyday": 2, "fft": 12, "foreach": 2, "func": 2, "functional": 8,
    "gradient_needs": 5, "hooks": 2, "indexing": 4, "inplace": 2, "kernels": 4, "kinks": 4, "linalg": 20, "linalg_basic": 4, "losses": 2, "masked": 3,
    "masks_multiplied": 8, "nn": 14, "nn_ops": 20, "nodes": 2, "numbers": 6, "optim": 12, "out_dtypes": 3, "promotion": 8, "saved": 2, "sparse": 2,
    "sparse_handed_in": 3, "spellings": 3, "tangents": 4, "tensor": 2, "views": 4}
LONG = frozenset((  # sweeps of many seconds, which the matrix runs
    "edges_of_gradients.third derivatives", "far_points.a million steps", "half_products.baddbmm", "half_products.linear", "half_steps.grid_sample",
    "numbers_lost.refused", "second_order_of_unpacked.decompositions"))
GAPS = gaps.read()
answers = cache(store.read)


def _chosen():
    by_area = {}
    for name, case in CASES.items():
        by_area.setdefault(case.area, []).append(name)
    assert set(CASES) >= LONG
    return [name for area, names in by_area.items() for name in sample(names, SWEPT.get(area, 1)) if EVERYTHING or name not in LONG]


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
