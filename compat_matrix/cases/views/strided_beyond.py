"""as_strided of a view over memory that the view does not show: the gradient is that of what it shows, until something is written."""

from compat_matrix.case import attempt
from compat_matrix.probes import each

VIEWS = {
    "row": "y[0].as_strided((3,), (1,))", "beyond a row": "y[0].as_strided((6,), (1,))", "select": "y.select(0, 0).as_strided((2, 2), (1, 2), 1)",
    "column": "y[:, 1].as_strided((2, 2), (3, 1))", "base": "y.as_strided((6,), (1,))", "from the start": "y[1].as_strided((6,), (1,), 0)",
    "transposed": "y.t().as_strided((6,), (1,))", "reshaped": "y[0].view(-1).as_strided((2, 2), (1, 3))", "copy": "y[0].clone().as_strided((2, 2), (1, 1))",
    "slice": "y[:1].as_strided((2, 2), (1, 1))", "expanded": "y[0].expand(2, 3).as_strided((2, 2), (3, 1), 0)",
    "transposed rows": "y.t()[1:].as_strided((2, 2), (3, 1), 0)",
}


def _made(torch, expression, dtype):
    x = torch.arange(6).reshape(2, 3).to(dtype).requires_grad_()
    y = x + 1
    return x, y, eval(expression, {"y": y})


def beyond(torch, expression):
    for dtype in (torch.float64, torch.float16, torch.complex64):
        x, y, r = _made(torch, expression, dtype)
        yield f"{dtype}", r, r._base is y, r.grad_fn.name(), [g + 0 for g in torch.autograd.grad((r * r.conj()).real.sum(), [x, y])]
    x, y, r = _made(torch, expression, torch.float64)
    g, = torch.autograd.grad((r**3).sum(), x, create_graph=True)
    yield "second", attempt(lambda: torch.autograd.grad((g**2).sum(), x))
    x, y, r = _made(torch, expression, torch.float64)
    y.mul_(2)
    yield "base written", r, r.grad_fn.name(), torch.autograd.grad((r * r).sum(), x)
    x, y, r = _made(torch, expression, torch.float64)
    if len({i for i in r.detach().flatten().tolist()}) == r.numel():  # no element at two places
        r.mul_(2)
        yield "written", r, y, r._version, torch.autograd.grad((r * r).sum(), [x, y], retain_graph=True), torch.autograd.grad((y * y).sum(), x)


each("views.strided_beyond", beyond, VIEWS)
