"""The matrix itself: it must see a wrong implementation, stale answers and gaps that closed.

A module of a few lines stands in for torch; nothing here needs PyTorch or the package.
"""

import math
import re
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import compare, gaps, isolate, observe, record, report, run, session, store
from compat_matrix.case import CASES, Case, areas, case, load
from compat_matrix.observe import attempt, encode, raises, warned, words


class FakeTensor:
    """Just enough of a tensor to be observed."""

    def __init__(self, values, dtype="float32", requires_grad=False):
        self.values, self.dtype, self.requires_grad = np.asarray(values), FakeDtype(dtype), requires_grad
        self.shape = FakeSize(self.values.shape)

    def detach(self):
        return self

    def reshape(self, *shape):
        return FakeTensor(self.values.reshape(*shape), self.dtype.name)

    def clone(self):
        return self

    def tolist(self):
        return self.values.tolist()

    def abs(self):
        return FakeTensor(np.abs(self.values), self.dtype.name)


class FakeDtype:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"torch.{self.name}"


class FakeSize(tuple):
    pass


class FakeDevice:
    pass


FakeTensor.__name__ = "Tensor"


def fake_torch(**functions):
    """A module with a grad mode, a default dtype and the given functions."""
    module = types.ModuleType("torch")
    module.Tensor, module.dtype, module.Size, module.device = FakeTensor, FakeDtype, FakeSize, FakeDevice
    module.float32, module.mode, module.default = FakeDtype("float32"), True, FakeDtype("float32")
    module.is_grad_enabled = lambda: module.mode
    module.set_grad_enabled = lambda value: setattr(module, "mode", value)
    module.get_default_dtype = lambda: module.default
    module.set_default_dtype = lambda value: setattr(module, "default", value)
    module.tensor = lambda values, dtype="float32", **kw: FakeTensor(values, dtype, **kw)
    for name, function in functions.items():
        setattr(module, name, function)
    return module


def body(torch):
    x = torch.tensor([-1.0, 0.0, 2.0])
    yield "value", x.abs()
    yield "facts", 3, "words", None
    yield "error", raises(lambda: torch.fails(x))


def good():
    def fails(x):
        raise RuntimeError("bad shape")
    return fake_torch(fails=fails)


CASE = Case("area.one", body)


def answer(case=CASE, torch=None):
    return {"hash": case.fingerprint(), "seen": store.plain(isolate.observe(case, torch or good()))}


def test_the_same_module_passes():
    assert run.judge(CASE, good(), answer(), None).status == "pass"


def other_value():
    module = good()
    module.tensor = lambda values, **kw: FakeTensor([v + 1e-3 for v in values])
    return module


def other_dtype():
    module = good()
    module.tensor = lambda values, **kw: FakeTensor(values, "float64")
    return module


def other_flag():
    module = good()
    module.tensor = lambda values, **kw: FakeTensor(values, requires_grad=True)
    module.Tensor.abs, kept = (lambda self: self), module.Tensor.abs
    module.restore = lambda: setattr(module.Tensor, "abs", kept)
    return module


def raising(exception):
    def fails(x):
        raise exception
    return fake_torch(fails=fails)


@pytest.mark.parametrize("make, word", [
    (other_value, "value"), (other_dtype, "dtype"), (other_flag, "requires_grad"),
    (lambda: raising(ValueError("bad shape")), "class"),
    (lambda: raising(RuntimeError("another")), "message"), (lambda: fake_torch(fails=lambda x: x), "no error"),
    (fake_torch, "has no attribute")])
def test_a_planted_difference_is_caught(make, word):
    torch = make()
    result = run.judge(CASE, torch, answer(), None)
    getattr(torch, "restore", lambda: None)()
    assert result.status == "fail"
    assert any(word in line for line in result.problems), result.problems


def test_a_crash_fails_only_its_case():
    def crash(torch):
        yield "first", 1
        torch.no_such_name()
    result = run.judge(Case("area.crash", crash), good(),
        {"hash": Case("area.crash", crash).fingerprint(), "seen": [["first", 1]]}, None)
    assert result.status == "fail" and "no_such_name" in result.problems[0]
    assert run.judge(CASE, good(), answer(), None).status == "pass"


