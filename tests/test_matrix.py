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
    "autocast": 5, "borders": 2, "checkpoint": 2, "complex": 3, "conv_ends": 2, "distributions": 16, "engine": 2, "errors": 4, "everyday": 4, "far_points": 2,
    "fft": 12, "foreach": 2, "frames_and_segments": 2, "func": 4, "function": 2, "functional": 8, "gradient_needs": 5, "halves_spread": 4, "hooks": 3,
    "indexing": 4, "inplace": 4, "kernels": 4, "kinks": 4, "linalg": 20, "linalg_basic": 4, "losses": 4, "masked": 3, "masks_multiplied": 8, "nn": 14,
    "nn_ops": 20, "nodes": 3, "numbers": 6, "optim": 12, "out_dtypes": 3, "promotion": 8, "random": 2, "recurrent_second_order": 4, "result_layouts": 2,
    "saved": 3, "seed_py": 2, "sparse": 3, "sparse_handed_in": 3, "spellings": 3, "steps_with_factors_in_half": 4, "tangents": 4, "tensor": 4, "views": 8}
LONG = frozenset((  # sweeps of many seconds, which the matrix runs
    "asked_by_autograd_tests.second derivatives of products with zeros", "by_way_of_results.complex", "drawn_graphs.layers_of_lstm",
    "edges_of_gradients.third derivatives", "ends_of_operators.incomplete gamma far away", "far_points.a million steps", "func.apart: itself",
    "func.apart: written", "half_products.addmm", "half_products.baddbmm", "half_products.linear",
    "half_steps.grid_sample", "half_steps.products of many factors", "half_steps.reflected at whole spans", "numbers_lost.factors", "numbers_lost.refused",
    "operators_at_borders.products mapped under gradients", "operators_left.a NaN stays in its group of a convolution",
    "operators_replayed.outputs of another dtype", "optim.functional.Muon",
    "rare_names.functions", "relied_on.engine.long chains", "relied_on.rest.operators", "rows_of_halves.added", "rows_of_halves.selected",
    "second_order_of_unpacked.decompositions", "second_order_of_unpacked.normalisations", "second_order_of_unpacked.parameters of a network",
    "second_order_of_unpacked.what normalisations pack", "tangents_of_writes.second order", "tensor.ranges.grid of the identity"))
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
