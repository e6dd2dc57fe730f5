"""Which of equal elements comes first, and which sign an eigenvector has: what torch leaves to its sorting library and to LAPACK."""

from compat_matrix.case import case


@case("order_of_ties.sixteen")
def _(torch):
    x = torch.tensor([float(i % 3) for i in range(16)])
    yield "sort", x.sort().indices, x.sort(descending=True).indices, x.argsort()


@case("order_of_ties.seventeen, stable")
def _(torch):
    x = torch.tensor([float(i % 3) for i in range(17)])
    yield "sort", x.sort(stable=True).indices, x.sort(descending=True, stable=True).indices, x.median(0).indices
    yield "values", x.sort().values, x.topk(5).values, x.kthvalue(9).values, x.mode().values


@case("order_of_ties.seventeen")
def _(torch):
    x = torch.tensor([float(i % 3) for i in range(17)])
    yield "sort", x.sort().indices, x.mode().indices


@case("order_of_ties.topk")
def _(torch):
    x = torch.tensor([float(i % 3) for i in range(8)])
    yield "topk", x.topk(3).indices, x.kthvalue(1).indices


S = [[1.0, 2.0, 0.5], [2.0, -1.0, 1.5], [0.5, 1.5, 3.0]]


@case("order_of_ties.signs")
def _(torch):
    s = torch.tensor(S, dtype=torch.float64)
    w, v = torch.linalg.eigh(s)
    a, b = torch.linalg.eigh(s, UPLO="U")
    yield "lower", w, v
    yield "upper", a, b.abs()
    u, d, _ = torch.linalg.svd(s)
    yield "svd", d, u.abs()


@case("order_of_ties.signs, upper")
def _(torch):
    yield "vectors", torch.linalg.eigh(torch.tensor([[1.0, 2.0, 0.5], [2.0, -1.0, 1.5], [0.5, 1.5, 3.0]], dtype=torch.float64), UPLO="U")[1]
    yield "wide", torch.linalg.svd(torch.tensor([[1.0, -2.0, 0.5], [2.0, 1.0, -1.5]], dtype=torch.float64), full_matrices=False)[0]
