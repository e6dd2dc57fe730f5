"""torch's own norm below `torch.norm`: nodes, saved attributes and words where it is called; ranks and tolerances of other dtypes; pools of planes alone."""

from ..case import case


def _told(call):
    try:
        return call()
    except (RuntimeError, TypeError, IndexError, ValueError) as e:
        return type(e).__name__, str(e)


def _names(t):
    out, f = [], t.grad_fn
    while f is not None:
        out.append(f.name())
        f = f.next_functions[0][0] if f.next_functions else None
    return out


@case("norms_by_node.nodes")
def _(torch):
    x = torch.tensor([[0.5, 1.0, -2.0], [3.0, 0.0, 0.25]], dtype=torch.float64, requires_grad=True)
    norm = torch.ops.aten.norm
    calls = {"all": lambda: norm(x, 3), "dims": lambda: norm(x, 3, [0]), "dtype": lambda: norm.ScalarOpt_dtype(x, 3, dtype=torch.float64),
             "both": lambda: norm.ScalarOpt_dim_dtype(x, 3, [0], True, dtype=torch.float64), "below": lambda: torch._VF.norm(x, 2), "frobenius": lambda: torch.frobenius_norm(x, 1),
             "except": lambda: torch.norm_except_dim(x, 2, -1), "except 0": lambda: torch.norm_except_dim(x, 2, 0), "except 1": lambda: torch.norm_except_dim(x, 2, 1)}
    for name, f in calls.items():
        y = f()
        node = next(n for n in (y.grad_fn, y.grad_fn.next_functions[0][0]) if "Norm" in n.name())
        (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        yield name, y, _names(y), sorted(k for k in dir(node) if k.startswith("_saved")), node._saved_p, g, torch.autograd.grad((g * g).sum(), x)[0]
    y = torch.rand(2, 3, 4, requires_grad=True)
    yield "in the middle", _names(torch.norm_except_dim(y, 2, 1))


@case("norms_by_node.words")
def _(torch):
    for d in (torch.int64, torch.bool, torch.float16):
        x = torch.eye(3).to(d)
        for hermitian in (False, True):
            for kw in ({}, {"tol": 1}, {"rtol": 1.0}, {"atol": 1.0}, {"atol": 1.0, "rtol": 1.0}):
                yield f"rank {d} {hermitian} {list(kw)}", _told(lambda: torch.linalg.matrix_rank(x, hermitian=hermitian, **kw))
        yield f"pinv {d}", _told(lambda: torch.linalg.pinv(x, atol=1.0)), _told(lambda: torch.linalg.pinv(x, rtol=1.0))
        yield f"except {d}", _told(lambda: torch.norm_except_dim(x, 2, 0)) if d is not torch.float16 else None


@case("norms_by_node.pools")
def _(torch):
    F = torch.nn.functional
    for shape in ((3, 3), (3,), (2, 3, 3)):
        for d in (torch.float32, torch.int64):
            x = torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape).to(d)
            for n in (1, 2, 3):
                for kind in ("avg", "max"):
                    for size in (1, 2, None, (None,) * n):
                        yield f"{kind}{n} {shape} {d} {size}", _told(lambda: getattr(F, f"adaptive_{kind}_pool{n}d")(x, size))
    x = torch.arange(12.0).reshape(1, 2, 6)
    yield "views", [F.max_pool1d(t, 2)._is_view() for t in (x, x[0], x.half())], F.max_pool1d(x.requires_grad_(), 2)._is_view()
