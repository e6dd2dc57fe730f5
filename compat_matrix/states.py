"""The state of every public name in the package.

* equal: it is there, its signature takes what torch's takes, and a recorded case or operator entry that uses it passes;
* divergence: it is there and differs in a way that is written down (`gaps_names.toml`, or every case that uses it is a divergence of `gaps.toml`);
* unproved: it is there with torch's signature, and no case uses it (a member of Tensor: no case was heard to call it under torch, `called`);
* different: it is there, but its kind, signature, value or members are not torch's;
* refused: using it raises an error that names it;
* missing: it is not there.
"""

import abc
import importlib
from collections import Counter
from dataclasses import dataclass, field

from compat_matrix import called, names, proofs, signatures
from compat_matrix import gaps as gap_list
from compat_matrix.observe import PACKAGE

STALE = "listed in gaps_names.toml"
STATES = ("equal", "divergence", "unproved", "different", "refused", "missing")
GAPS = gap_list.FILE.with_name("gaps_names.toml")
SECTIONS = [
    "torch.Tensor", "torch.autograd", "torch.func", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn", "torch.optim", "torch.linalg",
    "torch.fft", "torch.special", "torch.distributions", "torch.utils.data", "torch.utils.checkpoint", "torch.utils", "torch.masked", "torch.signal",
    "torch.testing", "torch.amp", "torch.random", "torch.overrides", "torch.jit", "torch.cuda", "torch.backends", "torch.hub", "torch.types", "torch.compiler"]


@dataclass
class State:
    """One name: its state, why, and the cases and entries that exercise it."""

    name: str
    kind: str
    state: str
    why: str = ""
    signature: str = ""  # "equal", "open" (ours takes anything and checks inside), "" (none to compare), or what differs
    cases: list = field(default_factory=list)
    ops: list = field(default_factory=list)
    workaround: str = ""

    @property
    def section(self):
        return section(self.name)


def section(name):
    return next((s for s in SECTIONS if name.startswith(s + ".")), "torch")


def compute(torch=None, known=None, cases=None, gaps=None):
    """[State] of every recorded name."""
    known = names.read() if known is None else known
    torch = importlib.import_module(PACKAGE) if torch is None else torch
    ours, listed = names.Ours(torch), gap_list.read(GAPS) if gaps is None else gaps
    case_gaps, op_gaps = gap_list.read(), op_gap_list()
    by_case, by_op = proofs.of_cases(known, cases), proofs.of_ops(known)
    found, objects = [], {}
    for name, fact in known.items():
        state = State(name, fact["kind"], "equal", cases=by_case.get(name, []), ops=by_op.get(name, []))
        value = look(state, fact, ours)
        if callable(value):
            objects.setdefault(id(value), []).append(state)
        found.append(state)
    share(objects.values())
    for state in found:
        if state.state == "equal":
            prove(state, case_gaps, op_gaps)
        if state.name in listed:
            listed_as(state, listed[state.name])
    return found


def op_gap_list():
    """The gaps of entries that say something about their names: of `ops` all, of `columns` those of names and twins."""
    found = gap_list.read(gap_list.FILE.with_name("gaps_ops.toml"))
    named = gap_list.read(gap_list.FILE.with_name("gaps_columns.toml"))
    return found | {id: gap for id, gap in named.items() if {"names", "twin"} & set(gap.get("columns", ("names",)))}


def share(groups):
    """One object under several names (torch.nn.Linear, torch.nn.modules.linear.Linear): what proves one name proves all."""
    for group in groups:
        cases, entries = sorted({c for s in group for c in s.cases}), sorted({k for s in group for k in s.ops})
        for state in group:
            state.cases, state.ops = cases, entries


def look(state, fact, ours):
    """Presence, kind, signature, members; returns the object."""
    try:
        value = names.find(ours.torch, PACKAGE + state.name.removeprefix("torch"))
    except Exception as error:  # whatever stands in the way of it
        clear = isinstance(error, NotImplementedError)
        state.state, state.why = ("refused" if clear else "missing"), str(error).replace(PACKAGE, "torch")
        return None
    method = any(state.name.startswith(c + ".") for c in names.CLASSES)
    reason = names.refusal(value)
    if reason and reason != fact.get("raises"):
        state.state, state.why = "refused", reason
        return value
    state.why = kind_problem(fact, value, method) or constant_problem(fact, value) or signature_problem(state, fact, value, ours,
        method) or members_problem(fact, value) or meta_problem(fact, value)
    if state.why:
        state.state = "different"
    return value


CALLED = ("function", "method", "class", "exception")


