"""Which cases call which members of Tensor: seen while they run under real torch, never read off their texts.

`python -m compat_matrix called` (an interpreter that has torch) writes `oracle_names/called.json`: for each member a few cases that called it, each with
the hash of its text.  `x.untyped_storage().is_shared()` has the attribute `is_shared` and says nothing about a tensor's; what the table lacks proves
nothing.  Nearly all members are handed to function modes; the others are heard as calls from C.
"""

import inspect
import json
import sys
from pathlib import Path

from compat_matrix import names
from compat_matrix.case import load
from compat_matrix.isolate import observe

FILE = names.FILE.with_name("called.json")
CASES = str(Path(__file__).with_name("cases"))
PREFIX = "torch.Tensor."
KEPT = 4  # cases a member, of different areas where there are
APART = ("columns", "lowering", "ops")  # whose proofs are the entries of the operator table


def is_member(name):
    return name.startswith(PREFIX)


def read(file=FILE):
    """{member: {case: hash}}."""
    return json.loads(file.read_text())["names"]


def proved(name, id, case, table):
    """Whether a case, as it is now, was seen to call a member."""
    return table.get(name, {}).get(id) == case.fingerprint()


# Recording, under real torch

def members(torch, known):
    """{id of an object: the names of members that it is}."""
    found = {}
    for path in filter(is_member, known):
        static = inspect.getattr_static(torch.Tensor, path.removeprefix(PREFIX))
        for value in (static, getattr(static, "__func__", None), getattr(torch.Tensor, path.removeprefix(PREFIX), None)):
            if value is not None:
                found.setdefault(id(value), set()).add(path)
    return found


def asked_by_case(frame):
    """Whether the code that called, torch's own left out, is a case or a text that a case evaluates."""
    while frame is not None and "/torch/" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and (frame.f_code.co_filename.startswith(CASES) or frame.f_code.co_filename == "<string>")


def by_mode(torch, index, case):
    """The members that a case calls, as a function mode hears them."""
    found = set()

    class Listening(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, f, types, args=(), kwargs=None):
            read = getattr(f, "__name__", "") in ("__get__", "__set__")  # of a property
            mine = index.get(id(f.__self__ if read else f), set())
            if not mine <= found and asked_by_case(sys._getframe(1)):
                found.update(mine)
            return f(*args, **(kwargs or {}))

    with Listening():
        observe(case, torch)
    return found


def by_profile(torch, known, case):
    """The members that a case calls, as Python tells profilers of calls into C and of functions."""
    found = set()

    def heard(frame, event, arg):
        if event == "c_call" and isinstance(getattr(arg, "__self__", None), torch.Tensor) and asked_by_case(frame):
            found.add(PREFIX + arg.__name__)
        elif event == "call" and getattr(getattr(torch.Tensor, frame.f_code.co_name, None), "__code__", None) is frame.f_code and asked_by_case(frame.f_back):
            found.add(PREFIX + frame.f_code.co_name)

    sys.setprofile(heard)
    try:
        observe(case, torch)
    finally:
        sys.setprofile(None)
    return found & known.keys()


def record(torch, known, cases):
    """{member: {case: hash}}; a case that fails under a listener says nothing."""
    from compat_matrix import proofs

    index, found = members(torch, known), {}

    def listen(id, how):
        try:
            for name in how(cases[id]):
                found.setdefault(name, []).append(id)
        except Exception as error:
            print(f"{id}: {type(error).__name__}: {error}", file=sys.stderr)

    cases = {id: case for id, case in cases.items() if case.area not in APART}
    for id in cases:
        listen(id, lambda case: by_mode(torch, index, case))
    silent = {name for name in filter(is_member, known) if name not in found}
    for id, case in cases.items():
        if silent & proofs.in_case(case, known):
            listen(id, lambda case: by_profile(torch, known, case) & silent)
    return {name: {id: cases[id].fingerprint() for id in few(ids)} for name, ids in sorted(found.items())}


def few(ids):
    """Some of the ids, of as many areas as there are."""
    first = {}
    for id in ids:
        first.setdefault(id.partition(".")[0], id)
    return list(dict.fromkeys([*first.values(), *ids]))[:KEPT]


def main(arguments):
    """`called`: record."""
    from compat_matrix.record import find_torch

    torch = find_torch()
    names.write(record(torch, names.read(), load()), torch.__version__.partition("+")[0], FILE)
    return 0
