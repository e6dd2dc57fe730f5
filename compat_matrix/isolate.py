"""Running one case by itself: sealed state, a time limit, observations as plain data."""

import os
import signal
import threading
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

from compat_matrix.observe import encode, words

SECONDS = 120
STATE = [  # (reader, writer, value at the start of every case)
    ("is_grad_enabled", "_C._set_grad_enabled", True),
    ("get_default_dtype", "set_default_dtype", "float32"),
    ("is_warn_always_enabled", "set_warn_always", True),
    ("is_anomaly_enabled", "set_anomaly_enabled", False),
]


def observe(case, torch):
    """Run a body; return [[label, observation], ...]."""
    seen = []
    with sealed(torch), limited(SECONDS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, *values in case(torch):
            if not isinstance(label, (str, int)):
                raise TypeError(f"{case.id} yields an observation without a label")
            if any(label == other for other, _ in seen):
                raise ValueError(f"{case.id} yields {label!r} twice")
            seen.append([label, encode(torch, values[0] if len(values) == 1 else tuple(values))])
    return seen


def observe_safely(case, torch):
    """The observations, and the error that ended them early (or None)."""
    try:
        return observe(case, torch), None
    except Exception as exception:
        return None, describe(exception)


def describe(exception):
    """An exception with the line of the case and the innermost line, for a report."""
    frames = traceback.extract_tb(exception.__traceback__)
    inside = [f for f in frames if "cases" in Path(f.filename).parts] or frames
    at = f"{Path(inside[-1].filename).name}:{inside[-1].lineno} `{inside[-1].line}`" if inside else "?"
    last = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(exception).__name__}: {words(str(exception))[:300]} (at {at}; raised in {last})"


@contextmanager
def sealed(torch):
    """Known state at the start, the former state at the end."""
    before = [(read, write, read()) for read, write, _ in switches(torch)]
    for read, write, start in switches(torch):
        put(read, write, start)
    forget_kind_of_hooks(torch)
    generator = torch.get_rng_state() if hasattr(torch, "get_rng_state") else None
    if hasattr(torch, "manual_seed"):
        torch.manual_seed(0)
    try:
        yield
    finally:
        for read, write, value in before:
            put(read, write, value)
        if generator is not None and hasattr(torch, "set_rng_state"):
            torch.set_rng_state(generator)


def forget_kind_of_hooks(torch):
    """Modules remember which kind of global backward hook was registered first, and refuse the other for ever after."""
    module = find(torch, "nn.modules.module.register_module_full_backward_hook")
    where = getattr(module, "__globals__", {})
    if "_global_is_full_backward_hook" in where:
        where["_global_is_full_backward_hook"] = None


def put(read, write, value):
    if read() != value:
        write(value)


def switches(torch):
    """The switches that this module has, as (reader, writer, starting value)."""
    for reader, writer, start in STATE:
        read, write = find(torch, reader), find(torch, writer)
        if reader == "is_grad_enabled" and write is None:
            write = find(torch, "set_grad_enabled")
        if read is not None and write is not None:
            yield read, write, getattr(torch, start) if isinstance(start, str) else start


def find(torch, path):
    for name in path.split("."):
        torch = getattr(torch, name, None)
    return torch


def busy():
    """How much longer things take on this machine now: programs that want to run for each core, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@contextmanager
def limited(seconds):
    """Raise in a case that does not come back; only where signals can be used."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    def ring(signum, frame):
        raise TimeoutError(f"the case took more than {seconds} s")
    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds * busy())
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
