"""What other versions of PyTorch answer: `python -m compat_matrix versions record` under one of them writes `oracle_versions/VERSION.json`.

Only differences from the recorded answers are kept: cases, public names, entries of the op table.
"""

import importlib
import json
from pathlib import Path

from compat_matrix import columns, names, ops, store
from compat_matrix.case import load
from compat_matrix.compare import differences
from compat_matrix.run import check

FOLDER = Path(__file__).parent / "oracle_versions"
SHOWN = 3  # lines kept of each case


def record(only=None, folder=FOLDER):
    """Ask the installed torch everything."""
    torch = importlib.import_module("torch")
    version = torch.__version__.partition("+")[0]
    changed, asked = cases(torch, only)
    found = {"torch": version, "asked": asked, "cases": changed, "ops": entries(torch), "names": public(torch)}
    folder.mkdir(exist_ok=True)
    (folder / f"{version}.json").write_text(json.dumps(found, indent=1, ensure_ascii=True) + "\n")
    print(f"PyTorch {version}: {len(changed)} of {asked} cases, {len(found['ops'])} entries of the op table answer otherwise; "
          f"{len(found['names']['new'])} names are new, {len(found['names']['gone'])} gone, {len(found['names']['signature'])} have another signature")
    return 0


def cases(torch, only=None):
    """({id: [lines]} of the cases that answer otherwise, number asked)."""
    found, every = {}, load(only)
    answers = {area: store.read(area)["cases"] for area in {c.area for c in every.values()}}
    for name, case in every.items():
        answer = answers[case.area].get(name)
        lines = check(case, torch, answer) if answer else []
        if lines:
            found[name] = lines[:SHOWN]
    return found, len(every)


def entries(torch):
    """{key: [lines]} of the entries of the op table that answer otherwise."""
    found, answers = {}, json.loads(ops.ANSWERS.read_text())
    for key, entry in json.loads(ops.CALLS.read_text()).items():
        lines = []
        for i, (call, expected) in enumerate(zip(entry["calls"], answers[key]["calls"])):
            lines += differences(expected, json.loads(json.dumps(columns.ask(lambda call=call, entry=entry: ops.observe(torch, entry["path"], call)))),
                f"call {i}")
        if lines:
            found[key] = lines[:SHOWN]
    return found


def public(torch):
    """Names that came, went, or changed their signature."""
    old, new = names.read(), names.record(torch)
    both = old.keys() & new.keys()
    return {"new": sorted(new.keys() - old.keys()), "gone": sorted(old.keys() - new.keys()),
            "signature": {n: [old[n].get("sigs"), new[n].get("sigs")] for n in sorted(both)
                          if old[n].get("from") == "inspect" and old[n].get("sigs") != new[n].get("sigs")}}


def stored(folder=FOLDER):
    """The recorded versions, oldest first."""
    return sorted((json.loads(f.read_text()) for f in folder.glob("*.json")), key=lambda v: [int(n) for n in v["torch"].split(".") if n.isdigit()])


def table(folder=FOLDER):
    """Lines of the report: one row a version, then what differs by area."""
    found = stored(folder)
    if not found:
        return []
    lines = ["", "## Other versions of PyTorch", "", "Where these versions answer otherwise than the recorded one (the same cases, entries and names).", "",
             "| version | cases | of | operator entries | new names | names gone | other signatures |", "|---|--:|--:|--:|--:|--:|--:|"]
    for v in found:
        n = v["names"]
        lines.append(f"| {v['torch']} | {len(v['cases'])} | {v['asked']} | {len(v['ops'])} | {len(n['new'])} | {len(n['gone'])} | {len(n['signature'])} |")
    lines += ["", "| version | what differs | seen there |", "|---|---|---|"]
    for v in found:
        for name, seen in sorted([*v["cases"].items(), *((f"ops.{k}", w) for k, w in v["ops"].items())]):
            lines.append(f"| {v['torch']} | `{name}` | {cell(seen[0])} |")
    return lines


def cell(line, limit=160):
    line = line.replace("|", "\\|").replace("\n", " ")
    return line if len(line) <= limit else line[:limit] + "..."


def main(arguments):
    """`versions record [--only AREA]` (any real torch) or `versions`, which prints the table."""
    if arguments[:1] == ["record"]:
        return record(arguments[2] if arguments[1:2] == ["--only"] else None)
    print("\n".join(table()))
    return 0
