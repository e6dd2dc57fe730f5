"""torch.library: schemas from annotations, operators by custom_op and by Library, their gradients, rules and checks; torch.ops."""

import typing
from collections.abc import Sequence

from compat_matrix.case import case


def told(fn):
    """What a call gives, or the class and words of its error, as far as they are not about backends or files."""
    try:
        return fn()
    except Exception as error:
        text = str(error).partition(" This could be because")[0].partition(" Duplicate registration")[0].partition("The valid types are")[0]
        return type(error).__name__, text.partition(" (with implementation")[0] + text.partition("): ")[2] if "(with implementation" in text else text


@case("library.infer_schema")
def _(torch):
    infer, tensor = torch.library.infer_schema, torch.Tensor

    def plain(x, y, z=1.5, w=True, s="a", d=None, o=None): ...
    plain.__annotations__ = {"x": tensor, "y": int, "z": float, "w": bool, "s": str, "d": typing.Optional[int], "o": typing.Optional[tensor], "return": tensor}

    def lists(x, y, z, *, k, dev, n=1): ...
    lists.__annotations__ = {"x": typing.List[tensor], "y": typing.Sequence[int], "z": Sequence[float], "k": torch.dtype, "dev": torch.device,  # noqa: UP006
                             "n": int | float | bool, "return": typing.Tuple[tensor, tensor]}  # noqa: UP006

    def stars(x, *args): ...
    stars.__annotations__ = {"x": tensor, "return": tensor}

    def one(x): ...

    yield "plain", infer(plain, mutates_args=()), infer(plain, mutates_args={"x"}), infer(plain, mutates_args="unknown"), infer(plain, mutates_args=(), op_name="f")
    yield "lists", infer(lists, mutates_args=()), infer(lists, mutates_args={"x"})
    yield "refused", told(lambda: infer(stars, mutates_args=())), told(lambda: infer(plain, mutates_args="x")), told(lambda: infer(plain, mutates_args={"q"}))
    for i, (x, out) in enumerate(((tensor, None), (tensor, ...), (..., tensor), (dict, tensor), (tensor, dict), (int, int), (tensor, list[tensor]),
                                  (tensor | None, tuple[tensor, int, list[tensor]]), (tuple[int, int], tensor), (str | None, tensor))):
        one.__annotations__ = {k: t for k, t in (("x", x), ("return", out)) if t is not ...}
        yield f"one {i}", told(lambda: infer(one, mutates_args=())), told(lambda: infer(one, mutates_args={"x"}))


@case("library.custom_op.calls")
def _(torch):
    def square(x, k=2.0):
        return x * x * k
    square.__annotations__ = {"x": torch.Tensor, "k": float, "return": torch.Tensor}
    op = torch.library.custom_op("lib_calls::square", square, mutates_args=())
    mine = torch.ops.lib_calls.square
    x = torch.tensor(2.0, requires_grad=True)
    yield "names", repr(op), str(mine), str(mine.default), mine.overloads(), mine.default.name(), str(mine.default._schema), repr(mine.default)
    yield "calls", op(x.detach()), mine(x.detach(), 1.0), mine.default(x.detach(), k=3.0)
    yield "no formula", op(x).grad_fn.name(), told(lambda: op(x).backward())
    yield "words", told(lambda: op()), told(lambda: op(1)), told(lambda: op(x, "a")), told(lambda: op(x, 1.0, 2)), told(lambda: op(x, zz=1))
    op.register_autograd(lambda ctx, g: (g * 2 * ctx.saved_tensors[0] * ctx.k, None),
                         setup_context=lambda ctx, inputs, output: (ctx.save_for_backward(inputs[0]), setattr(ctx, "k", inputs[1])))
    op(x, 3.0).backward()
    yield "formula", x.grad
    yield "checked", torch.autograd.gradcheck(op, torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))


@case("library.custom_op.writes")
def _(torch):
    def add(x, y):
        x.add_(y)
    add.__annotations__ = {"x": torch.Tensor, "y": torch.Tensor, "return": None}
    op = torch.library.custom_op("lib_writes::add", add, mutates_args={"x"})
    t = torch.zeros(2)
    yield "written", op(t, torch.ones(2)), t, t._version, str(torch.ops.lib_writes.add.default._schema)
    v = torch.zeros(3)
    op(v[1:], torch.ones(2))
    yield "through a view", v
    yield "no formula for writes", told(lambda: op.register_autograd(lambda ctx, g: g))

    def both(x, out):
        out.copy_(x + 1)
        return x * 2
    both.__annotations__ = {"x": torch.Tensor, "out": torch.Tensor, "return": torch.Tensor}
    op, out = torch.library.custom_op("lib_writes::both", both, mutates_args={"out"}), torch.zeros(2)
    z = op(torch.ones(2, requires_grad=True), out)
    yield "both", z.requires_grad, out, out._version, told(lambda: z.sum().backward())


