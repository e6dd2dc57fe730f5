"""What the node of every entry of the op table saves: names, order of packing and unpacking, values, and gradients made of what was unpacked.

`observe(torch, path, call)` runs one call under packing hooks with either module; `python -m compat_matrix.saved_ops` records (under real torch),
`tests/test_saved.py` compares.
"""

import importlib
import json
import warnings

from . import ops
from .observe import encode
from .record_ops import write

ANSWERS = ops.FOLDER / "saved.json"
MOST = 3  # calls asked of each entry


class Log:
    """Hooks that number what they pack; `factor` changes what is unpacked."""

    def __init__(self, factor=None):
        self.packed, self.unpacked, self.factor = 0, [], factor

    def pack(self, t):
        self.packed += 1
        return self.packed - 1, t.detach().clone()

    def unpack(self, kept):
        number, t = kept
        self.unpacked.append(number)
        return t * self.factor if self.factor is not None and (t.is_floating_point() or t.is_complex()) else t


def under_hooks(torch, path, call, log):
    """(leaves, outputs that require grad) of a call made under the hooks of a log."""
    leaves = []
    with torch.autograd.graph.saved_tensors_hooks(log.pack, log.unpack):
        out = ops.run(torch, path, call, leaves)
    outs = [o for o in ops.parts(out) if isinstance(o, torch.Tensor) and o.requires_grad]
    return leaves, outs


def observe(torch, path, call):
    """What one call saves; None where nothing requires grad."""
    log = Log()
    leaves, outs = under_hooks(torch, path, call, log)
    if not outs or not leaves:
        return None
    node = outs[0].grad_fn
    seen = {"node": node.name(), "packed": log.packed, "attributes": attributes(torch, node)}
    seen["raw"] = sorted(n for n in dir(node) if n.startswith("_raw_saved_"))
    seen["names"] = names(node, log)
    log.unpacked.clear()
    first = ops.attempt(lambda: ops.gradients(torch, outs, leaves, False))
    seen["unpacked"] = list(log.unpacked)
    seen["changed"] = changed(torch, path, call) if isinstance(first, list) else first
    return seen


def attributes(torch, node):
    """{name: value} of the `_saved_*` that are no tensors, types of the others."""
    out = {}
    for name in sorted(n for n in dir(node) if n.startswith("_saved_")):
        value = ops.attempt(lambda name=name: getattr(node, name))
        out[name] = "tensor" if isinstance(value, torch.Tensor) else encode(torch, value)
    return out


def names(node, log):
    """[name] of the saved tensors in the order in which they were packed."""
    found = {}
    for name in (n for n in dir(node) if n.startswith("_saved_")):
        log.unpacked.clear()
        ops.attempt(lambda name=name: getattr(node, name))
        if log.unpacked:
            found[name] = list(log.unpacked)
    return sorted(found.items(), key=lambda pair: pair[1])


def changed(torch, path, call):
    """Gradients where what is unpacked is not what was packed."""
    leaves, outs = under_hooks(torch, path, call, Log(1.25))
    found = ops.attempt(lambda: ops.gradients(torch, outs, leaves, False))
    return [encode(torch, g) for g in found] if isinstance(found, list) else found


def answer(torch, entry):
    """torch's answers to the first calls of an entry."""
    return {"hash": ops.stamp(entry), "calls": [ops.attempt(lambda c=c: observe(torch, entry["path"], c)) for c in entry["calls"][:MOST]]}


def main():
    """Record what torch answers."""
    torch = importlib.import_module("torch")
    warnings.simplefilter("ignore")
    write(ANSWERS, {key: answer(torch, entry) for key, entry in json.loads(ops.CALLS.read_text()).items()})


if __name__ == "__main__":
    main()