def test_a_stale_hash_is_caught():
    old = {**answer(), "hash": "of another text"}
    assert run.judge(CASE, good(), old, None).status == "stale"
    assert run.judge(CASE, good(), None, None).status == "stale"


def test_the_hash_follows_body_helpers_and_parameters():
    def one(torch):
        yield "a", 1

    def two(torch):
        yield "a", 2
    assert Case("a.b", one).fingerprint() != Case("a.b", two).fingerprint()
    assert Case("a.b", one, {"p": 1}).fingerprint() != Case("a.b", one, {"p": 2}).fingerprint()
    assert Case("a.b", one).fingerprint() == Case("a.other", one).fingerprint()


def test_the_hash_follows_a_helper_elsewhere():
    known = load("seed_py")["seed_py.duplicate_roots"]
    before, shared = known.fingerprint(), known.body.__globals__
    kept = shared["leaf"]
    shared["leaf"] = lambda torch: None
    shared["leaf"].__module__ = kept.__module__
    try:
        assert known.fingerprint() != before
    finally:
        shared["leaf"] = kept
    assert known.fingerprint() == before


def test_a_gap_that_passes_is_caught():
    gap = {"reason": "not yet", "kind": "unsupported"}
    assert run.judge(CASE, good(), answer(), gap).status == "unexpected pass"
    assert run.judge(CASE, fake_torch(), answer(), gap).status == "gap"


@pytest.mark.parametrize("labels, status", [(["error"], "gap"), (["value"], "fail"), (["error", "value"], "unexpected pass"), (None, "gap"), ([], "fail")])
def test_a_gap_excuses_its_observations_only(labels, status):
    gap = {"reason": "not yet", "kind": "divergence"} | ({} if labels is None else {"labels": labels})
    assert run.judge(CASE, raising(ValueError("bad shape")), answer(), gap).status == status


def test_a_listed_case_that_dies_is_listed_as_dying():
    gap, dies = {"reason": "not yet", "kind": "divergence", "labels": ["error"]}, good()
    del dies.tensor
    assert run.judge(CASE, dies, answer(), gap).status == "fail"
    assert run.judge(CASE, dies, answer(), {**gap, "labels": [run.CRASH]}).status == "gap"


def test_every_gap_says_what_differs():
    lists = {table: gaps.read(gaps.FILE.with_name(f"gaps_{table}.toml")) for table in ("ops", "columns", "lowering")}
    assert [id for id, gap in gaps.read().items() if not gap.get("labels")] == []
    assert [id for found in lists.values() for id, gap in found.items() if not gap.get("columns")] == []


def test_stray_gaps_and_answers_are_caught():
    recorded = {"area": {"cases": {"area.one": answer(), "area.gone": answer()}}}
    strays = run.bookkeeping({"area.one": CASE}, recorded, {"area.never": {}})
    assert sorted((s.id, s.status) for s in strays) == [("area.gone", "stale"), ("area.never", "unknown gap")]


def test_labels_must_agree():
    recorded = answer()
    recorded["seen"].append(["more", 1])
    assert "more: not seen" in run.judge(CASE, good(), recorded, None).problems
    recorded["seen"] = recorded["seen"][:1]
    assert any("not recorded" in line for line in run.judge(CASE, good(), recorded, None).problems)


@pytest.mark.parametrize("a, b, same", [
    (1, 1, True), (1, 2, False), (1, 1.0, False), (True, 1, False), (1.0, 1.0 + 1e-12, True),
    (1.0, 1.001, False), ("a", "a", True), (None, 0, False),
    ({"float": "nan"}, {"float": "nan"}, True), ({"float": "nan"}, 1.0, False),
    ({"float": "inf"}, {"float": "-inf"}, False), ([1, 2], [1], False),
    ({"tuple": [1]}, [1], False), ({"complex": [1.0, 2.0]}, {"complex": [1.0, 2.0 + 1e-13]}, True),
    ({"complex": [1.0, 2.0]}, {"complex": [1.0, -2.0]}, False)])
