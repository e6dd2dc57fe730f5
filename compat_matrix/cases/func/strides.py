"""Memory under vmap: parts of an argument are views of it, an example has the strides that it has in memory, draws by rows."""

from compat_matrix.case import case, raises

PARTS = {"chunk": lambda torch, x: torch.chunk(x, 2), "split": lambda torch, x: torch.split(x, [1, 3]), "unbind": lambda torch, x: torch.unbind(x),
         "tensor_split": lambda torch, x: x.tensor_split(3), "hsplit": lambda torch, x: x.hsplit(2), "one": lambda torch, x: x.chunk(2)[1],
         "part of a part": lambda torch, x: x.chunk(2)[0].chunk(2), "transposed": lambda torch, x: torch.split(x[None].T, 2),
         "selected": lambda torch, x: x.unbind()[2][None]}


def listed(torch, r):
    return [r] if isinstance(r, torch.Tensor) else list(r)


def told(t):
    return tuple(t.shape), t.stride(), t.storage_offset(), t._version


@case("func.parts.views")
def _(torch):
    for name, f in PARTS.items():
        for d, out in ((0, 0), (1, 0), (1, -1)):
            x = torch.arange(16.0).reshape(4, 4)
            parts = listed(torch, torch.func.vmap(lambda t, f=f: f(torch, t), in_dims=d, out_dims=out)(x))
            where = f"{name} {d} {out}"
            yield f"{where} base", [p._base is x for p in parts], [told(p) for p in parts]
            x.mul_(2)
            yield f"{where} written", [p.clone() for p in parts]
            parts[0].add_(100)
            yield f"{where} back", x, x._version


@case("func.parts.grad")
def _(torch):
    for name, f in PARTS.items():
        x = torch.arange(16.0, requires_grad=True).reshape(4, 4) * 1
        parts = listed(torch, torch.func.vmap(lambda t, f=f: f(torch, t), in_dims=1)(x))
        yield name, torch.autograd.grad(sum((p * p).sum() for p in parts), x)
        y = torch.arange(16.0, requires_grad=True).reshape(4, 4) * 1
        parts = listed(torch, torch.func.vmap(lambda t, f=f: f(torch, t), in_dims=1)(y))
        y.mul_(3)
        yield f"{name} refused", type(raises(lambda: parts[0] * 1)).__name__


@case("func.example.strides")
def _(torch):
    seen = []

    def look(x):
        seen.append((tuple(x.shape), x.stride(), x.storage_offset(), x.is_contiguous(), x.t().stride(), x.contiguous().stride(), x.sum(0).stride()))
        return x

    for d in (0, 1, 2, -1):
        for t in (torch.ones(2, 3, 4), torch.ones(4, 3, 2).permute(2, 1, 0), torch.ones(4, 4, 4)[1:3, :3]):
            torch.func.vmap(look, in_dims=d)(t)
        yield str(d), list(seen)
        seen.clear()
    torch.func.vmap(torch.func.vmap(look, in_dims=2), in_dims=1)(torch.ones(2, 3, 4, 5))
    yield "twice", list(seen)


@case("func.example.views_refused")
def _(torch):
    vmap = torch.func.vmap
    x = torch.arange(24.0).reshape(3, 4, 2)
    for d in (0, 1, 2):
        yield f"view {d}", raises(lambda: vmap(lambda t: t.view(-1), in_dims=d)(x)), vmap(lambda t: t.reshape(-1) * 1, in_dims=d)(x)
    y = torch.arange(24.0).reshape(3, 2, 4)
    yield "complex", raises(lambda: vmap(torch.view_as_complex, in_dims=2)(y)), vmap(torch.view_as_complex, in_dims=1)(y.mT.contiguous())
    formats = []

    def asked(t):
        formats.extend([t.is_contiguous(), t.is_contiguous(memory_format=torch.contiguous_format),
                        raises(lambda: t.is_contiguous(memory_format=torch.channels_last))])
        return t

    vmap(asked)(torch.ones(3, 2, 2, 2, 2))
    vmap(asked, in_dims=1)(torch.ones(3, 2, 2, 2, 2))
    yield "formats", formats
    yield "where", raises(lambda: vmap(torch.where)(torch.ones(3, 2)))
    yield "own memory", vmap(lambda t: t.new_empty_strided((3, 2), (2, 1)))(torch.ones(3, 4)).stride()


@case("func.example.rows_drawn")
def _(torch):
    weights = torch.arange(1.0, 25).reshape(2, 3, 4)
    for options in ((3, True), (3, False), (1, False)):
        torch.manual_seed(0)
        yield str(options), torch.func.vmap(lambda t: torch.multinomial(t, *options), randomness="different")(weights), torch.rand(1)
        torch.manual_seed(0)
        twice = torch.func.vmap(torch.func.vmap(lambda t: torch.multinomial(t, *options), randomness="different"), randomness="different")
        yield f"{options} twice", twice(weights), torch.rand(1)
    yield "refused", raises(lambda: torch.func.vmap(lambda t: torch.multinomial(t, 2), randomness="different")(torch.ones(2, 2, 2, 2)))


@case("func.example.filled_in_memory_order")
def _(torch):
    for shape in ((2, 3), (3, 4, 5), (2, 1, 3)):
        for d in (*range(len(shape)), -1):
            for name, args in (("normal_", ()), ("uniform_", ()), ("random_", (10,)), ("bernoulli_", (0.5,))):
                for word, t in (("rows", torch.zeros(shape)), ("transposed", torch.zeros(shape[::-1]).permute(*range(len(shape) - 1, -1, -1)))):
                    torch.manual_seed(0)
                    torch.func.vmap(lambda x, name=name, args=args: getattr(x, name)(*args), in_dims=d, randomness="different")(t)
                    yield f"{shape} {d} {name} {word}", t, torch.rand(1)
