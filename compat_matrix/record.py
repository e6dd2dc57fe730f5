"""Asking PyTorch: run the bodies under torch and store what they saw.

Only this module ever imports torch, and only when it is called.
"""

import importlib

from compat_matrix import store
from compat_matrix.case import load
from compat_matrix.compare import differences
from compat_matrix.isolate import observe_safely
from compat_matrix.run import Result, check, show

VERSION = "2.13.0"
HOW = f"""recording needs PyTorch {VERSION}, which is not installed here.  Give it an environment of its own:
    python -m venv oracle-env
    oracle-env/bin/pip install torch=={VERSION} --index-url https://download.pytorch.org/whl/cpu
    oracle-env/bin/pip install numpy
    oracle-env/bin/python -m compat_matrix record"""


def find_torch():
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise SystemExit(HOW) from None
    version = torch.__version__.partition("+")[0]
    if version != VERSION:
        raise SystemExit(f"the answers are those of PyTorch {VERSION}; this is {version}")
    return torch


def record_area(torch, area, cases, everything=False, folder=store.FOLDER, whole=True, changed=None):
    """Record the new and changed cases of an area; return (number recorded, errors).  changed: a list that takes (id, [lines]) of answers that are other
    than before."""
    old = store.read(area, folder)["cases"]
    kept = {} if whole else dict(old)
    asked, errors = 0, []
    for name, case in cases.items():
        known, hash_now = old.get(name), case.fingerprint()
        if known and known["hash"] == hash_now and not everything:
            kept[name] = known
            continue
        seen, crash = observe_safely(case, torch)
        if crash:
            errors.append(f"{name}: {crash}")
            continue
        kept[name] = {"hash": hash_now, "seen": seen}
        asked += 1
        if changed is not None:
            changed += [(name, lines)] if (lines := changes(known, store.plain(seen))) else []
    if kept != old or errors:
        store.write(area, {"torch": torch.__version__.partition("+")[0], "cases": kept}, folder)
    return asked, errors


def changes(known, seen):
    """What differs between a stored answer (or None) and a new one, as lines of text."""
    if known is None:
        return ["new"]
    old, new = dict(known["seen"]), dict(seen)
    found = [f"{label}: not asked any more" for label in old if label not in new] + [f"{label}: asked now" for label in new if label not in old]
    return found + [line for label in old if label in new for line in differences(old[label], new[label], label)]


def main(only=None, everything=False, diff=False):
    """Record; with `diff` every answer that changed is shown."""
    torch = find_torch()
    cases, failed, changed = load(only), [], []
    for area in sorted({c.area for c in cases.values()}):
        mine = {n: c for n, c in cases.items() if c.area == area}
        whole = only is None or only == area
        asked, errors = record_area(torch, area, mine, everything, whole=whole, changed=changed if diff else None)
        print(f"{area:14} {asked:5} recorded, {len(mine) - asked - len(errors):5} unchanged, {len(errors)} failed")
        failed += errors
    for name, lines in changed:
        print("\n    ".join([name, *lines[:12]]))
    print("\n".join(failed))
    return 1 if failed else 0


def verify(only=None):
    """Run all cases under torch again: is every recorded answer still what torch says?"""
    torch, wrong = find_torch(), 0
    for name, case in load(only).items():
        answer = store.read(case.area)["cases"].get(name)
        problems = check(case, torch, answer) if answer else ["not recorded"]
        if problems:
            wrong += 1
            print(show(Result(name, "fail", problems)))
    print(f"{wrong} answers differ")
    return 1 if wrong else 0