def test_comparison(a, b, same):
    assert (compare.differences(a, b) == []) is same


@pytest.mark.parametrize("dtype, near, far",
    [("float64", 1e-11, 1e-7), ("float32", 1e-6, 1e-3), ("bfloat16", 1e-2, 1e-1)])
def test_tolerance_belongs_to_the_dtype(dtype, near, far):
    def seen(value):
        return {"tensor": {"dtype": dtype, "shape": [1], "values": [value], "requires_grad": False}}
    assert compare.differences(seen(1.0), seen(1.0 + near)) == []
    assert compare.differences(seen(1.0), seen(1.0 + far))


def test_integers_in_tensors_are_exact():
    def seen(value):
        return {"tensor": {"dtype": "int64", "shape": [1], "values": [value], "requires_grad": False}}
    assert compare.differences(seen(10**15), seen(10**15 + 1))


@pytest.mark.parametrize("expected, got, same", [
    (["RuntimeError", "Exception"], ["RuntimeError", "Exception"], True),
    (["RuntimeError", "Exception"], ["OurError", "RuntimeError", "Exception"], True),
    (["RuntimeError", "Exception"], ["ValueError", "Exception"], False),
    (["RuntimeError", "Exception"], ["Both", "RuntimeError", "ValueError", "Exception"], False),
    (["IndexError", "LookupError", "Exception"], ["IndexError", "LookupError", "Exception"], True),
    (["NotImplementedError", "RuntimeError", "Exception"], ["RuntimeError", "Exception"], False)])
def test_classes_that_catch_alike(expected, got, same):
    assert compare.caught_alike(expected, got) is same


def test_encoding():
    torch = good()
    assert encode(torch, (1, [2.5], {"k": None})) == {"tuple": [1, [2.5], {"dict": [["k", None]]}]}
    assert encode(torch, float("nan")) == {"float": "nan"} and encode(torch, -math.inf) == {"float": "-inf"}
    assert encode(torch, 1 - 2j) == {"complex": [1.0, -2.0]}
    assert encode(torch, FakeDtype("int8")) == {"dtype": "int8"} and encode(torch, FakeSize((2,))) == {"size": [2]}
    assert encode(torch, np.float32([1, 2])) == {"array": {"dtype": "float32", "shape": [2], "values": [1.0, 2.0]}}
    assert encode(torch, FakeTensor([1.0, math.inf]))["tensor"]["values"] == [1.0, {"float": "inf"}]
    with pytest.raises(TypeError, match="not plain data"):
        encode(torch, object())


def test_helpers_of_bodies():
    assert raises(lambda: 1) == "no error" and attempt(lambda: 1) == 1
    assert raises(lambda: {}["k"]) == {"error": {"class": ["KeyError", "LookupError", "Exception"], "message": "'k'"}}
    assert warned(lambda: warnings.warn("careful", FutureWarning)) == [("FutureWarning", "careful")]
    assert words("at 0x7f12ab (Triggered internally at /a/b.cpp:1.)") == "at 0x"
    assert words("f(): got (str), but expected one of:\n * (Tensor a)") == "f(): got (str), but expected one of:"


def test_state_is_restored_between_cases():
    def leave_a_mess(torch):
        torch.set_grad_enabled(False)
        torch.set_default_dtype(FakeDtype("float64"))
        yield "mode", torch.is_grad_enabled()
        raise ValueError("and stop")
    torch = good()
    torch.mode = False
    isolate.observe_safely(Case("area.mess", leave_a_mess), torch)
    assert torch.mode is False and torch.default.name == "float32"
    assert isolate.observe(Case("area.look", lambda torch: iter([("mode", torch.is_grad_enabled())])),
        torch) == [["mode", True]]


def test_a_label_may_not_repeat():
    def twice(torch):
        yield "a", 1
        yield "a", 2
    assert "twice" in isolate.observe_safely(Case("area.twice", twice), good())[1]


