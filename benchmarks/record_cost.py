"""What recording one small operation costs: ``python -m benchmarks.record_cost``.

Inputs are 4x4 and still pending, so a call does nothing but record. Every figure is the best of
several blocks, per call: the goal is 3 us. ``--module torch`` times PyTorch's eager calls instead,
``--module jax.numpy`` JAX's.
"""

import argparse
import importlib
import itertools
import time

import numpy as np

BLOCK, REPEATS = 200, 25


def pending(lib, differentiable: bool):
    """Return two 4x4 arrays that, where the module defers, have not been computed yet."""
    make = lib.asarray if lib.__name__ == "jax.numpy" else lib.tensor
    a, b = (make(np.full((4, 4), value, np.float32)) for value in (1.001, 0.999))
    if differentiable:
        a.requires_grad_(True)
    return a * 1, b * 1


def dropped(a, b):
    """a * b, the result thrown away at once."""
    for _ in itertools.repeat(None, BLOCK):
        a * b


def kept(a, b):
    """a * b, all results kept until the end."""
    return [a * b for _ in itertools.repeat(None, BLOCK)]


def chained(a, b):
    """a = a * b."""
    for _ in itertools.repeat(None, BLOCK):
        a = a * b


def scaled(a, b):
    """a = a * number, another number each time."""
    for i in range(BLOCK):
        a = a * (1 + 1e-3 * i)


def in_graph(a, b):
    """a = a * b, where a requires grad."""
    chained(a, b)


def in_place(a, b):
    """a.mul_(b)."""
    for _ in itertools.repeat(None, BLOCK):
        a.mul_(b)


CASES = (dropped, kept, chained, scaled, in_graph, in_place)


def cost(case, lib) -> float:
    """Return the microseconds of one call: the best block, since noise only adds."""
    times = []
    for _ in range(REPEATS):
        a, b = pending(lib, differentiable=case is in_graph)
        began = time.perf_counter()
        results = case(a, b)
        times.append(time.perf_counter() - began)
        del results
    return min(times) / BLOCK * 1e6


def main() -> None:
    """Time every case that the module can do."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="torchlike_autograd")
    lib = importlib.import_module(parser.parse_args().module)
    for case in CASES:
        try:
            figure = f"{cost(case, lib):6.2f} us"
        except (AttributeError, NotImplementedError) as error:
            figure = f"not possible: {error}"
        print(f"{case.__doc__:52s} {figure}")


if __name__ == "__main__":
    main()
