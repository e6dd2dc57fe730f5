"""Names, signatures, proofs and the scan of sources, on small texts of their own."""

import abc
import ast
import sys
import types
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import called, names, proofs, scan, signatures, states, used
from compat_matrix.case import Case, load


@pytest.mark.parametrize("theirs, ours, found", [
    ("(input, other, *, alpha=1)", "(input, other, *, alpha=1)", None),
    ("(input, dim=0)", "(input, dim=0, more=None)", None),
    ("(input, dim=0)", "(input, dim=1)", "default of 'dim': 0, here 1"),
    ("(input, dim)", "(input, axis)", None),  # torch's parser takes both words
    ("(input, size)", "(input, shape)", "parameter 2 is 'size', here 'shape'"),
    ("(input, *, out=None)", "(input)", "no keyword 'out'"),
    ("(input)", "(input, needed)", "also requires needed"),
    ("(input, *size)", "(input, *size)", None),
    ("(a, **more)", "(a)", "no **more"),
    ("(dims=[0, 1])", "(dims=(0, 1))", None),
    ("(input, dim=0)", "(*args, **kwargs)", "open"),
    ("(input, p=2.0)", "(input, p=2)", None)])
def test_signatures(theirs, ours, found):
    assert signatures.problem([theirs], [ours]) == found


def test_one_of_several_signatures_may_take_the_call():
    assert signatures.problem(["(input, dim)", "(input)"], ["(input)", "(input, dim, keepdim=False)"]) is None
    assert signatures.problem(["(input, dim)", "(input, name)"], ["(input, dim)"]) == "parameter 2 is 'name', here 'dim'"
    assert signatures.problem(["(input, *, decimals=0)"], ["(input)", "(input, *, decimals)"]) is None
    assert signatures.problem(["(input, *, decimals=0)"], ["(input, *, decimals)"]) == "default of 'decimals': 0, here None"


def test_signatures_are_read_from_functions_docstrings_and_the_parser():
    def f(self, a, b=1, *, c=None):
        """No words."""
    assert signatures.of_object(f) == "(self, a, b=1, *, c=None)" and names.without_self(signatures.of_object(f)) == "(a, b=1, *, c=None)"
    assert signatures.of_docstring("add", "\nadd(input, other, *, alpha=1, out=None) -> Tensor\n\nAdds.") == ["(input, other, *, alpha=1, out=None)"]
    assert signatures.from_parser("(Tensor input, tuple of ints dim = {-2,-1}, *, Number alpha = 1)") == "(input, dim=(-2,-1), *, alpha=1)"
    assert signatures.from_parser("(Tensor input, name dim)") is None


def test_names_of_a_source_are_followed_through_aliases():
    seen = used.uses("""
import torch as th, numpy as np
import torch.nn.functional as F
from torch import nn
from torch.nn import Linear as L
import torch.utils.data
relu = F.relu
def f(x, o):
    y = relu(L(2, 3)(x)).masked_fill(x > 0, 1.0)
    try:
        th.guarded(y)
    except AttributeError:
        pass
    np.sum(y), getattr(x, "cumsum"), hasattr(th, "rare"), getattr(th, "rarer", None), nn.init.ones_(y)
    return th.autograd.grad(y.sum(), x, create_graph=True)
""")
    assert {"torch.nn.functional.relu", "torch.nn.Linear", "torch.nn.init.ones_", "torch.autograd.grad", "torch.utils.data"} <= set(seen.names)
    assert {"masked_fill", "cumsum"} <= set(seen.attributes) and not {"torch.rare", "torch.rarer"} & set(seen.names)
    assert seen.attributes["sum"] == [15]  # not np.sum
    assert seen.keywords["torch.autograd.grad"] == {"create_graph"}
    assert seen.asked == {"torch.rare", "torch.rarer"} and seen.excused == {"torch.guarded": {11}}


