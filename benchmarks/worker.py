"""One contestant in a process of its own: reads commands, writes answers, one JSON value a line.

===========================  ==========================================================
``{"do": "start"}``          import, build the step, train once: the seconds of each
``{"do": "losses", "n"}``    train `n` times, look at every loss, answer them all
``{"do": "round", "n"}``     train `n` times, look at the loss as often as a user would
``{"do": "stats"}``          our counters (empty for the others) and the peak memory
``{"do": "stop"}``           end
===========================  ==========================================================
"""

import argparse
import importlib
import json
import os
import resource
import sys
import time
import traceback

from benchmarks import steps

MODULES = {"ours": "torchlike_autograd", "torch": "torch", "jit": "jax"}


class Contestant:
    """A training step, and answers to the commands about it."""

    def __init__(self, kind: str, step: str, quick: bool, platform: str = "cpu") -> None:
        self.kind = kind
        self.platform = platform
        self.rules = steps.load(step)
        self.size = self.rules.QUICK if quick else self.rules.SIZE
        self.read_every = getattr(self.rules, "READ_EVERY", 10)
        self.step = None
        self.module = None

    def start(self) -> dict:
        """Import what the contestant runs on, build the step, and train once."""
        began = time.perf_counter()
        self.module = importlib.import_module(MODULES[self.kind])
        imported = time.perf_counter()
        if self.kind == "jit":
            self.module.config.update("jax_default_matmul_precision", "highest")  # as the others
            self.step = self.rules.jax_step(self.size)
        else:
            if self.platform != "cpu":
                self.module.set_default_device(self.platform)
                self.module.backends.cudnn.allow_tf32 = False
            self.step = self.rules.torch_step(self.module, self.size)
        built = time.perf_counter()
        loss = self.step().item()
        return {
            "import": imported - began,
            "first_step": time.perf_counter() - built,
            "loss": loss,
            "version": getattr(self.module, "__version__", "?"),
        }

    def losses(self, n: int) -> dict:
        """Train `n` times and return every loss."""
        return {"losses": [self.step().item() for _ in range(n)]}

    def round(self, n: int) -> dict:
        """Train `n` times; the last loss is looked at, so all that it needs has been done."""
        began = time.perf_counter()
        for count in range(1, n + 1):
            loss = self.step()
            if count % self.read_every == 0:
                loss.item()
        last = loss.item()
        return {"seconds": time.perf_counter() - began, "loss": last}

    def stats(self) -> dict:
        """Return our counters, those that are plain numbers, and the peak memory in bytes."""
        counters = getattr(self.module, "stats", dict) if self.kind == "ours" else dict
        numbers = {k: v for k, v in dict(counters()).items() if isinstance(v, (int, float))}
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return {"counters": numbers, "peak_memory": peak}


def private_stdout():
    """Return the pipe to the parent, and send what else is printed to standard error."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return channel


def limit_threads(count: int) -> None:
    """Let this process, and the thread pools that it will start, use `count` processors."""
    if count and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def answer(contestant: Contestant, command: dict) -> dict:
    """Do what one command says; a failure is an answer too."""
    try:
        action = getattr(contestant, command.pop("do"))
        return action(**command)
    except Exception as error:
        traceback.print_exc()
        text = str(error).strip().splitlines() or [""]
        return {"error": f"{type(error).__name__}: {text[0]}"}


def main() -> None:
    """Answer commands until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=MODULES)
    parser.add_argument("step", choices=steps.NAMES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--platform", default="cpu")
    options = parser.parse_args()
    channel = private_stdout()
    limit_threads(options.threads)
    contestant = Contestant(options.kind, options.step, options.quick, options.platform)
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "stop":
            break
        print(json.dumps(answer(contestant, command)), file=channel)


if __name__ == "__main__":
    main()