def kind_problem(fact, value, method):
    kind, own = fact["kind"], names.kind_of(value, method)
    if kind == own or (kind in CALLED and own in CALLED) or {kind, own} <= {"property", "constant"} or (kind == "constant" and own in CALLED):
        return None
    return f"a {kind} in torch, here a {own}"


def constant_problem(fact, value):
    return f"{fact['value']} in torch, here {value!r}" if "value" in fact and repr(value) != fact["value"] and not callable(value) else None


def signature_problem(state, fact, value, ours, method):
    if not fact.get("sigs"):
        return None
    own = ours.signatures(state.name, value, method)
    if not own:
        return None
    found = signatures.problem(fact["sigs"], own)
    state.signature = found or "equal"
    return None if found in (None, "open") else f"signature {' '.join(fact['sigs'])}: {found}"


def meta_problem(fact, value):
    """A metaclass where torch has none keeps programs from making a class of this one and another with a metaclass, but for abstract classes, which are
    most."""
    if not isinstance(value, type) or "meta" in fact or type(value) is type or issubclass(type(value), abc.ABCMeta) or fact["kind"] != "class":
        return None
    return f"made by the metaclass {type(value).__name__}, in torch by type"


def members_problem(fact, value):
    lacks = [n for n in fact.get("has", ()) if isinstance(value, type) and not hasattr(value, n)]
    return f"lacks {', '.join(lacks)}" if lacks else None


def prove(state, case_gaps, op_gaps):
    """Without a passing case or entry a name is unproved; where all of them are gaps, it is what they are."""
    passing = [c for c in state.cases if c not in case_gaps] or [k for k in state.ops if k not in op_gaps]
    if passing or state.kind in ("module", "dtype", "constant", "layout", "memory_format", "exception"):
        return  # what is only a value or a place is proved by being there and equal
    gaps = [case_gaps[c] for c in state.cases] + [op_gaps[k] for k in state.ops]
    if not gaps:
        heard = "no case was heard to call it (`python -m compat_matrix called` asks PyTorch)"
        state.state, state.why = "unproved", heard if called.is_member(state.name) else "no recorded case uses it"
    else:
        state.state, state.why = ("divergence" if gaps[0]["kind"] == "divergence" else "refused"), gaps[0]["reason"]


def listed_as(state, gap):
    """A table of gaps_names.toml speaks: where it and what was found cannot both be true, the name is `different`."""
    wanted = {"divergence": ("equal", "unproved", "divergence", "different"), "unsupported": ("refused", "missing", "different", "unproved")}[gap["kind"]]
    state.why, state.workaround = gap["reason"], gap.get("workaround", "")
    state.workaround = gap.get("workaround", "")
    if state.state not in wanted:
        state.why = f"{STALE}: {gap['kind']}, and it is {state.state}"
        state.state = "different"
        return
    state.why = gap["reason"]
    state.state = "divergence" if gap["kind"] == "divergence" else "missing" if state.state == "missing" else "refused"


def undeclared(found, listed):
    """Lines about names that nothing accounts for: those that are different or unproved, and those that are missing or refused without a reason."""
    bad = [s for s in found if s.state in ("different", "unproved") or (s.state in ("missing", "refused") and s.name not in listed)]
    return [f"{s.name} is {s.state}: {s.why}" for s in bad]


def totals(found):
    """{section: Counter of states}, with "all"."""
    out = {}
    for state in found:
        out.setdefault(state.section, Counter())[state.state] += 1
    out["all"] = sum(out.values(), Counter())
    return out


def table(found):
    """Lines of a table: section, names, one column a state, share of equal."""
    lines = [f"{'section':24}{'names':>7}" + "".join(f"{s:>12}" for s in STATES) + f"{'equal':>9}"]
    for name, count in sorted(totals(found).items(), key=lambda pair: (pair[0] == "all", pair[0])):
        n = sum(count.values())
        lines.append(f"{name:24}{n:>7}" + "".join(f"{count[s]:>12}" for s in STATES) + f"{100 * count['equal'] / n:8.1f}%")
    return lines


def main(arguments):
    """`names [--state STATE] [SECTION or beginning of a name]`."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m compat_matrix names")
    parser.add_argument("beginning", nargs="?", default="")
    parser.add_argument("--state", choices=STATES)
    given = parser.parse_args(arguments)
    found = [s for s in compute() if s.name.startswith(given.beginning)]
    for state in found:
        if given.state and state.state == given.state:
            print(f"{state.name}: {state.why}")
    print("\n".join(table(found)))
    unknown = [n for n in gap_list.read(GAPS) if n not in names.read()]
    print("\n".join(f"gaps_names.toml lists {n}, which is no recorded name" for n in unknown))
    return 1 if unknown else 0
