"""What is refused first where several things are wrong, and calls that are fine though a part of them would be refused."""

from compat_matrix.case import attempt, case


@case("order_of_refusals.written where it does not fit")
def _(torch):
    own = {"int64": torch.ones(3, dtype=torch.int64), "float32": torch.ones(3), "float64, column": torch.ones(2, 1, dtype=torch.float64),
           "complex64": torch.ones(3, dtype=torch.complex64)}
    other = {"float64": torch.ones(2, 3, dtype=torch.float64), "complex64": torch.ones(2, 3, dtype=torch.complex64), "long": torch.ones(2, 3, dtype=torch.int64)}
    for a in own:
        for b in other:
            for name in ("add_", "mul_", "div_", "pow_", "atan2_", "fmod_", "remainder_", "copysign_", "hypot_", "xlogy_", "gcd_", "bitwise_and_", "bitwise_xor_", "clamp_"):
                yield f"{name} {a} {b}", attempt(lambda a=a, b=b, name=name: getattr(own[a].clone(), name)(other[b]))
            for name in ("addcmul_", "addcdiv_"):
                yield f"{name} {a} {b}", attempt(lambda a=a, b=b, name=name: getattr(own[a].clone(), name)(own[a], other[b]))


@case("order_of_refusals.scattered from a larger source")
def _(torch):
    index = torch.tensor([[0], [1]])
    for name in ("scatter", "scatter_add"):
        for graph in (False, True):
            x = torch.arange(6.0).reshape(2, 3).requires_grad_()
            out = getattr(torch, name)(x, 1, index, torch.ones(2, 3).requires_grad_())
            yield f"{name} {graph} result", out.detach()
            yield f"{name} {graph}", attempt(lambda x=x, out=out, graph=graph: torch.autograd.grad(out, x, torch.ones_like(out), create_graph=graph))


@case("order_of_refusals.quotients of half precision")
def _(torch):
    for dtype in (torch.float16, torch.bfloat16):
        for by in (-1, 3, 1.7, True):
            x = torch.tensor([[1.25], [-3.5]], dtype=dtype, requires_grad=True)
            out = torch.div(x, by, rounding_mode=None)
            yield f"{dtype} {by}", out
            yield f"{dtype} {by} grad", torch.autograd.grad(out, x, torch.ones_like(out))
        yield f"{dtype} tensor", torch.div(x, torch.tensor(3.0, dtype=dtype), rounding_mode=None)


@case("order_of_refusals.statistics that are only used")
def _(torch):
    for shape in ((0, 4, 5), (3, 4, 5)):
        for own in (False, True):
            mean, var = torch.full((4,), 0.1), torch.full((4,), 1.1)
            yield f"{shape} {own}", torch.nn.functional.instance_norm(torch.arange(60.0).reshape(3, 4, 5)[:shape[0]], mean, var, use_input_stats=own)
            yield f"{shape} {own} statistics", (mean, var, mean._version)


@case("order_of_refusals.repeats")
def _(torch):
    for given in ([[1]], [[1, 2]], 2, [2], [1, 2]):
        for x in (torch.ones(2, 3), torch.ones(2), torch.ones(0)):
            for more in ({}, {"output_size": 3}):
                yield f"{given} {tuple(x.shape)} {more}", attempt(lambda given=given, x=x, more=more: torch.repeat_interleave(x, torch.tensor(given), 0, **more))


@case("order_of_refusals.masked sources")
def _(torch):
    x = torch.ones(2, 3, dtype=torch.float64)
    for source in (torch.ones(2), torch.ones(6, dtype=torch.float64)):
        for mask in ([1, 0, 1], [True, False, True], [[[True, False, True]]]):
            yield f"{source.dtype} {mask}", attempt(lambda source=source, mask=mask: torch.masked_scatter(x, torch.tensor(mask), source))
    yield "does not fit", attempt(lambda: torch.masked_scatter(x, torch.tensor([True, False]), x))


@case("order_of_refusals.grids")
def _(torch):
    x = torch.ones(2)
    for given in ([1, 2], [x, 1], ["a"], [x, None], [[1, 2]]):
        yield f"{len(given)} {given[-1]}", attempt(lambda given=given: torch.meshgrid(*given, indexing="ij"))
    for indexing in (1, "xx", "xy"):
        yield f"{indexing}", attempt(lambda indexing=indexing: torch.meshgrid(x, x, indexing=indexing))


@case("order_of_refusals.matrices")
def _(torch):
    for shape in ((2, 2), (2, 3)):
        for which in ("Q", "", "LU", "l"):
            for name in ("eigh", "eigvalsh"):
                for dtype in (torch.float32, torch.int64):
                    yield f"{name} {shape} {which} {dtype}", attempt(lambda shape=shape, which=which, name=name, dtype=dtype: torch.linalg.eigvalsh(
                        torch.ones(shape, dtype=dtype), which) if name == "eigvalsh" else torch.linalg.eigh(torch.ones(shape, dtype=dtype), which)[0])
    for a in ((3, 3), (2, 3), (3,)):
        for b in ((), (2,)):
            for dtype in (torch.float32, torch.float64):
                yield f"solve {a} {b} {dtype}", attempt(lambda a=a, b=b, dtype=dtype: torch.linalg.solve(torch.ones(a, dtype=dtype), torch.ones(b)))
    for shape, ind in (((2, 3, 6), 7), ((), 1), ((2, 2), 3), ((2, 3, 6), 2)):
        yield f"tensorinv {shape} {ind}", attempt(lambda shape=shape, ind=ind: torch.linalg.tensorinv(torch.eye(6).reshape(2, 3, 6)[:shape[0]] if len(shape) == 3
                                                                                                       else torch.ones(shape), ind).shape)
    for shapes in (((3,), (2, 2), (2,)), ((3,), (3, 2), (3,)), ((3,), (2,)), ((3, 3), (2,)), ((3,), (3, 2), (2,))):
        yield f"multi_dot {shapes}", attempt(lambda shapes=shapes: torch.linalg.multi_dot([torch.ones(s) for s in shapes]))


@case("order_of_refusals.masks of attention")
def _(torch):
    for shape in ((1, 1, 2, 4), (1, 2, 4), (2, 4)):
        q = torch.arange(8.0).reshape(shape) * 0.25
        for mask in ((), (2,), (1, 2), (1, 2, 2), (5, 1, 2, 2)):
            for kind in ("bool", "number", "grad"):
                m = torch.ones(mask, dtype=torch.bool) if kind == "bool" else torch.ones(mask, requires_grad=kind == "grad")
                yield f"{shape} {mask} {kind}", attempt(lambda q=q, m=m: torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=m))
