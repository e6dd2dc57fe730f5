"""How much room compiled programs leave in the process and in memory (layer 3).

XLA's CPU backend gives each kernel of a program memory of its own; Linux lets a process have so many pieces of memory (`vm.max_map_count`, 65,530 by default),
and LLVM ends the process where it gets no more: "Unable to allocate section memory".  A program has some ten pieces, one of many kernels five hundred.

Compiling, and the first run of a long program, free many more bytes than they leave in use; the C library keeps these for itself, gigabytes of them where a
model has a hundred million parameters, until it is told to give them back.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import os

import jax

BETWEEN = 32  # new programs between two looks
LONG = 1.0  # seconds of work after which memory is given back
_since = [0]


@functools.cache
def most() -> int:
    """How many pieces of memory a process may have; 0 where nobody says."""
    try:
        with open("/proc/sys/vm/max_map_count") as f:
            return int(f.read())
    except (OSError, ValueError):
        return 0


def pieces() -> int:
    """How many pieces of memory the process has."""
    with open("/proc/self/maps", "rb") as f:
        return f.read().count(b"\n")


def is_short() -> bool:
    """Whether half of them are used; looked at once in BETWEEN calls."""
    _since[0] += 1
    if _since[0] < BETWEEN:
        return False
    _since[0] = 0
    return most() > 0 and 2 * pieces() > most()


def make(idle):
    """Let go what was compiled for nobody any more, and where that is too little and JAX is `idle` what it keeps for functions that are called again."""
    gc.collect()
    if idle and 2 * pieces() > most():
        jax.clear_caches()
        gc.collect()


@functools.cache
def _trim():
    """glibc's `malloc_trim`, or None."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None


def give_back(seconds):
    """After work that took so long: what it freed goes back to the system, which takes a hundredth of that time."""
    if seconds > LONG and _trim() is not None:
        _trim()(0)
