"""How much room compiled programs leave in the process and in memory (layer 3).

XLA's CPU backend gives each kernel of a program memory of its own; Linux lets a process have so many pieces of memory (`vm.max_map_count`, 65,530 by default),
and LLVM ends the process where it gets no more: "Unable to allocate section memory".  A program has some ten pieces, one of many kernels five hundred.

Compiling, and the first run of a long program, free many more bytes than they leave in use; the C library keeps these for itself, gigabytes of them where a
model has a hundred million parameters, until it is told to give them back.

What a step frees it needs again in the next one.  The C library gives what is larger than 32 MiB back at once, such as the temporary buffer of a program of
many layers, and the system hands it out anew page by page, zeroed: a seventh of a step of ResNet50, a fourth of one of a Transformer, more than half of
NFNet's.  So `keep` has it kept.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import os

import jax

BETWEEN = 32  # new programs between two looks
LONG = 1.0  # seconds of work after which memory is given back
KEPT = 1 << 30  # bytes that are kept for the next step
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
def _c_library(name):
    """A function of glibc's, or None."""
    return getattr(ctypes.CDLL(None), name, None) if os.name == "posix" else None


def give_back(seconds):
    """After the first runs of a program, which took so long: what they freed goes back to the system, which takes a hundredth of that time."""
    if seconds > LONG and _c_library("malloc_trim") is not None:
        _c_library("malloc_trim")(0)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of settings in malloc.h
_SAID = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES")


@functools.cache
def keep():
    """Have what is freed kept for the next step, unless the environment says what becomes of it."""
    if os.environ.keys().isdisjoint(_SAID) and _c_library("mallopt") is not None:
        for setting in (_TRIM_THRESHOLD, _MMAP_THRESHOLD):
            _c_library("mallopt")(setting, KEPT)
