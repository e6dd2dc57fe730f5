"""How much room compiled programs leave in the process (layer 3).

XLA's CPU backend gives each kernel of a program memory of its own; Linux lets a process have so many pieces of memory (`vm.max_map_count`, 65,530 by default),
and LLVM ends the process where it gets no more: "Unable to allocate section memory".  A program has some ten pieces, one of many kernels five hundred.
"""

from __future__ import annotations

import functools
import gc

import jax

BETWEEN = 32  # new programs between two looks
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
