"""torch.nn.CrossMapLRN2d: windows of every size, their ends, what its node holds."""

from compat_matrix.case import attempt, case


def _input(torch, channels, dtype):
    return (torch.arange(channels * 8, dtype=dtype).reshape(2, channels, 2, 2) * 0.37).sin().requires_grad_()


@case("cross_map.values")
def _(torch):
    for size in range(1, 7):
        for channels in (1, 2, 5, 8):
            x = _input(torch, channels, torch.float64)
            y = torch.nn.CrossMapLRN2d(size, alpha=0.5, beta=0.75, k=2.0)(x)
            yield f"{size} {channels}", y
            yield f"gradient {size} {channels}", attempt(lambda y=y, x=x: torch.autograd.grad((y * y).sum(), x))


@case("cross_map.defaults")
def _(torch):
    m, x = torch.nn.CrossMapLRN2d(5), _input(torch, 6, torch.float32)
    y = m(x)
    yield "node", y.grad_fn.name(), y.grad_fn.size, y.grad_fn.alpha, y.grad_fn.beta, y.grad_fn.k, len(y.grad_fn.saved_tensors)
    y.sum().backward()
    yield "run", repr(m), y, x.grad


@case("cross_map.refused")
def _(torch):
    m = torch.nn.CrossMapLRN2d(3)
    yield "three dims", attempt(lambda: m(torch.ones(4, 3, 3)))
    yield "integers", attempt(lambda: m(torch.ones(1, 3, 2, 2, dtype=torch.int64)))
    yield "empty", m(torch.ones(0, 3, 2, 2)).shape
    x = _input(torch, 4, torch.float64)
    yield "twice", attempt(lambda: torch.autograd.grad(m(x).sum(), x, create_graph=True))