NOT_NEEDED = """
from __future__ import annotations
import torch, typing
try:
    from torch import imported
except ImportError:
    imported = None
if typing.TYPE_CHECKING:
    from torch import typed
    import torch.typed_too
try:
    a = torch.single(1)
except Exception:
    a = None
try:
    from torch.utils.cpp_extension import load
    flags = ["-O3"]
    extension = load(name="fast", extra_cflags=flags)
except Exception as error:
    extension = None
def f(x: torch.annotated) -> torch.returned:
    y: torch.assigned = x
    return isinstance(y, (int, torch.compared))
"""
NEEDED = """
import torch
try:
    y = torch.loop(x)
    print(y)
except Exception as error:  # whatever happens: what is in it is needed all the same
    print(error)
try:
    torch.told(y)
except AttributeError:
    raise RuntimeError("install a newer one")
try:
    torch.unguarded(y)
except ValueError:
    pass
try:
    torch.twice(y)
except AttributeError:
    pass
torch.twice(y)
def f(x: torch.annotated):
    return isinstance(x, torch.compared)
"""


def needed(source):
    seen = used.uses(source)
    return {n for n, lines in seen.names.items() if n not in seen.asked and set(lines) - seen.excused.get(n, set()) - seen.looked.get(n, set())} - {"torch"}


def test_what_a_program_can_do_without():
    assert needed(NOT_NEEDED) == set() and used.uses(NOT_NEEDED).looked == {"torch.compared": {23}}
    assert needed(NEEDED) == {"torch.loop", "torch.told", "torch.unguarded", "torch.twice"}
    assert set(used.uses(NEEDED).looked) == {"torch.annotated", "torch.compared"}  # annotations are evaluated in this file


KNOWN = dict.fromkeys(["torch.nn", "torch.nn.functional", "torch.nn.functional.relu", "torch.nn.Linear", "torch.abs", "torch.Tensor", "torch.Tensor.abs",
    "torch.Tensor.cumsum", "torch.sin",
                       "torch.cos", "torch.nn.Module.parameters"])


def by_attribute(torch, name):
    yield "value", getattr(torch, name)(torch.ones(2)), torch.ones(2).abs()


def by_text(torch, text):
    yield "value", eval(text, {"torch": torch, "F": torch.nn.functional, **vars(torch.nn)}).parameters()


def test_names_that_a_case_exercises_are_found():
    assert proofs.in_case(Case("a.b", by_attribute, {"name": "sin"}), KNOWN) == {"torch.sin", "torch.Tensor.abs"}
    found = proofs.in_case(Case("a.c", by_text, {"text": "F.relu(Linear(2, 3)(x.cumsum(0)))"}), KNOWN)
    assert {"torch.nn.functional.relu", "torch.nn.Linear", "torch.Tensor.cumsum", "torch.nn.Module.parameters"} <= found and "torch.cos" not in found


def refusing(input):
    """Not there."""
    raise NotImplementedError("torch.refusing: there is none")


def test_members_of_tensor_are_proved_by_calls_that_were_heard(monkeypatch):
    def by_attribute(torch):
        yield "shared", torch.sin(torch.ones(1)).untyped_storage().is_shared()

    cases, known = {id: Case(id, by_attribute) for id in ("a.b", "a.c")}, {"torch.sin": {}, "torch.Tensor.is_shared": {}}
    for table, proof in (({}, None), ({"a.b": cases["a.b"].fingerprint()}, ["a.b"]), ({"a.b": "of another text"}, None)):
        monkeypatch.setattr(called, "read", lambda table=table: {"torch.Tensor.is_shared": table})
        found = proofs.of_cases(known, cases)
        assert found["torch.sin"] == ["a.b", "a.c"] and found.get("torch.Tensor.is_shared") == proof


def test_every_call_that_was_heard_is_of_a_case_and_a_member():
    cases, known = load(), names.read()
    for name, ids in called.read().items():
        assert name in known and called.is_member(name) and all(called.proved(name, id, cases[id], {name: ids}) for id in ids), name


