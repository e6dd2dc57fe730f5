"""torch.utils.flop_counter: floating point operations by module and operator, forward and backward."""

import importlib

from compat_matrix.case import case, raises, warned


def _counting(torch):
    return importlib.import_module(f"{torch.__name__}.utils.flop_counter")


def _net(torch):
    torch.manual_seed(0)
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.up, self.head = nn.Conv2d(1, 4, 3, padding=1), nn.ConvTranspose2d(4, 2, 2, stride=2), nn.Linear(2 * 144, 5)

        def forward(self, x):
            return self.head(self.up(torch.relu(self.conv(x))).flatten(1))

    return Net()


def _counts(counter):
    return {k: {str(op): n for op, n in sorted(v.items(), key=str)} for k, v in sorted(counter.get_flop_counts().items())}


@case("flop_counter.network")
def _(torch):
    FlopCounterMode = _counting(torch).FlopCounterMode
    net, x = _net(torch), torch.randn(2, 1, 6, 6)
    with FlopCounterMode(display=False) as counter:
        out = net(x)
        forward = counter.get_total_flops()
        out.sum().backward()
    yield "forward", forward
    yield "counts", _counts(counter)
    yield "total", counter.get_total_flops()
    yield "gradient", net.conv.weight.grad
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net(x)
    yield "without gradients", _counts(counter)
    x.requires_grad_()
    with FlopCounterMode(display=False) as counter:
        net(x).sum().backward()
    yield "of the input too", _counts(counter)
    with FlopCounterMode(display=False) as counter:
        torch.autograd.grad(net(x).sum(), net.head.weight)
    yield "of one weight", _counts(counter)
    with counter:
        pass
    yield "entered again", _counts(counter)


@case("flop_counter.products")
def _(torch):
    FlopCounterMode = _counting(torch).FlopCounterMode
    a, b = torch.ones(2, 3, 4, requires_grad=True), torch.ones(2, 4, 5)
    for name, f in (("bmm", lambda: a @ b), ("einsum", lambda: torch.einsum("bij,bjk->bik", a, b)), ("baddbmm", lambda: torch.baddbmm(torch.ones(2, 3, 5), a, b)),
                    ("mm of three dims", lambda: a @ b[0]), ("vector", lambda: a[0] @ b[0, :, 0]), ("elementwise", lambda: a * 2),
                    ("linear", lambda: torch.nn.functional.linear(a, b[0].T)), ("attention", lambda: torch.nn.MultiheadAttention(4, 2)(a, a, a)[0])):
        with FlopCounterMode(display=False) as counter:
            out = f()
            forward = counter.get_total_flops()
            out.sum().backward()
        yield name, forward, counter.get_total_flops()


@case("flop_counter.formulas")
def _(torch):
    counting = _counting(torch)
    with counting.FlopCounterMode(display=False, custom_mapping={torch.ops.aten.sin: lambda shape, out_shape=None, **more: 3 * shape[0]}) as counter:
        torch.ones(2).sin().cos()
    yield "own", _counts(counter)
    yield "shapes", counting.conv_flop_count([2, 1, 6, 6], [4, 1, 3, 3], [2, 4, 6, 6]), counting.sdpa_flop_count((1, 2, 4, 8), (1, 2, 5, 8), (1, 2, 5, 3))
    yield "words", [counting.convert_num_with_suffix(n, counting.get_suffix_str(n)) for n in (0, 999, 9999, 99999, 12345678, 10 ** 13)]
    yield "shares", counting.convert_to_percent_str(1, 3), counting.convert_to_percent_str(1, 0)
    yield "no operator", raises(lambda: counting.register_flop_formula(3)(lambda: 0))
    yield "twice", raises(lambda: counting.register_flop_formula(torch.ops.aten.mm)(lambda: 0))
    yield "do not fit", raises(lambda: counting.mm_flop((2, 3), (4, 5)))
    yield "mods", warned(lambda: counting.FlopCounterMode(_net(torch)))


@case("flop_counter.attention_of_groups")
def _(torch):
    """Each head of keys and values may serve several of queries."""
    count = _counting(torch).sdpa_flop_count
    yield "served", count((2, 8, 5, 4), (2, 2, 6, 4), (2, 2, 6, 3)), count((2, 8, 5, 4), (2, 8, 6, 4), (2, 8, 6, 3))
    yield "heads", raises(lambda: count((2, 8, 5, 4), (2, 3, 6, 4), (2, 3, 6, 3)))
    yield "shapes", raises(lambda: count((2, 8, 5, 4), (1, 8, 6, 4), (2, 8, 6, 3)))
