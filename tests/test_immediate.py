"""The same cases with every call run at once: where a graph is cut into pieces must not be visible."""

import importlib
from functools import cache

import pytest

from compat_matrix import gaps, run, store
from compat_matrix.case import load
from compat_matrix.observe import PACKAGE
from sampling import sample
from torchlike_autograd._core import config

AREAS = ("engine", "function", "hooks", "modes", "seed_py", "errors", "indexing", "func.captured", "func.module_writes", "func.running_statistics",
         "func.writes")
CASES = {k: v for k, v in load().items() if k.startswith(AREAS)}
LARGE = ("errors", "indexing")
CHOSEN = sample([k for k in CASES if not k.startswith(LARGE)], 3) + sample([k for k in CASES if k.startswith(LARGE)], 8)
GAPS = gaps.read()
AT_GC = {"function_outputs_let_go.saved_output"}  # what holds itself on a record that has run waits for Python's collector, and here each call has
answers = cache(store.read)


@pytest.fixture(autouse=True)
def immediate():
    """Run at once, and then as before."""
    before = config.get("execution")
    config.set("execution", "immediate")
    yield
    config.set("execution", before)


@pytest.mark.parametrize("name", [pytest.param(k, marks=pytest.mark.xfail(strict=True)) if k in AT_GC else k for k in CHOSEN])
def test_case_at_once(name):
    case, gap = CASES[name], GAPS.get(name)
    result = run.judge(case, importlib.import_module(PACKAGE), answers(case.area)["cases"].get(name), gap)
    assert gap or result.status == "pass", "\n" + run.show(result)