def test_states_of_names():
    fact = {"kind": "function", "sigs": ["(input, other)"]}
    torch = types.ModuleType(names.inspect.getmodule(states).PACKAGE)
    torch.good, torch.other, torch.refusing = (lambda input, other: 0), (lambda input, another: 0), refusing

    class Ours:
        def __init__(self):
            self.torch = torch

        def signatures(self, path, value, method):
            return [signatures.of_object(value)]

    def look(name):
        state = states.State(f"torch.{name}", "function", "equal")
        states.look(state, fact, Ours())
        return state
    assert look("good").state == "equal"
    assert look("other").state == "different" and "'other', here 'another'" in look("other").why
    assert look("refusing").state == "refused" and look("refusing").why == "torch.refusing: there is none"
    assert look("nowhere").state == "missing"
    assert states.meta_problem({"kind": "class"}, type(Ours)("X", (), {})) is None
    assert states.meta_problem({"kind": "class"}, abc.ABC) is None
    other = type("Other", (type,), {})("X", (), {})
    assert "metaclass Other" in states.meta_problem({"kind": "class"}, other) and states.meta_problem({"kind": "class", "meta": "Other"}, other) is None


def test_a_name_is_equal_only_where_a_case_passes():
    def proved(cases=(), entries=(), gaps=(), kind="function"):
        state = states.State("torch.x", kind, "equal", cases=list(cases), ops=list(entries))
        states.prove(state, {g: {"kind": "divergence", "reason": "why"} for g in gaps}, {})
        return state.state
    assert proved(["a.1"]) == "equal" and proved([], ["ops.x"]) == "equal"
    assert proved() == "unproved" and proved(kind="dtype") == "equal"
    assert proved(["a.1", "a.2"], gaps=["a.1"]) == "equal" and proved(["a.1"], gaps=["a.1"]) == "divergence"


def test_a_name_that_nothing_accounts_for_fails_the_run():
    found = [states.State(f"torch.{n}", "function", state, "why") for n, state in (
        ("a", "equal"), ("b", "divergence"), ("c", "different"), ("d", "unproved"), ("e", "missing"), ("f", "refused"), ("g", "missing"), ("h", "refused"))]
    listed = {"torch.g": {}, "torch.h": {}, "torch.c": {}}
    assert [line.split()[0] for line in states.undeclared(found, listed)] == ["torch.c", "torch.d", "torch.e", "torch.f"]


def as_states(found):
    return {n: states.State(n, "function", s) if isinstance(s, str) else s for n, s in found.items()}


def scanned(tmp_path, text, **found):
    file = tmp_path / "program.py"
    file.write_text(text)
    made = scan.Scan(as_states(found))
    made.file(file)
    return made


