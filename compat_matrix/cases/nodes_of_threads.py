"""Graphs that several threads made: gradients, and in which order hooks see their nodes (PyTorch numbers the nodes of each thread from 0)."""

import threading

from compat_matrix.case import case

_PLANS = {
    "here, then in a thread": [("a", 3, False, None), ("b", 2, True, None)],
    "in a thread, then here": [("b", 2, True, None), ("a", 3, False, None)],
    "in two threads": [("a", 2, True, None), ("b", 4, True, None)],
    "one on the other": [("a", 2, True, None), ("b", 4, False, "a"), ("c", 3, True, "b")],
    "two of two": [("a", 2, False, None), ("b", 4, True, "a"), ("c", 3, False, None), ("d", 3, True, "c")]}


def _run(torch, plan):
    heard, ends, base = [], {}, torch.ones(2, requires_grad=True)

    def work(name, steps, x):
        for i in range(steps):
            x = x * 1.5
            x.grad_fn.register_prehook(lambda _, n=f"{name}{i}": heard.append(n))
        ends[name] = x

    for name, steps, apart, source in plan:
        start = base if source is None else ends[source]
        if apart:
            thread = threading.Thread(target=work, args=(name, steps, start))
            thread.start()
            thread.join()
        else:
            work(name, steps, start)
    torch.stack(list(ends.values())).sum().backward()
    return heard, base.grad


@case("nodes_of_threads.order")
def _(torch):
    for name, plan in _PLANS.items():
        heard, grad = _run(torch, plan)
        yield f"{name}: gradient", grad, sorted(heard)
        yield name, heard
