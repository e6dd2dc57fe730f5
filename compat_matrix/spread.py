"""Entries of the op table called as a user calls them with tensors that lie on several devices: the values and gradients must be those of one device, and
each gradient must lie as its leaf does.
"""

import warnings

from compat_matrix import columns, ops
from compat_matrix.compare import differences
from compat_matrix.observe import encode

DEVICES = 8


def column(torch, entry):
    """What differs for the first call that has something to spread; None where there is no such call."""
    for call in entry["calls"]:
        parts = count(call)
        if parts:
            return wrong(torch, entry["path"], call, parts)
    return None


def count(call):
    """The most parts, up to DEVICES, in which some tensor of a call can lie; 0 for none."""
    sizes = [shape[0] for shape in shapes([*call["args"], *call["kwargs"].values()]) if shape]
    return max((n for n in range(2, DEVICES + 1) if any(s and s % n == 0 for s in sizes)), default=0)


def shapes(values):
    """The shapes of the tensors in nested arguments."""
    for x in values:
        if isinstance(x, dict):
            yield from [x["shape"]] if "tensor" in x else shapes(x.get("list", x.get("tuple", ())))


def wrong(torch, path, call, parts):
    """Lines about a call with its tensors in so many parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = ops.attempt(lambda: answer(torch, path, call, lambda t: t))
        spread = ops.attempt(lambda: answer(torch, path, call, lambda t: distributed(torch, t, parts)))
    return differences(alone, spread, f"{parts} devices")


def distributed(torch, t, parts):
    """A leaf of the same values, split along its first dim where that can be."""
    from torchlike_autograd.distributed import tensor

    mesh = torch.distributed.init_device_mesh("cpu", (parts,))
    where = tensor.Shard(0) if t.ndim and t.shape[0] and t.shape[0] % parts == 0 else tensor.Replicate()
    return tensor.distribute_tensor(t.detach(), mesh, [where]).requires_grad_(t.requires_grad)


def answer(torch, path, call, place):
    """The values of a call and its gradients, and which of these do not lie as their leaves do."""
    args, kwargs = columns.built(torch, call, place)
    leaves = [t for t in tensors(torch, [*args, *kwargs.values()]) if t.requires_grad]
    out = columns.seeded(torch, 0, lambda torch: ops.find(torch, path)(*args, **kwargs))
    outs = [o for o in ops.parts(out) if isinstance(o, torch.Tensor)]
    seen = {"out": [encode(torch, o.detach()) for o in outs], "first": None, "astray": []}
    live = [o for o in outs if o.requires_grad]
    if live and leaves:
        given = ops.gradients(torch, live, leaves, False)
        seen["first"] = [encode(torch, g) for g in given]
        seen["astray"] = [i for i, (g, t) in enumerate(zip(given, leaves)) if g is not None and lies(g) != lies(t)]
    return seen


def lies(t):
    return str(getattr(t, "placements", None))


def tensors(torch, values):
    for x in values:
        if isinstance(x, torch.Tensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from tensors(torch, x)
