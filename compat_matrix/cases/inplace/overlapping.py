"""Writes to views whose elements lie over each other in memory: sums add up, what is written last stays."""

from compat_matrix.probes import each

VIEWS = {"unfold": "b.unfold(0, 2, 1)", "as_strided": "b.as_strided((3, 2), (1, 1))", "further on": "b.as_strided((3, 2), (1, 1), 1)",
         "side by side": "b.as_strided((2, 2), (2, 1))", "unfold apart": "b.unfold(0, 2, 2)", "of a matrix": "b.reshape(1, 5).unfold(1, 3, 1)[0]"}
WRITES = {"add_": "w.add_(1)", "add_ tensor": "w.add_(x)", "alpha": "w.add_(x, alpha=2)", "sub_": "w.sub_(x)", "iadd": "w.__iadd__(x)", "row": "w.add_(x[0])",
          "isub": "w.__isub__(3)", "integers": "w.add_(torch.ones(1, dtype=torch.int64))", "fill_": "w.fill_(7)", "zero_": "w.zero_()", "clamp_": "w.clamp_(1, 3)",
          "one row": "w[0].add_(x[0])"}


def written(torch, expression):
    view, write = expression.split(" | ")
    for grad in (False, True):
        start = torch.arange(5.0, dtype=torch.float64).requires_grad_(grad)
        b = start.clone()
        w = eval(view, {"b": b})
        x = torch.linspace(1, 2, w.numel(), dtype=torch.float64).reshape(w.shape).requires_grad_(grad)
        eval(write, {"w": w, "x": x, "torch": torch})
        yield f"base {grad}", b.detach(), w.detach(), b._version
        if grad and "_(1)" not in write and "x" in write:
            yield "gradients", torch.autograd.grad((b * torch.arange(1.0, 6.0, dtype=torch.float64)).sum(), (start, x))


each("inplace.overlapping", written, {f"{v}, {w}": f"{VIEWS[v]} | {WRITES[w]}" for v in VIEWS for w in WRITES})
