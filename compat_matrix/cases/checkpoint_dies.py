"""Graphs of checkpoints inside passes inside checkpoints die with their results, also where others of the same record live on."""

import weakref

from compat_matrix.case import case


def _slope(torch, fn):
    def run(x):
        with torch.enable_grad():
            return torch.autograd.grad(fn(x), (x,), create_graph=True)[0]
    return run


class _Note:
    pass


def _alive(torch, fn):
    def scope():
        out = fn(torch.tensor(0.3, requires_grad=True))
        refs, seen, todo = [], {out.grad_fn}, [out.grad_fn]
        while todo:
            node = todo.pop(0)
            more = [n for n, _ in node.next_functions if n is not None and n not in seen]
            seen.update(more)
            todo += more
            note = _Note()
            refs.append(weakref.ref(note))
            node.metadata["note"] = note
        return refs

    return sum(r() is not None for r in scope())


@case("checkpoint_dies.nested")
def _(torch):
    def again(fn):
        return lambda x: torch.utils.checkpoint.checkpoint(fn, x, use_reentrant=False)

    def f(x):
        a, b = x.sin().exp().sin(), x.sin().exp().sin()
        torch.autograd.grad(a, x), torch.autograd.grad(b, x)
        return x.sin()

    def slope(fn):
        return _slope(torch, fn)

    x = torch.tensor(0.7, requires_grad=True)
    held = []
    for plain, inside in ((f, (again(f), again(again(f)))), (slope(f), (slope(again(f)), slope(again(again(f))))),
                          (slope(slope(f)), (slope(again(slope(f))), again(slope(slope(again(f)))), slope(again(slope(again(f)))))),
                          (slope(slope(slope(f))), (slope(again(slope(slope(again(f))))), slope(again(slope(again(slope(again(f))))))))):
        held.append(plain(x))
        for k, fn in enumerate(inside):
            yield f"{len(held)} {k}", torch.allclose(held[-1], fn(x)), _alive(torch, fn)
