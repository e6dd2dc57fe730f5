"""Backward passes over random graphs with hooks of all kinds: in which order what is called, what `.grad` is then, and how a pass fails."""

import random

from compat_matrix.case import case


def _functions(torch):
    class Two(torch.autograd.Function):
        """a b and a + b; `gone`: of which inputs the gradient is undefined, as bits."""

        @staticmethod
        def forward(ctx, a, b, note, gone):
            ctx.save_for_backward(a, b)
            ctx.note, ctx.gone = note, gone
            return a * b, a + b

        @staticmethod
        def backward(ctx, g, h):
            ctx.note()
            a, b = ctx.saved_tensors
            return None if ctx.gone & 1 else g * b + h, None if ctx.gone & 2 else g * a + h, None, None

    class One(torch.autograd.Function):
        """A copy; undefined gradients come as None."""

        @staticmethod
        def forward(ctx, a, note, gone):
            ctx.set_materialize_grads(False)
            ctx.note, ctx.gone = note, gone
            return a.clone()

        @staticmethod
        def backward(ctx, g):
            ctx.note("none" if g is None else "")
            return None if ctx.gone else g, None, None

    return Two, One


class Graph:
    """A graph of vectors of two elements over some leaves, grown by chance; `notes` is what its hooks saw."""

    def __init__(self, torch, seed, writes):
        self.torch, self.r, self.writes, self.notes, self.values = torch, random.Random(seed), writes, [], []
        self.Two, self.One = _functions(torch)
        self.leaves = [torch.tensor([0.5 + 0.1 * i, 1.0 - 0.2 * i], requires_grad=True) for i in range(self.r.randint(2, 4))]
        if self.r.random() < 0.3:
            self.leaves[0].grad = torch.ones(2)
        for i in range(self.r.randint(4, 11)):
            self.grow(i)
        if self.r.random() < 0.3:
            self.r.choice(self.leaves).register_hook(lambda g: self.note("leaf"))
        if self.r.random() < 0.3:
            self.r.choice(self.leaves).register_post_accumulate_grad_hook(lambda p: self.note("after"))

    def note(self, what):
        self.notes.append(what + " " + "".join("." if p.grad is None else "x" for p in self.leaves))

    def pick(self):
        return self.r.choice(self.leaves) if not self.values or self.r.random() < 0.45 else self.r.choice(self.values[-3:])

    def grow(self, i):
        torch, r, pick = self.torch, self.r, self.pick
        made = (
            lambda: pick() * pick(), lambda: pick() * pick(), lambda: pick() + pick(), lambda: pick().sin(), lambda: pick().exp(),
            lambda: (pick() * 0.9).mul_(pick()), lambda: torch.stack(pick().unbind()[::-1]), lambda: pick().view(2, 1).view(2),
            lambda: r.choice(self.Two.apply(pick(), pick(), lambda: self.note(f"two {i}"), r.choice((0, 0, 0, 1, 2, 3)))),
            lambda: self.One.apply(pick(), lambda said="": self.note(f"one {i} {said}"), r.random() < 0.3),
            lambda: torch.cat([pick()[:1], pick()[1:]]), lambda: self.written(pick().clone()), lambda: self.read(), lambda: self.stepped())
        y = r.choice(made)()
        if y is not None:
            self.watch(y, i)
            self.values.append(y)

    def written(self, y):
        y[0] = self.r.choice(self.leaves)[1]
        return y

    def read(self):
        if self.values:
            self.values[-1].sum().item()

    def stepped(self):
        leaf = self.r.choice(self.leaves)
        if self.writes:
            with self.torch.no_grad():
                leaf.mul_(1.01)

    def watch(self, y, i):
        leaf, kind = self.r.choice(self.leaves), self.r.randrange(16)

        def register(g):
            self.note(f"registers {i}")
            leaf.register_hook(lambda g: self.note("late"))

        def write(g):
            self.note(f"writes {i}")
            with self.torch.no_grad():
                leaf.mul_(1.1)

        def take(g):
            self.note(f"takes {i}")
            if leaf.grad is not None:
                leaf.grad = None if i % 2 else leaf.grad * 2

        def inside(g):
            self.note(f"inside {i}")
            with self.torch.enable_grad():
                (leaf * leaf).sum().backward()

        def fail(g):
            self.note(f"fails {i}")
            raise ValueError("no further")

        if kind < 2:
            y.register_hook(lambda g: self.note(f"tensor {i}"))
        elif kind == 2:
            y.retain_grad()
        elif kind == 3:
            y.grad_fn.register_prehook(lambda g: self.note(f"before {i}"))
        elif kind == 4:
            y.grad_fn.register_hook(lambda a, g: self.note(f"node {i}"))
        elif kind == 5:
            y.register_hook(register)
        elif kind == 6 and self.writes:
            y.register_hook(write)
        elif kind == 7:
            y.register_hook(take)
        elif kind == 8:
            y.register_hook(inside)
        elif kind == 9 and self.writes:
            y.register_hook(fail)

    def run(self):
        """Passes from some of the values; what they raise is noted."""
        r, torch, options = self.r, self.torch, {}
        if (z := r.random()) < 0.35:
            options["retain_graph" if z < 0.2 else "create_graph"] = True
        chosen = {"inputs": r.sample(self.leaves, r.randint(1, len(self.leaves)))} if r.random() < 0.2 else {}
        roots = [y for y in r.sample(self.values, min(len(self.values), r.choice((1, 1, 1, 2)))) if y.requires_grad]
        found = []
        for turn in range(2 if roots else 0):
            try:
                if r.random() < 0.2:
                    gs = torch.autograd.grad([y.sum() for y in roots], self.leaves, allow_unused=True, **options)
                    found.append([None if g is None else g.detach() for g in gs])
                else:
                    torch.autograd.backward([y.sum() for y in roots], **options, **chosen)
            except (RuntimeError, ValueError) as e:
                self.notes.append(f"{type(e).__name__}: {str(e)[:60]}")
            self.note(f"end {turn}")
        return found


@case("random_passes.hooks")
def _(torch):
    yield from _seen(torch, range(50), False)


@case("random_passes.hooks that write and fail")
def _(torch):
    yield from _seen(torch, range(100, 140), True)


def _seen(torch, seeds, writes):
    for seed in seeds:
        graph = Graph(torch, seed, writes)
        found = graph.run()
        yield str(seed), graph.notes, found, [None if p.grad is None else p.grad.detach() for p in graph.leaves]
