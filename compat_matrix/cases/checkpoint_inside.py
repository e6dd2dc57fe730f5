"""Checkpoints whose function runs a backward pass itself, early stops, and what is let go with their graphs."""

import weakref

from compat_matrix.case import case


def both(torch, stop):
    checkpoint = torch.utils.checkpoint

    def inner(x):
        out = x.sin().exp().sin()
        g, = torch.autograd.grad(out, x, create_graph=True)
        return g * x

    with checkpoint.set_checkpoint_early_stop(stop):
        x = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        out = checkpoint.checkpoint(inner, x, use_reentrant=False)
        yield "value", out
        g, = torch.autograd.grad(out, x, create_graph=True)
        yield "first", g
        out = checkpoint.checkpoint(lambda x: checkpoint.checkpoint(inner, x, use_reentrant=False), x, use_reentrant=False)
        yield "nested", torch.autograd.grad(out, x)


for stop in (True, False):
    case(f"checkpoint_inside.pass.{stop}", stop=stop)(both)


@case("checkpoint_inside.early_stop")
def _(torch):
    checkpoint, count = torch.utils.checkpoint, [0]

    def f(x):
        out = x.sin().cos()
        count[0] += 1
        return out.clone()

    def run(around, **own):
        count[0] = 0
        x = torch.tensor(1.0, requires_grad=True)
        if around is None:
            out = checkpoint.checkpoint(lambda x: after(f(x)), x, use_reentrant=False, **own)
        else:
            with checkpoint.set_checkpoint_early_stop(around):
                out = checkpoint.checkpoint(lambda x: after(f(x)), x, use_reentrant=False, **own)
        done[0] = 0
        out.backward()
        return count[0], done[0]

    done = [0]

    def after(x):
        done[0] += 1
        return x

    for around in (None, True, False):
        for own in ({}, {"early_stop": True}, {"early_stop": False}):
            yield f"{around} {own}", run(around, **own)


class Note:
    pass


def noted(torch, f):
    """What is left of notes at the nodes of f's graph when it is gone."""
    x = torch.tensor(0.5, requires_grad=True)
    found, todo, refs = set(), [f(x).grad_fn], []
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found.add(node)
        node.metadata["note"] = note = Note()
        refs.append(weakref.ref(note))
        todo += [n for n, _ in node.next_functions if n is not None]
    return refs


@case("checkpoint_inside.notes")
def _(torch):
    def f(x):
        return x.sin().exp().sin()

    def checkpointed(x):
        return torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)

    def gradient(x):
        return torch.autograd.grad(checkpointed(x), x, create_graph=True)[0]

    for name, g in {"plain": f, "checkpointed": checkpointed, "gradient": gradient}.items():
        yield name, all(r() is None for r in noted(torch, g))
