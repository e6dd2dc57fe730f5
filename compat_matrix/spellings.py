"""One engine, four spellings: PyTorch's Python, libtorch's C++, OneFlow's of today and OneFlow's first.

Each row of the conformance table is one body in terms of a spelling (`spelled_rows.py`); `oracle_spellings/rows.json` holds what each spelling
answers and where the answers come from (those of PyTorch are recorded: `python -m compat_matrix spellings record` with real torch).
`python -m compat_matrix spellings` asks the package.
"""

import inspect
import json
import warnings
from pathlib import Path

from compat_matrix.observe import PACKAGE
from compat_matrix.spelled_rows import BODIES, Python, spelling

FILE = Path(__file__).parent / "oracle_spellings" / "rows.json"
SPELLINGS = ("python", "libtorch", "oneflow", "oneflow first")
SIGNATURE = "signature of "


def answer(name, d):
    """What a row gives in a spelling: plain data, or [class, words] of an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return BODIES[name](d)
        except Exception as e:
            return [type(e).__name__, str(e).replace(PACKAGE, "torch").partition("\n")[0]]


def agrees(expected, got):
    """Whether an answer is the recorded one; of the words of an error the recorded beginning counts."""
    if isinstance(expected, list) and len(expected) == 2 and isinstance(expected[0], str) and expected[0].endswith("Error"):
        return isinstance(got, list) and len(got) == 2 and got[0] == expected[0] and str(got[1]).startswith(expected[1])
    return expected == got


def signature(d, name):
    """The parameters of a spelling's `backward` or `grad` as text."""
    return str(inspect.signature(getattr(d.torch.autograd, name))).partition(" ->")[0]


def read():
    """The table."""
    return json.loads(FILE.read_text())


def questions():
    """What a run judges: every row, and every signature."""
    table = read()
    return [*table["rows"], *(SIGNATURE + name for name in table["signatures"])]


def problems(question):
    """Lines about a row or a signature that the package answers otherwise."""
    if question.startswith(SIGNATURE):
        name = question.removeprefix(SIGNATURE)
        return [f"{s}: {t}, here {own}" for s, t in read()["signatures"][name].items() if not takes(t, own := signature(spelling(s), name))]
    answers = read()["rows"][question]
    seen = {s: answer(question, spelling(s)) for s, expected in answers.items() if expected is not None}
    return [f"{s}: recorded {answers[s]!r}, seen {got!r}" for s, got in seen.items() if not agrees(answers[s], got)] + first_as_today(
        question, answers, spelling("oneflow first"))


def first_as_today(name, answers, first):
    """OneFlow's first spelling changes parameters alone: where it has no answer of its own, and takes a row's calls, it answers as today's does."""
    expected = answers.get("oneflow")
    if expected is None or answers.get("oneflow first") is not None:
        return []
    got = answer(name, first)
    refused = isinstance(got, list) and got[:1] == ["TypeError"] and "argument" in str(got[1])
    return [] if refused or agrees(expected, got) else [f"{name} (oneflow first, as today): expected {expected!r}, seen {got!r}"]


def takes(theirs, ours):
    """Whether every call of one signature is one of the other."""
    from compat_matrix import signatures

    return signatures.problem([theirs.replace("retain_graph=None", "retain_graph=...")], [ours.replace("Ellipsis", "...")]) is None


def record():
    """Ask real torch for its column."""
    from compat_matrix.record import find_torch

    d, table = Python(find_torch()), read()
    for name, answers in table["rows"].items():
        answers["python"] = answer(name, d) if name not in OTHERS else None
    table["signatures"] = {n: {**table["signatures"].get(n, {}), "python": plain_signature(getattr(d.torch.autograd, n))} for n in ("backward", "grad")}
    write(table)
    print(f"{len(table['rows'])} rows recorded")
    return 0


OTHERS = ("grad_tensors is required", "older names", "options", "undefined in and out",  # rows that only another spelling has
          "create_graph says")  # what PyTorch says once in a process


def plain_signature(f):
    from compat_matrix import signatures

    return signatures.of_object(f)


def write(table):
    rows = ",\n".join(f"  {json.dumps(n)}: {json.dumps(v)}" for n, v in table["rows"].items())
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(f'{{"source": {json.dumps(table["source"])},\n "signatures": {json.dumps(table["signatures"])},\n "rows": {{\n{rows}\n}}}}\n')


def lines():
    """The table as Markdown."""
    table = read()
    out = ["## Four spellings of one engine", "", table["source"], "", f"| | {' | '.join(SPELLINGS)} |", "|---|" + "---|" * len(SPELLINGS)]
    for kind, rows in (("signature of ", table["signatures"]), ("", table["rows"])):
        out += [f"| {kind}{name} | {' | '.join(cell(answers.get(s)) for s in SPELLINGS)} |" for name, answers in rows.items()]
    return out


def cell(expected):
    if expected is None:
        return "\N{EN DASH}"
    return (": ".join(expected) if isinstance(expected, list) and str(expected[0]).endswith("Error") else str(expected)).replace("|", "\\|")


def main(arguments):
    """`spellings` or `spellings record`."""
    if arguments[:1] == ["record"]:
        return record()
    found = [f"{question} ({line})" for question in questions() for line in problems(question)]
    print("\n".join(found) or f"{len(read()['rows'])} rows in {len(SPELLINGS)} spellings: all as recorded")
    return 1 if found else 0
