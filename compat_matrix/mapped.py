"""Calls of the op table under `torch.func.vmap`: a batch of two in place of every tensor that takes part in gradients.

The batch is the tensor as it stands and three quarters of it, which keeps it within its domain; it lies in the first dim, for every other call in the
last.  Asked are the results, the gradients of their weighted sum, and the tangents, each taken under the map.
"""

from compat_matrix import ops
from compat_matrix.observe import encode

CALLS = 2  # samples of each entry


class Place:
    """Stands in a call for the nth tensor of the batch."""

    def __init__(self, n):
        self.n = n


def places(torch, built):
    """(args, kwargs with places, the tensors that they stand for); `built(change)` builds the call with its tensors changed."""
    found = []

    def change(t):
        if not t.requires_grad:
            return t
        found.append(t.detach())
        return Place(len(found) - 1)
    return *built(change), found


def filled(value, tensors):
    """Nested arguments with the tensors at their places."""
    if isinstance(value, Place):
        return tensors[value.n]
    if type(value) in (list, tuple):
        return type(value)(filled(v, tensors) for v in value)
    return value


def mapped(torch, path, built, last):
    """Results, gradients and tangents of a call under the map, as plain data; "none" where nothing takes part in gradients."""
    args, kwargs, tensors = places(torch, built)
    if not tensors:
        return "none"

    def run(*given):
        out = ops.find(torch, path)(*filled(args, given), **{k: filled(v, given) for k, v in kwargs.items()})
        return tuple(o for o in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(o, torch.Tensor))

    def loss(*given):
        return sum(weighted(torch, o) for o in run(*given) if o.is_floating_point() or o.is_complex())

    def tangents(*given):
        return torch.func.jvp(run, given, tuple(ops.weights(torch, t) for t in tensors))[1]

    asked = {"results": run, "tangents": tangents}
    if not any(t.is_complex() for t in tensors):
        asked["gradients"] = torch.func.grad(loss, tuple(range(len(tensors))))
    dim = -1 if last else 0
    batches = [torch.stack([t, t * 0.75], dim) for t in tensors]
    return {name: ops.attempt(lambda f=f: together(torch, f, batches, dim)) for name, f in asked.items()}


def weighted(torch, o):
    total = (o * ops.weights(torch, o.detach())).sum()
    return total.real if total.is_complex() else total


def together(torch, f, batches, dim):
    """What f gives for the batch, from one seed on."""
    torch.manual_seed(0)
    return [encode(torch, o.detach()) for o in torch.func.vmap(f, in_dims=dim, randomness="different")(*batches)]
