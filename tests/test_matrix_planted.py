"""Faults planted in the package, one at a time: a run of the matrix must fail for each of them, in the column that it concerns.

Those of one process are put in by `monkeypatch` and judged as `run` judges; those of several devices in a process of their own, which has eight.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torchlike_autograd as torch
from compat_matrix import pool, run, work
from torchlike_autograd import func
from torchlike_autograd.autograd import forward_ad
from torchlike_autograd.dialects import libtorch, oneflow

ROOT = Path(__file__).resolve().parents[1]


def wrong_twin(patch):
    patch.setattr(torch.Tensor, "add_", torch.Tensor.sub_)


def wrong_out(patch):
    right = torch.exp
    patch.setattr(torch, "exp", lambda input, *, out=None: right(input) if out is None else out)


def no_view(patch):
    right = torch.transpose
    patch.setattr(torch, "transpose", lambda *a, **k: right(*a, **k).clone())


def a_view_where_torch_has_none(patch):
    right = torch.exp
    patch.setattr(torch, "exp", lambda input, *, out=None: right(input)[...] if out is None else right(input, out=out))


def wrong_signature(patch):
    right = torch.exp
    patch.setattr(torch, "exp", lambda x, *, out=None: right(x, out=out))


def wrong_dtype(patch):
    right = torch.cosh

    def cosh(input, **k):
        out = right(input, **k)
        return out.double() if input.dtype is torch.int32 else out

    patch.setattr(torch, "cosh", cosh)


def wrong_tangent(patch):
    right = forward_ad.make_dual
    patch.setattr(forward_ad, "make_dual", lambda tensor, tangent, *, level=None: right(tensor, tangent * 2, level=level))


def one_number_too_many(patch):
    right = torch.bernoulli
    patch.setattr(torch, "bernoulli", lambda *a, **k: (right(*a, **k), torch.rand(1))[0])


def another_stream(patch):
    right = torch.manual_seed
    patch.setattr(torch, "manual_seed", lambda seed: right(seed + 1))


def wrong_words(patch):
    right = torch.clamp

    def clamp(input, *args, **kwargs):
        try:
            return right(input, *args, **kwargs)
        except RuntimeError:
            raise RuntimeError("clamp needs a bound") from None

    patch.setattr(torch, "clamp", clamp)


def wrong_class(patch):
    right = torch.clamp

    def clamp(input, *args, **kwargs):
        try:
            return right(input, *args, **kwargs)
        except RuntimeError as error:
            raise ValueError(str(error)) from None

    patch.setattr(torch, "clamp", clamp)


def wrong_gradient(patch):
    right = torch.sin
    patch.setattr(torch, "sin", lambda input, **k: right(input, **k) + (input - input.detach()))


def wrong_second_gradient(patch):
    right = torch.sin
    patch.setattr(torch, "sin", lambda input, **k: right(input, **k) + (input - input.detach()) ** 2)


PLANTED = [(wrong_twin, "columns.add.Tensor", "twin"), (wrong_out, "columns.exp", "out="), (no_view, "columns.transpose.int", "views"),
           (a_view_where_torch_has_none, "columns.exp", "views"), (wrong_signature, "columns.exp", "signature"), (wrong_dtype, "columns.cosh", "dtype rules"),
           (wrong_tangent, "columns.exp", "forward mode"), (one_number_too_many, "columns.draws.bernoulli", "random stream"),
           (another_stream, "columns.draws.randn", "random stream"), (wrong_words, "ops.clamp", "errors"), (wrong_class, "ops.clamp", "errors"),
           (wrong_gradient, "ops.sin", "first"), (wrong_second_gradient, "ops.sin", "second")]


@pytest.mark.parametrize("plant, id, column", PLANTED, ids=[p[0].__name__ for p in PLANTED])
def test_a_planted_fault_fails_its_entry(plant, id, column, monkeypatch):
    judge = work.Judge()
    plant(monkeypatch)
    result = judge(id)
    assert result.status == "fail" and result.columns[column] == "differs", result


def test_without_a_fault_they_pass():
    judge = work.Judge()
    assert {id: judge(id).status for id in sorted({p[1] for p in PLANTED})} == dict.fromkeys(sorted({p[1] for p in PLANTED}), "pass")


def no_roots_no_check(patch):
    right = oneflow._accumulate
    patch.setattr(oneflow, "_accumulate", lambda roots, *rest: right(roots, *rest) if roots else None)


def no_error_for_counts(patch):
    right = libtorch.autograd.backward
    patch.setattr(libtorch.autograd, "backward", lambda tensors, grads=(), *rest, **k: right(tensors, list(grads)[:len(list(tensors))], *rest, **k))


def another_default(patch):
    right = oneflow.autograd.backward
    patch.setattr(oneflow.autograd, "backward", lambda tensors, grad_tensors=None, *rest, **k: right(tensors, grad_tensors, *rest, **k))


@pytest.mark.parametrize("plant, row", [(no_roots_no_check, "no roots, a cotangent: backward"), (no_error_for_counts, "more cotangents than roots"),
                                        (another_default, "grad_tensors is required")])
def test_a_fault_in_another_spelling_fails_its_row(plant, row, monkeypatch):
    judge = work.Judge()
    assert judge(f"dialects.{row}").status == "pass"
    plant(monkeypatch)
    assert judge(f"dialects.{row}").status == "fail"


def test_the_command_says_so(monkeypatch, tmp_path, capsys):
    """The exit status and the last lines of `run`."""
    monkeypatch.setattr(pool, "JOURNAL", tmp_path / "journal.jsonl")
    monkeypatch.setattr(os, "environ", dict(os.environ))
    wrong_twin(monkeypatch)
    assert run.main("columns.add.Tensor", keep=False, progress=False) == 1
    said = capsys.readouterr().out
    assert "FAIL columns.add.Tensor" in said and "Tensor.add_" in said and "(1 fail)" in said


def test_a_lost_name_fails_the_names(monkeypatch):
    from compat_matrix import case, names, states

    known = {n: f for n, f in names.read().items() if n.startswith(("torch.func.hess", "torch.func.jac"))}
    cases = {id: c for id, c in case.load().items() if id.startswith("func")}
    assert states.undeclared(states.compute(torch, known, cases), {}) == []
    monkeypatch.delattr(func, "hessian")
    assert [line.split()[0] for line in states.undeclared(states.compute(torch, known, cases), {})] == ["torch.func.hessian"]


SPREAD = """
import importlib, json, sys
from compat_matrix import work
torch = importlib.import_module(work.PACKAGE)
judge, found = work.Judge(), {}

def ask(name, ids):
    results = [judge(id) for id in ids]
    found[name] = [[r.status, r.columns.get("spread"), r.problems[:1]] for r in results]

def cosh(input, **k):
    return right(input, **k) if "@" not in input._tl_v.aval.device else right(input, **k) + 1

def lost(v, root):
    return v

ask("right", ["lowering.cosh", "lowering.t"])
right, torch.cosh = torch.cosh, cosh
ask("another value", ["lowering.cosh"])
torch.cosh = right
run = importlib.import_module(work.PACKAGE + ".autograd._run")
kept, run._spread = run._spread, lost
ask("placements lost", ["lowering.t"])
print(json.dumps(found))
"""


def test_a_fault_of_several_devices_fails_its_entry():
    env = {**os.environ, "XLA_FLAGS": work.EIGHT, "TLA_NATIVE": "0", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SPREAD], env=env, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert [f[:2] for f in found["right"]] == [["pass", "equal"]] * 2
    assert found["another value"][0][:2] == ["fail", "differs"] and found["placements lost"][0][:2] == ["fail", "differs"]
    assert "astray" in found["placements lost"][0][2][0]
