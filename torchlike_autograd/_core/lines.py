"""Where in the user's code we are (layer 0): the innermost frames that are not ours, and whether they catch errors there."""

from __future__ import annotations

import builtins
import dis
import functools
import os
import sys

import jax
import jaxlib
import numpy

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_UNDER = ("<", os.path.dirname(os.__file__) + os.sep, *(os.path.dirname(m.__file__) + os.sep for m in (jax, jaxlib, numpy)))  # what we call


_DEPTH = 3  # functions of the user's in which any `except` counts


def user_line():
    """(file name, line number) of the innermost frame outside this package, or None."""
    frame = user_frame(sys._getframe(1))
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def user_frame(frame, made=("<",)):
    """The innermost frame outside this package, from `frame` outwards, or None; made: how file names of code begin that is in none, and is passed over."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_HERE, *made)):
            return frame
        frame = frame.f_back
    return None


def is_ours(frame):
    """Whether a frame (or None) is of this package, or of JAX or Python code that this package runs."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_HERE):
            return True
        if not name.startswith(_UNDER):
            return False
        frame = frame.f_back
    return False


def in_loop(frame):
    """Whether the user's code, or an optimizer that calls it, stands in a loop, from `frame` outwards; loops of what runs programs, such as a tool for tests,
    do not count.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_FROZEN) and (not name.startswith(_HERE) or name.startswith(_OPTIM)):
            if frame.f_globals.get("__name__", "").partition(".")[0] in _RUNNERS:
                return False
            if any(start <= frame.f_lasti <= end for start, end in _loops(frame.f_code)):
                return True
        frame = frame.f_back
    return False


_OPTIM = _HERE + "optim" + os.sep
_FROZEN = "<frozen"
_RUNNERS = {"IPython", "_pytest", "asyncio", "concurrent", "ipykernel", "pluggy", "pytest", "runpy", "threading", "unittest", "xdist"}


@functools.lru_cache(maxsize=1024)
def _loops(code):
    """[(first, last)] instruction of each loop of a function."""
    return tuple((step.argval, step.offset) for step in dis.get_instructions(code)
                 if step.opname.startswith(("JUMP_BACKWARD", "POP_JUMP_BACKWARD")) and not step.opname.endswith("NO_INTERRUPT"))


def catches(frame, error, named, far):
    """Whether the user's code stands in a `try` whose `except` is for what a call raises here, or in a `with` that waits for an error, however far out.

    frame: where to begin.  error: the class of what is raised.  named: whether only an `except` counts that names this class or one of its own kind,
    so that a training loop in a `try` stays one program a step; far: whether such a one counts however far out too, others do in the innermost functions.
    """
    depth, frame = 0, user_frame(frame, (_FROZEN,))  # what `exec` and `python -c` run counts too
    while frame is not None:
        near, runner = depth < _DEPTH, frame.f_globals.get("__name__", "").partition(".")[0] in _RUNNERS
        if frame.f_code.co_exceptiontable:
            own = error if not runner and (near or far) else None  # what runs tests catches all errors, to tell of them
            if any(start <= frame.f_lasti < end for start, end in _tried(frame.f_code, own, named or not near)):
                return True
        if runner and not near:
            return False
        depth += not frame.f_code.co_filename.startswith("<")
        frame = user_frame(frame.f_back, (_FROZEN,))
    return False


@functools.lru_cache(maxsize=1024)
def _tried(code, error, named):
    """[(start, end)] of the instructions whose errors an `except` of this function looks at (none does where `error` is None), or a `with` waits for."""
    table = list(dis.Bytecode(code).exception_entries)
    if not table:
        return ()
    steps = list(dis.get_instructions(code))
    places = {step.offset: i for i, step in enumerate(steps)}
    outer = {e.target: {o.target for o in table if o.start <= e.target < o.end} for e in table}  # where a handler's own errors go
    first = {t: min(e.start for e in table if e.target == t) for t in outer}
    expected = _RAISES if code.co_qualname in _CALLS else ()
    wanted = {t for t in outer if _excepts(steps, places[t], error, named) or _expects(steps, places[t], places[first[t]], expected)}
    while more := {t for t, up in outer.items() if up & wanted} - wanted:
        wanted |= more
    return tuple((e.start, e.end) for e in table if e.target in wanted)


def _excepts(steps, at, error, named):
    """Whether a handler is an `except` that may be for an error; neither `with`, nor `finally`, nor an `except` for quite another error."""
    if error is None or steps[at].opname != "PUSH_EXC_INFO" or at + 1 == len(steps):
        return False
    if steps[at + 1].opname == "POP_TOP":
        return not named
    told = []
    for step in steps[at + 1:at + 40]:
        if step.opname in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH"):
            return any(_names(name, error) if named else _may_name(name, error) for name in told)
        if not step.opname.startswith(("LOAD_", "BUILD_", "CACHE", "PUSH_NULL", "NOP", "EXTENDED_ARG", "COPY", "SWAP")):
            return False
        if step.opname.startswith("LOAD_"):
            told.append(step.argval)
    return False


def _expects(steps, at, start, expected):
    """Whether a handler is that of a `with` that waits for an error, such as `pytest.raises`, `self.assertRaises` or `contextlib.suppress`; expected: further
    names of such a thing.
    """
    if at + 1 == len(steps) or steps[at + 1].opname != "WITH_EXCEPT_START":
        return False
    for step in reversed(steps[max(start - 60, 0):start]):
        if step.opname.startswith(("STORE_", "POP_TOP", "RESUME", "RETURN_")):
            return False
        name = step.argval if step.opname.startswith("LOAD_") else None
        if isinstance(name, str) and (name in expected or name == "suppress" or "raises" in name.lower()):
            return True
    return False


# `self.assertRaises(Error, function, ...)` calls the function under `with self:`, in a frame of unittest's own
_CALLS, _RAISES = {"_AssertRaisesBaseContext.handle"}, {"self"}
_BROAD = {"Exception", "BaseException"}


def _names(name, error):
    """Whether a name is that of an error's class or of one it is a kind of, broad ones left out."""
    return name not in _BROAD and any(name == kind.__name__ for kind in error.__mro__)


def _may_name(name, error):
    """Whether a class of this name may catch an error: any that is not known may."""
    found = getattr(builtins, name, None) if isinstance(name, str) else None
    return not isinstance(found, type) or not issubclass(found, BaseException) or issubclass(error, found)
