"""Of sparse tensors."""

from compat_matrix.case import case
from compat_matrix.cases.found_by_suites import _made


@case("found_by_suites.conjugates_of_sparse")
def _(torch):
    """Sparse tensors are conjugated at once."""
    for name, x in {"complex": torch.sparse_coo_tensor([[0, 1]], [1j, 2.], (3,)), "twice": torch.sparse_coo_tensor([[0, 0]], [1j, 2.], (3,)),
                    "real": torch.eye(2).to_sparse()}.items():
        for f in (torch.conj, torch.conj_physical, torch.resolve_conj, torch.resolve_neg):
            out = f(x)
            yield f"{name} {f.__name__}", out is x, out.is_coalesced(), out.is_conj(), out._indices(), out._values()



@case("found_by_suites.sparse_odds_and_ends")
def _(torch):
    """Sparse tensors of one number, told to be coalesced, multiplied by ones without dims; formats of memory are refused."""
    s, eye = torch.sparse_coo_tensor([[0, 0, 1]], [1., 2, 3], (3,)), torch.eye(3).to_sparse()
    yield "told", s._coalesced_(True) is s, s.is_coalesced(), s._coalesced_(False).is_coalesced(), s._version, s.coalesce()._coalesced_(False).coalesce()._values()
    for size in ((2, 3), None):
        yield f"number {size}", *((x._indices(), x._values(), x.shape) for x in [torch.sparse_coo_tensor([[0], [2]], 1., *([size] if size else []))])
    two = torch.tensor(2.).to_sparse()
    yield "products", [(x * y).to_dense() for x, y in ((eye, two), (two, eye), (two, two))]
    for f in (torch.empty_like, torch.zeros_like):
        try:
            f(eye, memory_format=torch.preserve_format)
        except RuntimeError as refused:
            yield f.__name__, str(refused)
    for size in ((0, 2), (2, 0), (0,), (0, 2, 3)):
        yield f"empty {size}", [(x._indices(), x._values(), x.shape) for x in (torch.zeros(size).to_sparse(), torch.zeros(size).to_sparse(1))]
    yield "layouts", [str(f(x, layout=layout).layout) for f, x, layout in (
        (torch.empty_like, eye, torch.strided), (torch.zeros_like, eye, torch.strided), (torch.zeros_like, torch.ones(2, 2), torch.sparse_coo))]
    a = torch.tensor([[1., 0.], [2., 3.]])
    yield "shared", torch.ones(0).new(a.storage()).data_ptr() == a.data_ptr(), torch.Tensor(a.storage()).tolist()



@case("found_by_suites.values_of_sparse_tensors_written")
def _(torch):
    """What is written to the values of a sparse tensor, or of a sparse gradient, is seen in it."""
    t = torch.sparse_coo_tensor(torch.tensor([[0, 1], [2, 0]]), torch.tensor([16.0, 32.0]), (2, 3)).coalesce()
    t.values().mul_(2)
    yield "values", t.to_dense()
    t.values()[0] = 5
    yield "element", t.to_dense()
    rows = torch.eye(2).to_sparse_csr()
    rows.values().mul_(3)
    yield "csr", rows.to_dense()
    x = torch.eye(2).to_sparse().requires_grad_()
    torch.sparse.sum(x * 3).backward()
    x.grad._values().mul_(2)
    yield "grad", x.grad.to_dense()
    kept = torch.ones(2, requires_grad=True)
    values = torch.sparse_coo_tensor([[0, 1]], kept * 1, (2,)).coalesce().values()
    (values * values).sum().backward()
    yield "history", (kept.grad, values.grad_fn.name())



@case("found_by_suites.sparse_tensors_keep_their_dtype")
def _(torch):
    """A sparse tensor that is written keeps its dtype, or refuses."""
    a = torch.tensor([[1, 0], [0, 2]])
    for kind in ("uint8", "int16", "float32"):
        x = a.to(getattr(torch, kind))
        for other in ("int16", "float64"):
            y = a.to(getattr(torch, other)).to_sparse()
            for name in ("add_", "sub_", "mul_", "copy_"):
                yield f"{kind} {name} {other}", _made(lambda x=x, y=y, name=name: getattr(x.to_sparse(), name)(y).to_dense())
        yield f"{kind} div_", _made(lambda x=x: x.to_sparse().div_(2).to_dense())
        yield f"{kind} dense", _made(lambda x=x: x.clone().mul_(a.to(x.dtype).to_sparse()))
