"""One driver, in a process of its own: ``child.py DRIVER TARGET`` writes {"torch": version, "seen": [[label, observation], ...]} to the target."""

import json
import runpy
import sys


def main(driver, target):
    import torch

    from compat_matrix import observe, store

    program = runpy.run_path(driver)["program"]
    torch.manual_seed(0)
    seen = [[label, observe.encode(torch, values[0] if len(values) == 1 else list(values))] for label, *values in program()]
    with open(target, "w") as file:
        json.dump({"torch": torch.__version__, "seen": store.plain(seen)}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
