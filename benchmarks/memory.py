"""Whether a long training loop holds its memory flat: ``python -m benchmarks.memory``.

Trains the tiny network 20,000 times and prints how far the resident memory, and the number of
objects that Python's collector tracks, are from where they stood after the first 1,000 steps.
"""

import argparse
import gc
import importlib
import pathlib
import resource
import sys

from benchmarks import steps
from benchmarks.worker import MODULES

STEPS, SETTLED, READ_EVERY = 20_000, 1_000, 10
ALLOWED_MIB = 8.0


def resident_bytes() -> int:
    """Return the memory now held, or the most ever held where the system does not tell."""
    status = pathlib.Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def standing() -> tuple[float, int]:
    """Return resident MiB and the number of tracked objects, garbage collected."""
    gc.collect()
    return resident_bytes() / 2**20, len(gc.get_objects())


def new_step(kind: str, name: str):
    """Build the training step of one contestant."""
    rules = steps.load(name)
    if kind == "jit":
        return rules.jax_step(rules.SIZE)
    return rules.torch_step(importlib.import_module(MODULES[kind]), rules.SIZE)


def watch(step, count: int) -> tuple[float, int]:
    """Train `count` times, print ten lines on the way, return the growth since it settled."""
    start = None
    for done in range(1, count + 1):
        loss = step()
        if done % READ_EVERY == 0:
            loss.item()
        if done == SETTLED:
            start = standing()
            print(f"{done:7d} steps  {start[0]:8.1f} MiB  {start[1]:8d} objects")
        elif start and done % (count // 10) == 0:
            now = standing()
            growth = now[0] - start[0], now[1] - start[1]
            print(f"{done:7d} steps  {growth[0]:+8.2f} MiB  {growth[1]:+8d} objects", flush=True)
    return growth


def main() -> int:
    """Run the loop; 1 if the memory grew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=MODULES, default="ours")
    parser.add_argument("--step", choices=steps.NAMES, default="mlp_tiny")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    if options.steps < 2 * SETTLED:
        parser.error(f"at least {2 * SETTLED} steps")
    growth, objects = watch(new_step(options.kind, options.step), options.steps)
    flat = growth <= ALLOWED_MIB and objects <= options.steps // 100
    print("flat" if flat else "not flat")
    return int(not flat)


if __name__ == "__main__":
    sys.exit(main())
