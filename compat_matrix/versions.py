"""What other versions of PyTorch answer: `python -m compat_matrix versions record` under one of them writes `oracle_versions/VERSION.json`.

Only differences from the recorded answers are kept: cases, public names, entries of the op table.  Areas whose cases are as they were are not asked again;
the table names those that were not asked since their cases changed.
"""

import hashlib
import importlib
import json
import os
import traceback
from pathlib import Path

from compat_matrix import columns, names, ops, store
from compat_matrix.case import load
from compat_matrix.compare import differences
from compat_matrix.run import check

FOLDER = Path(__file__).parent / "oracle_versions"
SHOWN = 3  # lines kept of each case


def record(only=None, folder=FOLDER):
    """Ask the installed torch what has changed since it was asked last; only: an area."""
    torch = importlib.import_module("torch")
    version = torch.__version__.partition("+")[0]
    file = folder / f"{version}.json"
    found = json.loads(file.read_text()) if file.exists() else {"torch": version, "cases": {}}
    now = stamps()
    old = found.get("areas", {})
    ask = [area for area in now if (only is None or area == only) and old.get(area) != now[area]]
    kept = {id: lines for id, lines in found["cases"].items() if id.partition(".")[0] in now and id.partition(".")[0] not in ask}
    found["cases"] = changed = dict(sorted((kept | {id: lines for area in ask for id, lines in cases(torch, area).items()}).items()))
    found["areas"] = {area: now[area] if area in ask else old[area] for area in now if area in ask or area in old}
    found["asked"] = asked = sum(count for _, count in found["areas"].values())
    if only is None or "ops" not in found:
        found |= {"ops": entries(torch), "names": public(torch)}
    folder.mkdir(exist_ok=True)
    file.write_text(json.dumps(found, indent=1, ensure_ascii=True) + "\n")
    print(f"PyTorch {version}: {len(changed)} of {asked} cases, {len(found['ops'])} entries of the op table answer otherwise; "
          f"{len(found['names']['new'])} names are new, {len(found['names']['gone'])} gone, {len(found['names']['signature'])} have another signature")
    return 0


def stamps():
    """{area: [a hash of all its cases, their number]}."""
    by_area = {}
    for case in load().values():
        by_area.setdefault(case.area, []).append(f"{case.id} {case.fingerprint()}")
    return {area: [hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16], len(lines)] for area, lines in sorted(by_area.items())}


def cases(torch, area):
    """{id: [lines]} of the cases of an area that answer otherwise."""
    every, answers = {id: case for id, case in load(area).items() if case.area == area}, store.read(area)["cases"]

    def ask(name):
        lines = check(every[name], torch, answers[name]) if name in answers else []
        torch.set_default_device(None)  # builds with CUDA take what the recorded one refuses
        torch.set_default_dtype(torch.float32)
        return lines[:SHOWN]
    return {name: lines for name, lines in apart(every, ask).items() if lines}


def apart(names, ask):
    """{name: ask(name)}, asked in a process of its own: another version may end it where the recorded one raises, and then the next name goes on in a new
    one."""
    found, left = {}, list(names)
    while left:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            in_child(left, ask, reading, writing)
        os.close(writing)
        with os.fdopen(reading) as lines:
            got = [json.loads(line) for line in lines if line.endswith("\n")]
        found |= dict(got)
        ended, left = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), left[len(got):]
        if left:
            found[left.pop(0)] = [f"the process ends, by signal {-ended}" if ended < 0 else f"the process ends with status {ended}"]
    return found


def in_child(names, ask, reading, writing):
    """Ask, write one line for each answer, and end."""
    try:
        os.close(reading)
        with os.fdopen(writing, "w") as out:
            for name in names:
                print(json.dumps([name, ask(name)]), file=out, flush=True)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def entries(torch):
    """{key: [lines]} of the entries of the op table that answer otherwise."""
    answers, calls = json.loads(ops.ANSWERS.read_text()), json.loads(ops.CALLS.read_text())

    def ask(key):
        lines = []
        for i, (call, expected) in enumerate(zip(calls[key]["calls"], answers[key]["calls"])):
            seen = columns.ask(lambda call=call: ops.observe(torch, calls[key]["path"], call))
            lines += differences(expected, json.loads(json.dumps(seen)), f"call {i}")
        return lines[:SHOWN]
    return {key: lines for key, lines in apart(calls, ask).items() if lines}


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
    now = stamps()
    for v in found:
        old = [area for area in now if v.get("areas", {}).get(area) != now[area]]
        if old:
            lines += ["", f"{v['torch']} was not asked since the cases of these areas changed: {', '.join(old)}."]
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
