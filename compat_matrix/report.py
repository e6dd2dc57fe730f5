"""MATRIX.md and MATRIX.html: what passes, area by area, column by column, name by name, and what is known to differ.

Both are made from the stored results (`python -m compat_matrix run` writes them) and from the states of the names; each carries a hash of what it was made
from,
so that a test can say when it is stale.
"""

import hashlib
import importlib
import json
import re
from collections import Counter
from pathlib import Path

from compat_matrix import gaps as gap_list
from compat_matrix import pool, session, states, store, work
from compat_matrix.observe import PACKAGE
from compat_matrix.run import BAD, counts

FOLDER = Path(__file__).parent
FILE, PAGE = FOLDER / "MATRIX.md", FOLDER / "MATRIX.html"
COLUMNS = ("signature", "value", "nodes", "first", "second", "errors", "dtype rules", "forward mode", "names", "twin", "out=", "views", "layouts",
    "vmap", "random stream", "lowers for CUDA", "lowers for TPU", "sharded", "spread")
EXPLAINED = {
    "signature": "what each of its names takes",
    "value": "result of every sample", "nodes": "names of grad_fn", "first": "first derivative", "second": "second derivative",
        "errors": "refused calls: class and words",
    "dtype rules": "dtype of the result for ten dtypes", "forward mode": "tangents", "names": "every other public name", "twin": "the name with _",
        "out=": "written into a given tensor",
    "views": "aliasing, strides, offsets", "layouts": "strides of results where operands lie otherwise",
    "vmap": "results, gradients and tangents under `torch.func.vmap`, over the first dim and the last",
    "random stream": "values, gradients and the next number after a seed",
        "lowers for CUDA": "jax.export of forward and pullback",
        "lowers for TPU": "jax.export of forward and pullback",
    "sharded": "a batch split over eight devices", "spread": "tensors split over devices: values, gradients and where these lie"}


# What it is made of

def inputs():
    """A hash of everything that the report shows: results, gaps, recorded names and versions, the questions."""
    whole = hashlib.sha256()
    files = [*sorted(session.FOLDER.glob("*.json")), *sorted(FOLDER.glob("gaps*.toml")), *sorted((FOLDER / "oracle_names").glob("*.json")),
             *sorted((FOLDER / "oracle_versions").glob("*.json")), *sorted((FOLDER / "oracle_spellings").glob("*.json")),
             *(FOLDER / "oracle_ops" / n for n in ("calls.json", "paths.json"))]
    for file in files:
        whole.update(file.name.encode() + re.sub(rb'"seconds":[0-9.]+|"(date|jax)": "[^"]*"', b"", file.read_bytes()))
    for file in sorted(store.FOLDER.glob("*.json")):
        whole.update(json.dumps([file.stem, *((n, a["hash"]) for n, a in json.loads(file.read_text())["cases"].items())]).encode())
    return whole.hexdigest()[:16]


def stored_results():
    """Results of the stored runs, those of ids that are gone left out."""
    known = set(work.ids())
    return [pool.from_row({"id": id, **row}) for area in session.stored().values() for id, row in area["results"].items() if id in known]


# The page as text

def text(results, gaps, version, named=(), stamp="", missing=(), versions=(), spelled=()):
    """The page as one string."""
    lines = ["# Compatibility matrix", "",
             f"Each case is one body that ran under PyTorch {version} (CPU) and under `{PACKAGE}`;",
             "what both saw was compared: values, dtypes, shapes, gradients, names, warnings, messages.",
             "`ops`, `columns` and `lowering` are the entries of the operator table; `MATRIX.html` beside this shows every name and every case."]
    lines += ["", "## Names", "", *names_table(named)] if named else []
    lines += ["", "## Cases", "", "| area | cases | pass | known gaps | fail |", "|---|--:|--:|--:|--:|"]
    lines += [line("**all**" if area == "total" else area, count) for area, count in counts(results).items()]
    lines += columns_table(results) + list(versions) + ["", *spelled]
    for kind in gap_list.KINDS:
        lines += section(kind, gaps)
    failing = [r.id for r in results if r.status in BAD]
    lines += ["", "## Failing", ""] + [f"- `{name}`" for name in failing] if failing else []
    lines += ["", "## Not run", "", *not_run(missing)] if missing else []
    return "\n".join(lines) + "\n" + (f"\n<!-- made from {stamp} -->\n" if stamp else "")


