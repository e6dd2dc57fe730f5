"""Everything that a run judges, as ids: the cases, and for each entry of the op table `ops.KEY`, `columns.KEY`, `lowering.KEY`; and `names`.

`Judge` answers one id at a time, in any process, so that a run can be split, stopped and taken up again.
"""

import contextlib
import functools
import hashlib
import importlib
import json
import os
import time
from pathlib import Path

from compat_matrix import columns, ops, spellings, store
from compat_matrix import gaps as gap_list
from compat_matrix.case import CASES, areas, load, selects
from compat_matrix.compare import differences
from compat_matrix.observe import PACKAGE
from compat_matrix.run import MISSING, STALE, UNEXPECTED, UNKNOWN, Result, bookkeeping, judge

TABLES = ("ops", "columns", "lowering")  # areas made of the entries of the op table
SPELLED = "dialects"  # the area made of the rows of the four spellings
CASELESS = (*TABLES, SPELLED, "names")
RECORD_OPS = "run `python -m compat_matrix.record_ops --calls` (package), then `python -m compat_matrix.record_ops` (torch)"
PLACE = "COMPAT_MATRIX_DEVICE"  # of the environment: where the tensors of the op table lie
EIGHT = "--xla_force_host_platform_device_count=8"


def gap_file(table):
    return gap_list.FILE.with_name(f"gaps_{table}.toml")


def every_gap():
    """{id: gap} of every list of ids."""
    found = dict(gap_list.read())
    for table in TABLES:
        found |= gap_list.read(gap_file(table))
    return found


def ids(only=None):
    """The ids that `only` selects, in order."""
    first = only.partition(".")[0] if only else None
    found = []
    if first not in CASELESS:
        found += load(only)
    for table in TABLES:
        if first in (None, table):
            found += [f"{table}.{k}" for k in entries(table) if not only or selects(only, f"{table}.{k}")]
    if first in (None, SPELLED):
        found += [f"{SPELLED}.{q}" for q in spellings.questions() if not only or selects(only, f"{SPELLED}.{q}")]
    return found + (["names"] if first in (None, "names") else [])


def all_areas():
    return [*areas(), *CASELESS]


def entries(table):
    """{key: entry} of a table: `columns` asks the operators that draw too."""
    return columns.questions() if table == "columns" else read_calls()


@functools.cache
def read_calls():
    return json.loads(ops.CALLS.read_text())


def strays(only=None):
    """Gaps and answers of nothing."""
    first = only.partition(".")[0] if only else None
    found = []
    if first not in CASELESS:
        cases = load(only)
        found += bookkeeping(cases, {a: store.read(a) for a in {c.area for c in cases.values()}}, gap_list.read(), only)
    known = set(ids(only))
    for table in TABLES:
        if first in (None, table):
            found += [Result(n, "unknown gap", [UNKNOWN]) for n in gap_list.read(gap_file(table)) if n not in known and (not only or selects(only, n))]
    return found


class Judge:
    """Judges ids; what is read for them is read once."""

    def __init__(self):
        self.torch = importlib.import_module(PACKAGE)
        self.answers = functools.cache(store.read)
        self.gaps = functools.cache(gap_list.read)
        self.cases = {}

    def __call__(self, id):
        start = time.perf_counter()
        area = id.partition(".")[0]
        judge = self.of_table if area in TABLES else self.of_spelling if area == SPELLED else self.of_names if area == "names" else self.of_case
        result = judge(id)
        result.seconds = round(time.perf_counter() - start, 3)
        return result

    def of_case(self, id):
        area = id.partition(".")[0]
        if area not in self.cases:
            self.cases[area] = load(area)
        return judge(self.cases[area][id], self.torch, self.answers(area)["cases"].get(id), self.gaps(gap_list.FILE).get(id))

    def of_table(self, id):
        table, _, key = id.partition(".")
        gap = self.gaps(gap_file(table)).get(id)
        found = {"ops": in_ops, "columns": in_columns, "lowering": in_lowering}[table](self.torch, key)
        if "stale" in found:
            return Result(id, "stale", found["stale"])
        return with_gap(id, found, gap)

    def of_spelling(self, id):
        wrong = spellings.problems(id.removeprefix(f"{SPELLED}."))
        return Result(id, "fail" if wrong else "pass", wrong)

    def of_names(self, id):
        from compat_matrix import names, states

        listed, known = gap_list.read(states.GAPS), names.read()
        wrong = [f"gaps_names.toml lists {n}, which is no recorded name" for n in listed if n not in known]
        found = states.compute(self.torch, known)
        wrong += states.undeclared(found, listed)
        return Result(id, "fail" if wrong else "pass", wrong, columns={k: dict(v) for k, v in states.totals(found).items()})


