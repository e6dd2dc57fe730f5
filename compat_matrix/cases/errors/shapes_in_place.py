"""Words of shapes that in-place calls refuse, of empty volumes, of complex values for real places; `out=` of a leaf; gradients of products of one element."""

from compat_matrix.case import attempt, case

CALLS = """
A(1).addmm_(A(2,2),A(2,3))
A(()).addmm_(A(2,2),A(2,3))
A(1).addmv_(A(5,10),A(10))
A(()).addr_(A(5),A(10))
A(1).addr_(A(5),A(10))
A(1).baddbmm_(A(5,5,5),A(5,5,10))
A(1,10).baddbmm_(A(5,5,5),A(5,5,10))
A(3).addmm_(A(2,2),A(2,3))
A(1,3).addmm_(A(2,2),A(2,3))
A(1,10).addr_(A(5),A(10))
A(4).addmv_(A(5,10),A(10))
A(2,5).addmv_(A(5,10),A(10))
A(2).bool().masked_fill(torch.tensor(True), torch.tensor(1j))
A(2).long().masked_fill(torch.tensor(True), torch.tensor(1j))
A(2).masked_fill(torch.tensor(True), torch.tensor(1j))
A(2).long().masked_fill(torch.tensor(True), torch.tensor(1 + 0j))
torch.nonzero(A(2), as_tuple=True, out=torch.zeros(0).long())
F.max_pool3d(A(0, 1, 2, 10), 1)
F.max_pool3d(A(2, 1, 0, 1, 2), 1)
F.max_pool3d(A(2, 2, 2, 1, 0), 1)
F.max_pool3d(A(0, 1, 2, 3, 10), 1).shape
F.avg_pool3d(A(0, 1, 2, 10), 1)
torch._chunk_cat([A(0), A(3)], 0, 1)
torch._chunk_cat([A(3), A(3, 0)], 0, 1)
torch.randn(3, out=leaf)
torch.empty(3, out=leaf)
torch.zeros(3, out=leaf)
torch.ones(3, out=leaf)
torch.rand(3, out=leaf)
torch.full((3,), 1.0, out=leaf)
torch.arange(3, out=leaf)
torch.linspace(0, 1, 3, out=leaf)
torch.randint(3, (3,), out=leaf)
torch.randperm(3, out=leaf)
torch.eye(3, out=leaf)
torch.normal(A(3), A(3), out=leaf)
torch.normal(0.0, 1.0, (3,), out=leaf)
torch.logspace(0, 1, 3, out=leaf)
torch.bernoulli(A(3), out=leaf)
""".strip().splitlines()

for _k in range(0, len(CALLS), 13):
    @case(f"errors.shapes_in_place.{_k // 13}", calls=CALLS[_k:_k + 13])
    def _(torch, calls):
        for text in calls:
            scope = {"torch": torch, "A": torch.ones, "F": torch.nn.functional, "leaf": torch.ones(3, requires_grad=True)}
            yield text, attempt(lambda t=text: eval(t, scope))


@case("errors.shapes_in_place.out without grad")
def _(torch):
    leaf = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        for name in ("zeros", "ones", "empty"):
            made = getattr(torch, name)(3, out=leaf)
            yield name, made is leaf, leaf.requires_grad, leaf.is_leaf, leaf._version


@case("errors.shapes_in_place.products of one")
def _(torch):
    for shape in ((1,), (1, 3), (3, 1), (1, 1), (2,), ()):
        for name, f in (("all", lambda x: x.prod()), ("first", lambda x: x.prod(0)), ("last", lambda x: x.prod(-1))):
            x = torch.full(shape, 2.0, dtype=torch.float64).requires_grad_()
            y = f(x)
            g, = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
            yield f"{name} of {shape}", g.detach(), g.requires_grad
            if g.requires_grad:
                yield f"second of {name} of {shape}", torch.autograd.grad(g.sum(), x, allow_unused=True)
