"""Programs put together by a fixed rule from views, in-place writes, modes, detach and backward: every step's outcome and every tensor's state at the end."""

from compat_matrix.case import attempt, case

MADE = (
    "{0}[0]", "{0}[1:]", "{0}[:1]", "{0}.view(-1)", "{0}.t()", "{0}.unsqueeze(0)", "{0}.detach()", "{0}.unbind(0)[0]", "{0}.split(1)[-1]",
    "{0}.chunk(2)[0]", "{0}.expand(2, *{0}.shape)", "{0}.transpose(0, -1)", "{0}[..., 0]", "{0}.view_as({0})", "{0}.narrow(0, 0, 1)",
    "{0}.unsafe_chunk(2)[0]", "{0}.squeeze()", "{0} * 2.0", "{0} + {1}", "{0} * {1}", "{0}.clone()", "{0}.exp()", "{0}.relu()", "{0} * {0}",
    "Same.apply({0})", "First.apply({0})")
WRITTEN = (
    "{0}.mul_(2.0)", "{0}.add_({1})", "{0}.mul_({1})", "{0}.zero_()", "{0}.copy_({1})", "{0}.fill_(3.0)", "{0}.sin_()", "{0}.sigmoid_()",
    "{0}.__setitem__(0, 5.0)", "{0}.__setitem__(Ellipsis, {1})", "{0}.__setitem__(0, {1})", "{0}.relu_()", "{0}.mul_(w)", "{0}.unsqueeze_(0)",
    "{0}.requires_grad_()", "{0}.detach_()", "{0}.retain_grad()", "{0}.detach().add_(1.0)", "{0}.clamp_(-1.0, 1.0)", "{0}.logical_not_()",
    "{0}.detach().__setitem__(0, 2.0)", "({0} * {1}).sum().backward(retain_graph=True)")


class Choices:
    """Numbers from a rule that is the same everywhere."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 2**32 + 12345

    def __call__(self, n):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state >> 8) % n


def functions(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.n = x.shape
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            return g.expand(ctx.n) * 3
    return {"Same": Same, "First": First}


def steps(seed):
    """[(name of what is made or None, code, whether under no_grad)]"""
    pick, names, out = Choices(seed), ["a", "b", "c", "y"], []
    for i in range(9):
        recent = names[-4:] if pick(3) else names
        x, z = recent[pick(len(recent))], names[pick(len(names))]
        quiet = pick(4) == 0
        if pick(2):
            out.append((f"t{i}", MADE[pick(len(MADE))].format(x, z), quiet))
            names.append(f"t{i}")
        else:
            code = WRITTEN[pick(len(WRITTEN))].format(x, z)
            out.append((None, code, quiet and "backward" not in code))
    return out


def look(t):
    return (attempt(lambda: t.requires_grad), attempt(lambda: t.is_leaf), attempt(lambda: t.grad_fn.name() if t.grad_fn else None), t._version,
            t._is_view(), t.detach().clone())


def program(torch, seed):
    names = {"a": torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=torch.float64, requires_grad=True),
             "b": torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64, requires_grad=bool(seed % 2)), "c": torch.zeros(2, 3, dtype=torch.float64),
             "w": torch.tensor(1.25, dtype=torch.float64, requires_grad=True), **functions(torch)}
    names["y"] = names["a"] * 1.0
    for i, (name, code, quiet) in enumerate(steps(seed)):
        def go(code=code):
            return eval(code, names)  # noqa: S307
        with torch.no_grad() if quiet else torch.enable_grad():
            done = attempt(lambda: go() is None)
            if name is not None:
                names[name] = go() if done is False else names["y"]
        yield f"{i} {code}", done
    found = [n for n in names if n[0] in "abcyt"]
    yield "states", [look(names[n]) for n in found]
    done = attempt(lambda: sum((names[n] * names[n]).sum() for n in found).backward())
    yield "backward", done
    if done is None:
        yield "gradients", [names[n]._grad for n in "abwy"]


for number in range(160):
    case(f"views.programs.{number:03}", seed=number)(program)