def with_gap(id, found, gap):
    """The Result of {column: [differences]}; a gap excuses the columns that it lists (all, where it lists none), and each of them must differ."""
    bad = {column for column, lines in found.items() if lines}
    excused = set((gap or {}).get("columns", bad if gap else ()))
    problems = [f"{column}: {line}" for column in bad - excused for line in found[column]]
    closed = sorted(excused - bad) if gap and bad else ["all"] if gap else []
    status = "fail" if problems else "unexpected pass" if closed else "gap" if gap else "pass"
    lines = problems or ([f"{UNEXPECTED} ({', '.join(closed)})"] if closed else [f"{c}: {line}" for c in sorted(bad) for line in found[c]])
    return Result(id, status, lines, columns={column: "differs" if lines else "equal" for column, lines in found.items()})


@functools.cache
def recorded_ops():
    return json.loads(ops.ANSWERS.read_text())


def in_ops(torch, key):
    """{column: [differences]}: value, node, first, second, errors of an entry, its tensors on the device that is asked about."""
    place = os.environ.get(PLACE, "cpu")
    with contextlib.nullcontext() if place == "cpu" else torch.device(place):
        return _in_ops(torch, key)


def _in_ops(torch, key):
    entry, known = read_calls()[key], recorded_ops().get(key)
    if known is None or known["hash"] != ops.stamp(entry):
        return {"stale": [f"{MISSING if known is None else STALE}: {RECORD_OPS}"]}
    found = {}
    for i, (call, expected) in enumerate(zip(entry["calls"], known["calls"], strict=True)):
        seen = json.loads(json.dumps(columns.ask(lambda call=call: ops.observe(torch, entry["path"], call))))
        for column, lines in by_column(expected, seen, i).items():
            found.setdefault(column, []).extend(lines)
    for i, (call, expected) in enumerate(zip(entry["errors"], known["errors"], strict=True)):
        found.setdefault("errors", []).extend(differences(expected, json.loads(json.dumps(ops.observe_error(torch, entry["path"], call))), f"error {i}"))
    return found


PARTS = {"out": "value", "nodes": "nodes", "first": "first", "second": "second"}


def by_column(expected, seen, i):
    """The differences of one call, by what was looked at."""
    if "out" not in expected or "out" not in seen:
        return {"value": differences(expected, seen, f"call {i}")}
    return {PARTS[part]: differences(expected[part], seen[part],
        f"call {i}.{part}") if part in seen else [f"call {i}.{part}: not seen"] for part in expected} | {
        PARTS[part]: [f"call {i}.{part}: not recorded"] for part in seen if part not in expected}


@functools.cache
def paths():
    return columns.published()


def in_columns(torch, key):
    return columns.check(torch, key, columns.questions()[key], paths().get(key, []))


def in_lowering(torch, key):
    from compat_matrix import lowering

    return lowering.columns(torch, read_calls()[key])


def code_stamp():
    """A hash of the package's sources, of C too, of what judges and of the recorded answers: what was judged under others is judged again."""
    root, matrix = Path(importlib.import_module(PACKAGE).__file__).parent, Path(__file__).parent
    whole = hashlib.sha256()
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.[ch]"), *matrix.glob("*.py"), *matrix.glob("oracle*/*.json")]):
        whole.update(file.read_bytes())
    return whole.hexdigest()[:16]


def asked_stamp(id):
    """A hash of what an id asks: its answers change when it does."""
    area = id.partition(".")[0]
    if area in TABLES:
        return ops.stamp({"entry": entries(area)[id.partition(".")[2]], "table": area})
    if area in CASELESS:
        return ""
    return (CASES[id] if id in CASES else load(area)[id]).fingerprint()  # looking for the modules of an area takes 15 ms


def prepare_environment(lowering, device):
    """What must stand before JAX is imported: eight devices and plain Python for `lowering`, the platform of `device`; and where `in_ops` has its tensors."""
    os.environ[PLACE] = device or "cpu"
    if lowering:
        os.environ["TLA_NATIVE"] = "0"
        if EIGHT not in os.environ.get("XLA_FLAGS", ""):
            os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {EIGHT}".strip()
    if device:
        kind = device.partition(":")[0]
        os.environ["JAX_PLATFORMS"] = {"gpu": "cuda"}.get(kind, kind) + ("" if kind == "cpu" else ",cpu")
