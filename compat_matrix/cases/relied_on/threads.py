"""Backward passes from many threads: own graphs and shared ones, hooks, Functions, saved tensors, anomaly mode, inference mode, graphs of gradients."""

import threading

from compat_matrix.case import attempt, case, error

THREADS, TURNS = 8, 5


def together(work, n=THREADS):
    """What `work(k)` gives or raises in each of n threads that start at once."""
    found, gate = [None] * n, threading.Barrier(n)

    def go(k):
        gate.wait()
        try:
            found[k] = work(k)
        except Exception as e:
            found[k] = error(e)
    threads = [threading.Thread(target=go, args=(k,)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def doubling(torch, log=None):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if log is not None:
                log.append(threading.get_ident())
            return g * 2 * ctx.saved_tensors[0] / ctx.saved_tensors[0]
    return Double.apply


@case("relied_on.threads.own graphs")
def _(torch):
    double = doubling(torch)

    def work(k):
        out = []
        for turn in range(TURNS):
            x, seen = leaf(torch, 1.0 + k, 2.0, 3.0), []
            y = double(x.exp() * (k + 1))
            y.register_hook(lambda g, seen=seen: seen.append(threading.get_ident()))
            y.grad_fn.register_hook(lambda *a, seen=seen: seen.append(threading.get_ident()))
            (y * turn + x.sin()).sum().backward()
            out.append((x.grad.sum(), set(seen) == {threading.get_ident()}))
        return out
    yield "gradients", together(work)

    def second(k):
        x = leaf(torch, 1.0 + k, 2.0)
        g, = torch.autograd.grad((x ** 3 * (k + 1)).sum(), x, create_graph=True)
        h, = torch.autograd.grad(g.sum(), x, create_graph=True)
        (g * h).sum().backward()
        return g.detach(), h.detach(), x.grad
    yield "second order", together(second)


@case("relied_on.threads.shared leaves")
def _(torch):
    w = leaf(torch)
    double = doubling(torch)

    def work(k):
        for _ in range(TURNS):
            (double(w * (k + 1))).sum().backward()
    yield "errors", [e for e in together(work) if e is not None]
    yield "sum", w.grad
    after = []
    w.grad = None
    h = w.register_post_accumulate_grad_hook(lambda p: after.append(threading.get_ident()))
    together(work)
    h.remove()
    yield "after accumulation", len(after), len(set(after)), w.grad


@case("relied_on.threads.shared graphs")
def _(torch):
    w, count = leaf(torch), []
    y = (w.exp() * 2).sin()
    y.register_hook(lambda g: count.append(1))
    z = y.sum()
    together(lambda k: z.backward(retain_graph=True))
    yield "retained", w.grad, len(count)
    w.grad = None
    u = (w * w).sum()
    found = [e for e in together(lambda k: u.backward()) if e is not None]
    yield "freed", {e["error"]["message"][:60] for e in found} <= {"Trying to backward through the graph a second time (or direc"}, len(found) < THREADS
    base = w.exp()

    def tail(k):
        return torch.autograd.grad((base * (k + 1)).sum(), w, retain_graph=True)[0]
    yield "one trunk", together(tail)
    g, = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
    yield "a gradient's graph", together(lambda k: torch.autograd.grad(g.sum() * (k + 1), w, retain_graph=True)[0])


@case("relied_on.threads.errors")
def _(torch):
    w = leaf(torch)

    def work(k):
        y = w * (k + 1)
        if k % 2:
            y.register_hook(lambda g: (_ for _ in ()).throw(ValueError(f"of {k}")))
        y.sum().backward()
        return "fine"
    yield "in the right thread", together(work)
    yield "the others' sum", w.grad

    def after(k):
        attempt(lambda: work(1))
        x = leaf(torch)
        (x * k).sum().backward()
        return torch.is_grad_enabled(), x.grad
    yield "after one", together(after)


@case("relied_on.threads.modes")
def _(torch):
    def work(k):
        switch = (torch.no_grad, torch.inference_mode, torch.enable_grad, torch.autograd.detect_anomaly)[k % 4]
        seen = []
        with switch():
            for _ in range(TURNS):
                seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled() if k % 4 == 3 else None))
                x = leaf(torch)
                seen.append(((x * 2).requires_grad, x.is_inference()))
        x = leaf(torch)
        (x * k).sum().backward()
        return seen, torch.is_grad_enabled(), torch.is_inference_mode_enabled(), x.grad
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "each its own", together(work)
    with torch.no_grad(), torch.autograd.set_multithreading_enabled(False):
        yield "new ones", together(lambda k: (torch.is_grad_enabled(), torch.autograd.is_multithreading_enabled()))

    def packed(k):
        log, x = [], leaf(torch)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append(("pack", k)) or t, lambda t: log.append(("unpack", k)) or t * (k + 1)):
            y = (x * x).sum()
        y.backward()
        return log, x.grad
    yield "saved tensors", together(packed)

    def unpacked(k):
        return torch.autograd.grad(shared.sum(), x, retain_graph=True)[0], threading.get_ident() in where
    x, where = leaf(torch), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: where.append(threading.get_ident()) or t):
        shared = x.exp() * x
    yield "unpacked where it runs", together(unpacked)


@case("relied_on.threads.nested and everything")
def _(torch):
    w = leaf(torch)
    double = doubling(torch)

    def work(k):
        class Inner(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                with torch.enable_grad():
                    t = leaf(torch, float(k), 1.0, 2.0)
                    double(t * t).sum().backward()
                return g * t.grad
        log = []
        x = leaf(torch)
        torch.autograd.graph.register_multi_grad_hook((x, w), lambda gs: log.append(sum(g is not None for g in gs)))
        for _ in range(TURNS):
            y = Inner.apply(x * w.detach()) + torch.utils.checkpoint.checkpoint(lambda x: x.exp(), x, use_reentrant=bool(k % 2))
            y.sum().backward()
        return x.grad, log
    yield "passes in passes", together(work)
    m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    with torch.no_grad():
        for p in m.parameters():
            p.copy_(torch.arange(p.numel()).view(p.shape) * 0.1)

    def step(k):
        for _ in range(TURNS):
            m(torch.full((2, 3), 0.1 * k)).sum().backward()
    yield "a module", [e for e in together(step) if e], [p.grad for p in m.parameters()]
