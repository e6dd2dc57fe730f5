"""Products of the host on one thread (layer 0).

NumPy's OpenBLAS gives the parts of a product to a thread for each processor and waits for the last one, all of them spinning.  Products as small as those
of `host.py` gain little by that: a step of a Transformer layer takes as long and twice the processor time.  On a machine that has something else to do the
wait is for a thread that does not run: the same step takes six times as long.  One thread also adds in the same order on any machine.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

FEW, MANY = 9216, 1 << 25  # multiplications: OpenBLAS takes one thread for fewer, for more the threads are worth it


def alone(f, multiplications):
    """f on one thread, where that is better for so many multiplications and NumPy's BLAS can be told."""
    if not FEW <= multiplications < MANY or _blas() is None:
        return f
    count, limit = _blas()

    def run(*xs):
        threads = count()
        if threads == 1:  # or another thread of this process is here, which sets it back
            return f(*xs)
        limit(1)
        try:
            return f(*xs)
        finally:
            limit(threads)

    return run


@functools.cache
def _blas():
    """(f() -> number of threads, f(number)) of the OpenBLAS that NumPy comes with; None where it is another library."""
    try:
        library = ctypes.CDLL(np._core._multiarray_umath.__file__)
        count, limit = (getattr(library, f"scipy_openblas_{name}_num_threads64_") for name in ("get", "set"))
    except (AttributeError, OSError):
        return None
    limit.argtypes, limit.restype = [ctypes.c_int], None
    return count, limit


__all__ = ["alone"]
