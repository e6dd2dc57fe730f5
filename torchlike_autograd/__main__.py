"""``python -m torchlike_autograd script.py ARGS``, ``-m module ARGS``, ``-c code ARGS``: run a program whose ``import torch`` is this package.

The program sees its own `sys.argv`, `sys.path[0]` and `__main__`; its exit code and traceback are those of running it directly.
"""

from __future__ import annotations

import gc
import importlib.machinery
import os
import runpy
import signal
import sys
import types

USAGE = "usage: python -m torchlike_autograd (SCRIPT | -m MODULE | -c CODE) [ARGS ...]"


def _main_module(path):
    module = types.ModuleType("__main__")
    module.__file__, module.__cached__ = path, None
    if path is None:
        del module.__file__
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path) if path else None
    module.__builtins__ = __builtins__
    return module


def run_code(code, path=None):
    """Run compiled code as the main module."""
    module = _main_module(path)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def run_script(path):
    """Run a file as the main module."""
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        sys.path[0] = path
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as f:
            source = f.read()
    except OSError as e:
        sys.stderr.write(f"{sys.executable}: can't open file '{os.path.abspath(path)}': [Errno {e.errno}] {e.strerror}\n")
        raise SystemExit(2) from None
    path = os.path.abspath(path)
    run_code(compile(source, path, "exec", dont_inherit=True), path)


def _run(argv):
    if argv[0] == "-m":
        sys.argv[:] = argv[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    elif argv[0] == "-c":
        sys.argv[:] = ["-c", *argv[2:]]
        sys.path[0] = ""
        run_code(compile(argv[1], "<string>", "exec", dont_inherit=True))
    else:
        sys.argv[:] = argv
        run_script(argv[0])


def _run_to_the_end(argv):
    """Run a program; what it recorded and never looked at is checked when it ends."""
    try:
        _run(argv)
    except SystemExit as e:
        if not e.code:
            _check()
        raise
    _check()


def _check():
    from ._core import execute, guards

    if execute.thread.state.tape.prefix.guarded:
        execute.flush()
    guards.check()


def _own(frame):
    name = frame.f_code.co_filename
    return name == __file__ or "runpy" in name


def _report(error):
    """Print the traceback without our own frames at its head, as the interpreter would."""
    tb = error.__traceback__
    while tb is not None and _own(tb.tb_frame):
        tb = tb.tb_next
    error.__traceback__ = tb
    sys.excepthook(type(error), error, tb)


def main(argv=None):
    """Entry point; returns the exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] in ("-h", "--help") or (argv[0] in ("-m", "-c") and len(argv) < 2):
        print(USAGE)
        return 0 if argv and argv[0] in ("-h", "--help") else 2
    from . import dropin

    dropin.install_as_torch()
    dropin.pass_on_to_children()
    gc.freeze()  # what an import made stays: collections need not walk over it
    try:
        _run_to_the_end(argv)
    except SystemExit:
        raise
    except KeyboardInterrupt as e:
        _report(e)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as e:
        _report(e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