@case("library.custom_op.results")
def _(torch):
    def made(name, f, out=torch.Tensor, **options):
        f.__annotations__ = {"x": torch.Tensor, "return": out}
        return torch.library.custom_op(f"lib_results::{name}", f, mutates_args=(), **options)

    x = torch.ones(2)
    for name, f in (("itself", lambda x: x), ("view", lambda x: x.view(-1)), ("nothing", lambda x: None)):
        op = made(name, f)
        yield name, told(lambda op=op: op(x))
    twice = made("twice", lambda x: (x.exp(),) * 2, typing.Tuple[torch.Tensor, torch.Tensor])  # noqa: UP006
    yield "twice", told(lambda: twice(x))
    yield "a number", made("number", lambda x: 3, int)(x)
    fake = made("fake", lambda x: x.clone())
    yield "meta", told(lambda: fake(x.to("meta")))
    fake.register_fake(lambda x: torch.empty_like(x))
    yield "meta after", fake(x.to("meta")).shape
    cuda = made("cuda", lambda x: x.clone(), device_types="cuda")
    yield "no kernel", told(lambda: cuda(x))
    cuda.register_kernel("cpu")(lambda x: x + 1)
    yield "kernel", cuda(x)

    def scaled(x, *, scale, shift=1):
        return x * scale + shift
    scaled.__annotations__ = {"x": torch.Tensor, "scale": float, "shift": int, "return": torch.Tensor}
    op = torch.library.custom_op("lib_results::scaled", scaled, mutates_args=())
    op.register_autograd(lambda ctx, g: g * ctx.s, setup_context=lambda ctx, inputs, keyword_only_inputs, output: setattr(ctx, "s", keyword_only_inputs["scale"]))
    a = torch.ones(1, requires_grad=True)
    op(a, scale=5.0).backward()
    yield "by keyword", a.grad, told(lambda: op(x)), str(torch.ops.lib_results.scaled.default._schema)

    def lists(xs):
        return [x * 2 for x in xs]
    lists.__annotations__ = {"xs": typing.Sequence[torch.Tensor], "return": typing.List[torch.Tensor]}  # noqa: UP006
    op = torch.library.custom_op("lib_results::lists", lists, mutates_args=())
    op.register_autograd(lambda ctx, gs: [g * 2 for g in gs])
    a.grad = None
    out = op([a, a])
    yield "lists", out
    (out[0] + out[1] * 3).backward()
    yield "gradients", a.grad
    with_schema = torch.library.custom_op("lib_results::schema", lambda x, n=2: x * n, mutates_args=(), schema="(Tensor x, int n=2) -> Tensor")
    yield "schema", with_schema(x), str(torch.ops.lib_results.schema.default._schema), told(lambda: with_schema(x, 2.5))


@case("library.custom_op.vmap")
def _(torch):
    def sine(x):
        return x.sin()
    sine.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    op = torch.library.custom_op("lib_vmap::sine", sine, mutates_args=())
    op.register_vmap(lambda info, in_dims, x: (x.sin() + info.batch_size, in_dims[0]))
    yield "rule", torch.vmap(op)(torch.ones(2, 3))
    yield "no operator", told(lambda: torch.library.register_vmap("lib_nope::nope", lambda info, in_dims, x: (x, 0)))


