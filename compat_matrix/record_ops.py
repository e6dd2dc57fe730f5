"""Record what torch answers to the samples of the op table.

``python -m compat_matrix.record_ops --calls`` (with the package) writes the calls; ``python -m compat_matrix.record_ops`` (with an interpreter that has
torch 2.13.0, in an environment of its own) answers those that are new or changed.
"""

import importlib
import json
import sys
import warnings

from . import ops


def write(path, data):
    """Store data, an entry a line."""
    path.parent.mkdir(exist_ok=True)
    rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in data.items()]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def answer(torch, entry):
    """torch's answers to one entry."""
    observed = []
    for call in entry["calls"]:
        observed.append(ops.attempt(lambda call=call: ops.observe(torch, entry["path"], call)))
    return {"hash": ops.stamp(entry), "torch": torch.__version__, "calls": observed,
            "errors": [ops.observe_error(torch, entry["path"], e) for e in entry["errors"]]}


def main(arguments):
    """Write calls or answers."""
    if "--calls" in arguments:
        write(ops.CALLS, ops.samples())
        return
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError:
        raise SystemExit("this needs PyTorch: make a virtual environment of its own and `pip install torch==2.13.0` there") from None
    warnings.simplefilter("ignore")
    calls = json.loads(ops.CALLS.read_text())
    old = json.loads(ops.ANSWERS.read_text()) if ops.ANSWERS.exists() and "--all" not in arguments else {}
    answers = {}
    for key, entry in calls.items():
        known = old.get(key)
        answers[key] = known if known and known["hash"] == ops.stamp(entry) else answer(torch, entry)
    write(ops.ANSWERS, answers)
    print(f"{len(answers)} entries recorded")


if __name__ == "__main__":
    main(sys.argv[1:])