def test_a_case_that_hangs_is_stopped(monkeypatch):
    monkeypatch.setattr(isolate, "SECONDS", 0.2)
    def forever(torch):
        while True:
            pass
        yield "never", 0
    assert "took more than" in isolate.observe_safely(Case("area.forever", forever), good())[1]


def test_names_are_unique_and_areas_agree():
    with pytest.raises(ValueError, match="two cases"):
        for _ in range(2):
            case("planted.twice")(body)
    del CASES["planted.twice"]
    with pytest.raises(SystemExit, match="no area"):
        load("nowhere")


def test_recording_asks_only_about_what_changed(tmp_path):
    torch, asked = good(), []
    torch.__version__ = "2.13.0+cpu"
    def counting(torch, k):
        asked.append(k)
        yield "k", k
    cases = {f"area.{k}": Case(f"area.{k}", counting, {"k": k}) for k in (1, 2)}
    assert record.record_area(torch, "area", cases, folder=tmp_path) == (2, [])
    cases["area.2"] = Case("area.2", counting, {"k": 3})
    assert record.record_area(torch, "area", cases, folder=tmp_path) == (1, [])
    assert asked == [1, 2, 3]
    assert record.record_area(torch, "area", cases, everything=True, folder=tmp_path) == (2, [])
    del cases["area.1"]
    record.record_area(torch, "area", cases, folder=tmp_path)
    assert list(store.read("area", tmp_path)["cases"]) == ["area.2"]
    assert store.read("area", tmp_path)["torch"] == "2.13.0"


def test_recording_without_torch_says_how(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match=r"torch==2\.13\.0"):
        record.find_torch()


def test_gaps_file_is_checked(tmp_path):
    file = tmp_path / "gaps.toml"
    file.write_text('["a.b"]\nreason = "why"\nkind = "unsupported"\n')
    assert gaps.read(file) == {"a.b": {"reason": "why", "kind": "unsupported"}}
    for text in ('["a.b"]\nreason = ""\nkind = "unsupported"\n', '["a.b"]\nreason = "x"\nkind = "other"\n',
            '["a.b"]\nkind = "divergence"\n'):
        file.write_text(text)
        with pytest.raises(SystemExit):
            gaps.read(file)


def test_report_counts():
    results = [run.Result("a.1", "pass"), run.Result("a.2", "fail", ["x"]), run.Result("b.1", "gap", ["y"])]
    page = report.text(results, {"b.1": {"reason": "arrays do not share memory", "kind": "divergence"}}, "2.13.0")
    assert "| a | 2 | 1 | 0 | 1 |" in page and "| b | 1 | 0 | 1 | 0 |" in page
    assert "arrays do not share memory" in page and "- `a.2`" in page
    assert run.summary(results)[-1].startswith("total")


def test_exit_status(monkeypatch, capsys):
    for status, expected in [("pass", 0), ("gap", 0), ("fail", 1), ("stale", 1), ("unexpected pass", 1),
            ("unknown gap", 1)]:
        monkeypatch.setattr(session, "run", lambda *a, s=status, **k: [run.Result("a.1", s, ["why"])])
        assert run.main() == expected, status
    capsys.readouterr()


def test_nothing_imports_torch_by_itself():
    folder = Path(observe.__file__).parent
    own = [folder / f"{name}.py" for name in ("called", "case", "compare", "gaps", "isolate", "observe", "probes",
        "record", "report", "run", "store", "columns", "names", "page", "pool", "lowering", "progress", "proofs", "scan", "session", "signatures", "states",
        "used", "versions", "work")]
    for file in [*own, *(folder / "cases").rglob("*.py")]:
        for line in file.read_text().splitlines():
            assert not re.match(r"\s*(import|from) torch\b", line), f"{file}: {line}"


def test_every_case_is_recorded_and_fresh():
    cases = load()
    assert areas() == sorted({c.area for c in cases.values()})
    wrong = []
    for area in areas():
        known = store.read(area)["cases"]
        wrong += [n for n, c in cases.items() if c.area == area and known.get(n, {}).get("hash") != c.fingerprint()]
        wrong += [n for n in known if n not in cases]
    assert not wrong, f"run `python -m compat_matrix record`: {wrong[:10]}"
