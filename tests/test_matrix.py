"""The cases of the compatibility matrix, under this package."""

import importlib
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import gaps, run, session, store
from compat_matrix.case import load
from compat_matrix.observe import PACKAGE
from sampling import EVERYTHING, sample

CASES = load()
SWEPT = {  # areas of which every n-th case is enough here
    "autocast": 5, "borders": 2, "checkpoint": 2, "complex": 3, "conv_ends": 2, "distributions": 16, "engine": 2, "errors": 4, "everyday": 4, "far_points": 2,
    "fft": 12, "foreach": 2, "frames_and_segments": 2, "func": 4, "function": 2, "functional": 8, "gradient_needs": 5, "halves_spread": 4, "hooks": 3,
    "indexing": 4, "inplace": 4, "kernels": 4, "kinks": 4, "linalg": 20, "linalg_basic": 4, "losses": 4, "masked": 3, "masks_multiplied": 8, "nn": 14,
    "nn_ops": 20, "nodes": 3, "numbers": 6, "optim": 12, "out_dtypes": 3, "promotion": 8, "random": 2, "recurrent_second_order": 4, "result_layouts": 2,
    "saved": 3, "seed_py": 2, "sparse": 3, "sparse_handed_in": 3, "spellings": 3, "steps_with_factors_in_half": 4, "tangents": 4, "tensor": 4, "views": 8}
OF_MANY = 6, 2  # areas of more cases than this which are not named above: every second
LONGEST = 0.4  # seconds that a case took in the matrix's last run; what took more is left to the matrix
GAPS = gaps.read()
answers = cache(store.read)


def _chosen():
    by_area = {}
    for name, case in CASES.items():
        by_area.setdefault(case.area, []).append(name)
    steps = {area: SWEPT.get(area, OF_MANY[1] if len(names) > OF_MANY[0] else 1) for area, names in by_area.items()}
    seconds = {} if EVERYTHING else session.known_seconds()
    return [name for area, names in by_area.items() for name in sample(names, steps[area]) if seconds.get(name, 0) <= LONGEST]


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