@case("library.library")
def _(torch):
    lib = torch.library.Library("lib_own", "FRAGMENT")
    own, x = torch.ops.lib_own, torch.ones(1, requires_grad=True)
    yield "defined", lib.define("twice(Tensor x) -> Tensor"), told(lambda: own.twice(torch.ones(1)))
    lib.impl("twice", lambda x: x * 2, "CPU")
    yield "implemented", own.twice(torch.ones(1)), repr(own.twice.default), str(own.twice.default._schema)
    lib.define("thrice(Tensor x) -> Tensor")
    lib.impl("thrice", lambda x: x * 3, "CompositeImplicitAutograd")
    own.thrice(x).backward()
    yield "composite", x.grad, own.thrice(x).grad_fn.name()
    lib.define("by(Tensor x, int y=3) -> Tensor")
    torch.library.impl(lib, "by", "CPU")(lambda x, y=3: x * y)
    yield "defaults", own.by(torch.ones(1)), own.by(torch.ones(1), 4), own.by(torch.ones(1), y=5)
    yield "refused", [told(f) for f in (lambda: lib.define("twice(Tensor x) -> Tensor"), lambda: lib.define("twice"), lambda: lib.impl("twice", 3, "CPU"),
                                        lambda: torch.library.Library("lib_own", "XX"), lambda: torch.library.Library("prim", "FRAGMENT"))]
    yield "missing", told(lambda: own.nope), told(lambda: own.twice.other), hasattr(own, "twice"), hasattr(own, "nope")
    lib.define("auto(Tensor x) -> Tensor")
    lib.impl("auto", lambda x: x.clone(), "CPU")
    torch.library.register_autograd("lib_own::auto", lambda ctx, g: g * 7, lib=lib)
    x.grad = None
    z = own.auto(x)
    z.backward()
    yield "formula", x.grad, z.grad_fn.name()
    torch.library.register_fake("lib_own::auto", lambda x: torch.empty_like(x), lib=lib)
    yield "fake", own.auto(torch.ones(2, device="meta")).shape
    lib.define("over.a(Tensor x) -> Tensor")
    lib.define("over.b(Tensor x, int y) -> Tensor")
    lib.impl("over.a", lambda x: x + 1, "CPU")
    lib.impl("over.b", lambda x, y: x + y, "CPU")
    yield "overloads", own.over(torch.ones(1)), own.over(torch.ones(1), 5), own.over.overloads(), own.over.b(torch.ones(1), 7), told(lambda: own.over("a"))
    lib.define("mut(Tensor(a!) x) -> ()")
    lib.impl("mut", lambda x: x.add_(1) and None, "CPU")
    t = torch.zeros(2, 1)[0]
    yield "mutable", own.mut(t), t, own.mut.default._schema.is_mutable, str(own.mut.default._schema)
    torch.library.define("lib_own::free", "(Tensor x) -> Tensor")
    torch.library.impl("lib_own::free", "cpu")(lambda x: x * 9)
    yield "by name", own.free(torch.ones(1))
    yield "names refused", told(lambda: torch.library.define("free", "(Tensor x) -> Tensor")), told(lambda: torch.library.define("lib_own::g", "Tensor x -> Tensor"))
    lib._destroy()
    yield "destroyed", told(lambda: own.twice(torch.ones(1)))
    with torch.library._scoped_library("lib_scoped", "FRAGMENT") as scoped:
        scoped.define("f(Tensor x) -> Tensor")
        scoped.impl("f", lambda x: x + 1, "CPU")
        yield "scoped", torch.ops.lib_scoped.f(torch.ones(1))


@case("library.opcheck")
def _(torch):
    def made(name, f):
        f.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
        return torch.library.custom_op(f"lib_check::{name}", f, mutates_args=())

    good, writes = made("good", lambda x: x.sin()), made("writes", lambda x: x.add_(1).clone())
    good.register_fake(lambda x: torch.empty_like(x))
    check, args = torch.library.opcheck, (torch.ones(2),)
    yield "good", check(good, args, test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))
    yield "writes", told(lambda: check(writes, args, test_utils="test_schema")), list(check(writes, args, test_utils="test_schema", raise_exception=False))
    yield "unknown", told(lambda: check(good, args, test_utils="foo"))


@case("library.aten")
def _(torch):
    aten = torch.ops.aten
    for name, op in (("add", aten.add.Tensor), ("add_", aten.add_.Tensor), ("mm", aten.mm.default), ("mul", aten.mul.Tensor)):
        schema = op._schema
        yield name, str(schema), op.name(), schema.name, schema.overload_name, schema.is_mutable, len(schema.returns)
        yield name + " arguments", [(a.name, a.kwarg_only, a.default_value, a.has_default_value(), str(a.type)) for a in schema.arguments]
        yield name + " aliases", [a.alias_info is not None and (a.alias_info.is_write, sorted(a.alias_info.before_set)) for a in schema.arguments]
        yield name + " names", repr(op), str(op.overloadpacket), op._overloadname, op._opname, op.namespace, op.overloadpacket._qualified_op_name
    yield "views", aten.view.default.is_view, aten.mm.default.is_view, aten.t.default.is_view