def not_run(missing):
    """Areas with the number of ids that no stored run has judged."""
    return [f"- {area}: {n}" for area, n in sorted(Counter(id.partition(".")[0] for id in missing).items())]


def line(area, count):
    bad = sum(count[status] for status in BAD)
    return f"| {area} | {sum(count.values())} | {count['pass']} | {count['gap']} | {bad} |"


def names_table(named):
    head = ["| section | names | " + " | ".join(states.STATES) + " | % equal |", "|---|" + "--:|" * (len(states.STATES) + 2)]
    rows = []
    for name, count in sorted(states.totals(named).items(), key=lambda pair: (pair[0] == "all", pair[0])):
        n = sum(count.values())
        rows.append(f"| {name if name != 'all' else '**all**'} | {n} | " + " | ".join(str(count[s]) for s in states.STATES)
                    + f" | {100 * count['equal'] / n:.1f} |")
    return [*head, *rows, "",
            "unproved: it is there with PyTorch's signature, and no case uses it; different: kind, signature, value or members are not PyTorch's."]


def column_counts(results):
    """{column: Counter of "equal" and "differs"} over the entries of the op table."""
    found = {}
    for r in results:
        for column, state in r.columns.items() if r.area in work.TABLES else ():
            found.setdefault(column, Counter())[state] += 1
    return found


def columns_table(results):
    found = column_counts(results)
    if not found:
        return []
    rows = [f"| {c} | {EXPLAINED[c]} | {n['equal'] + n['differs']} | {n['equal']} | {n['differs']} |" for c in COLUMNS if (n := found.get(c))]
    return ["", "## The operator table", "", "| column | what is compared | entries | equal | different |", "|---|---|--:|--:|--:|", *rows]


def section(kind, gaps):
    mine = {name: gap for name, gap in gaps.items() if gap["kind"] == kind}
    if not mine:
        return []
    title = {"unsupported": "Not supported", "divergence": "Different on purpose, or known to differ"}[kind]
    return ["", f"## {title}", "", "| case | reason |", "|---|---|"] + [
        f"| `{name}` | {gap['reason']}{'; instead: ' + gap['workaround'] if gap.get('workaround') else ''} |" for name, gap in sorted(mine.items())]


# Writing and checking

def main(file=FILE, page_file=PAGE):
    """Write both; the exit status says whether anything fails or was never run."""
    from compat_matrix import page, spellings, versions

    torch = importlib.import_module(PACKAGE)
    results, named, stamp, gaps = stored_results(), states.compute(torch), inputs(), work.every_gap()
    done = {r.id for r in results}
    missing = [id for id in work.ids() if id not in done]
    recorded = {json.loads(f.read_text())["torch"] for f in sorted(store.FOLDER.glob("*.json"))} - {None}
    shown = gaps | dict(gap_list.read(states.GAPS))
    file.write_text(text(results, shown, ", ".join(sorted(recorded)), named, stamp, missing, versions.table(), spellings.lines()))
    page_file.write_text(page.html(results, named, gaps, ", ".join(sorted(recorded)), stamp))
    print(f"wrote {file} and {page_file}" + (f"; {len(missing)} were never run" if missing else ""))
    return 1 if missing or any(r.status in BAD for r in results) else 0


def stale(file):
    """Why a written report is stale, or None."""
    if not file.exists():
        return f"{file.name} is not there"
    found = re.search(r"made from (\w+)", file.read_text())
    return None if found and found.group(1) == inputs() else f"{file.name} was made from other results"


def check():
    """`report --check`"""
    found = [why for f in (FILE, PAGE) if (why := stale(f))]
    print("\n".join(found) or "the report is fresh")
    return 1 if found else 0