def test_the_last_line_of_a_scan(tmp_path):
    table = {"torch.abs": "equal", "torch.lobpcg": "missing", "torch.odd": "divergence", "torch.Tensor.abs": "equal", "torch.Tensor.storage": "missing",
        "torch.Tensor.index": "missing",
             "torch.relu": states.State("torch.relu", "function", "different", signature="no keyword 'out'", cases=["a.1"])}
    assert scanned(tmp_path, "import torch as t\nt.abs(t.relu(x)).abs()", **table).verdict() == ("runs", 0)
    assert scanned(tmp_path, "import torch\ntorch.odd(torch.relu(x, out=y))", **table).verdict() == ("runs with divergences: torch.odd, torch.relu", 0)
    table["torch.Tensor.copy_"] = states.State("torch.Tensor.copy_", "method", "different", signature="parameter 1 is 'other', here 'src'", cases=["a.1"])
    assert scanned(tmp_path, "import torch\nx.copy_(y)", **table).verdict() == ("runs", 0)  # by place, not by its word
    assert scanned(tmp_path, "import torch\nx.copy_(other=y)", **table).verdict() == ("runs with divergences: torch.Tensor.copy_", 0)
    assert scanned(tmp_path, "from torch import lobpcg\nimport torch\nx.storage()", **table).verdict() == ("needs: torch.Tensor.storage, torch.lobpcg", 1)
    assert scanned(tmp_path, "import torch\n[1].index(1)", **table).verdict() == ("runs", 0)  # lists have it too
    assert scanned(tmp_path, "import torch\ntorch.rfft(x, 1)", **table).verdict() == ("runs", 0)  # PyTorch has no such name either
    assert scanned(tmp_path, "import torch\ntorch.no_such.name", **table).verdict() == ("runs", 0)
    assert scanned(tmp_path, "import torch\nif hasattr(torch, 'lobpcg'):\n    torch.lobpcg(x)", **table).verdict() == ("runs", 0)
    assert scanned(tmp_path, "x.storage()", **table).verdict() == ("runs", 0)  # no torch in any file
    (tmp_path / "helper.py").write_text("def f(x): return x.storage()")
    (tmp_path / "late.py").write_text("import torch")
    table["torch.Symbol"] = states.State("torch.Symbol", "class", "refused", "there is no tracer")
    made = scan.scan([str(tmp_path / "helper.py"), str(tmp_path / "late.py")], as_states(table))
    assert made.verdict() == ("needs: torch.Tensor.storage", 1)  # given tensors by the other file
    assert scanned(tmp_path, "import torch\nisinstance(x, torch.SymInt)", **table | {"torch.SymInt": table["torch.Symbol"]}).verdict() == ("runs", 0)
    assert scanned(tmp_path, "import torch\ntorch.SymInt(3)", **table | {"torch.SymInt": table["torch.Symbol"]}).verdict()[1] == 1
    assert scanned(tmp_path, "import torch\ntorch.npu.is_available()", **table).verdict() == ("runs", 0)  # PyTorch has no such module
    assert scanned(tmp_path, "from torch.distributions import transforms\ntransforms = []\ntransforms.append(1)", **table).verdict() == ("runs", 0)  # a list
    assert scanned(tmp_path, "import torch\ntorch.nativert.nonsense(1)\ntorch._no_such()", **table).verdict() == ("needs: torch.nativert.nonsense", 1)
    assert scanned(tmp_path, "import torch\ntorch.jit.export_opnames(m)", **table).verdict()[1] == 1  # there, and it only raises
    registered = "import torch\ntorch.library.define('mine::op', '(Tensor x) -> Tensor')\ntorch.ops.mine.op(x)"
    assert scanned(tmp_path, registered, **table).verdict() == ("runs", 0)
    assert scanned(tmp_path, "import torch\ntorch.ops.mine.op(x)", **table).verdict()[1] == 1
    made = scanned(tmp_path, "import torch\nprint 1", **table)
    assert made.unread and any(line.startswith("unread") for line in scan.report(made))


def test_sources_of_packages_and_paths(tmp_path):
    (tmp_path / "a.py").write_text("")
    assert scan.sources(str(tmp_path)) == [tmp_path / "a.py"] and scan.sources("compat_matrix.scan") == [Path(scan.__file__)]
    assert any(f.name == "decoder.py" for f in scan.sources("json"))
    with pytest.raises(SystemExit, match="no installed package"):
        scan.sources("no_such_package_anywhere")


def test_recorded_names_are_plain_and_many():
    known = names.read()
    assert len(known) > 3000 and all(set(v) <= {"kind", "sigs", "from", "value", "has", "meta", "raises"} for v in known.values())
    unread = [n for n, v in known.items() for s in v.get("sigs", ()) if signatures.parse(s) is None]
    assert len(unread) < 10, unread
    assert known["torch.nn.Linear"]["sigs"] == ["(in_features, out_features, bias=True, device=None, dtype=None)"]
    ast.parse("")
