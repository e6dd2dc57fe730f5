"""What modules write to their buffers while a transformed function calls them: refused, and nothing is written."""

from compat_matrix.case import attempt, case


class _Tools:
    """The transforms, each as f -> g with g(x)."""

    def __init__(self, torch):
        self.all = {
            "grad": torch.func.grad, "jacrev": torch.func.jacrev, "vjp": lambda f: (lambda x: torch.func.vjp(f, x)[0]),
            "jvp": lambda f: (lambda x: torch.func.jvp(f, (x,), (x,))[1]),
        }


def _counting(torch):
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(3))

        def forward(self, x):
            self.seen.add_(x.mean(0))
            return (x * self.seen).sum()

    return Counting()


@case("func.module_writes.batch_norm")
def _(torch):
    x = torch.arange(12.0).reshape(4, 3)
    for name, transform in _Tools(torch).all.items():
        bn = torch.nn.BatchNorm1d(3)
        yield name, attempt(lambda: transform(lambda x: bn(x).pow(2).sum())(x))
        yield f"{name}: buffers", (bn.num_batches_tracked, bn.running_mean, bn.running_var)
        bn.eval()
        yield f"{name}: eval", transform(lambda x, bn=bn: bn(x).pow(2).sum())(x)


@case("func.module_writes.own_buffer")
def _(torch):
    x = torch.arange(12.0).reshape(4, 3)
    for name, transform in _Tools(torch).all.items():
        for how, called in (("module", lambda m: m), ("method", lambda m: m.forward), ("in a list", lambda m: torch.nn.Sequential(m))):
            m = _counting(torch)
            yield f"{name}, {how}", attempt(lambda: transform(called(m))(x))
            yield f"{name}, {how}: buffer", m.seen


@case("func.module_writes.given_buffers")
def _(torch):
    bn, x = torch.nn.BatchNorm1d(3), torch.arange(12.0).reshape(4, 3)

    def loss(x, buffers):
        return torch.func.functional_call(bn, buffers, (x,)).pow(2).sum()

    given = {k: v.clone() for k, v in bn.named_buffers()}
    yield "gradient", attempt(lambda: torch.func.grad(loss)(x, given))
    yield "own", (bn.num_batches_tracked, bn.running_mean)
