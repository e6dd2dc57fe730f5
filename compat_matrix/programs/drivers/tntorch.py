"""Tensors kept as trains of cores: made, cut, added, rounded, and fitted by gradients of the cores."""

import tntorch as tn
import torch


def program():
    torch.set_default_dtype(torch.float64)
    full = torch.rand(4, 5, 3, 4)
    train = tn.Tensor(full, ranks_tt=3)
    yield "from a tensor", train.ranks_tt, train.torch(), tn.relative_error(full, train)
    tucker = tn.Tensor(full, ranks_tucker=2)
    yield "tucker", tucker.ranks_tucker, tucker.torch()
    a, b = tn.rand([4, 5, 3], ranks_tt=2), tn.rand([4, 5, 3], ranks_tt=3)
    total, product = a + 2 * b - 1, a * b
    yield "arithmetic", total.ranks_tt, total.torch(), product.torch(), tn.dot(a, b), (-a).torch()
    yield "cut", a[1].torch(), b[:, 2:4, 0].torch(), b[..., -1].torch(), a[:, None, 0].torch().shape
    yield "rounded", tn.round_tt(total, eps=1e-10).ranks_tt, tn.round_tt(total, rmax=2).torch(), tn.round_tucker(product, eps=1e-8).torch()
    yield "moments", tn.mean(a), tn.var(b), tn.norm(a), tn.sum(a, dim=1).torch(), tn.dist(a, b)
    yield "derivatives", tn.partial(a, dim=0, order=1).torch(), tn.laplacian(b).torch(), [slope.torch() for slope in tn.gradient(a, dim=[1, 2])]
    x, y = tn.meshgrid([torch.linspace(0, 1, 5)] * 2)
    yield "grid", (x * y).torch(), tn.cumsum(x, dim=0).torch()
    yield "anova", tn.sobol(b, tn.only(tn.symbols(3)[0])), tn.anova_decomposition(a).torch()
    fitted = tn.rand([4, 5, 3, 4], ranks_tt=2, requires_grad=True)
    optimizer = torch.optim.Adam(fitted.cores, lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = tn.relative_error(full, fitted)
        loss.backward()
        optimizer.step()
        yield "fit", loss, [core.grad for core in fitted.cores]
