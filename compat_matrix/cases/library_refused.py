"""torch.library: gradients arranged otherwise than the arguments, schemas that are none, keys and namespaces that are not there, checks that fail."""

from collections.abc import Sequence

from compat_matrix.case import case, raises

SCHEMAS = ("x(Tensr x) -> Tensor", "y(Tensor x)", "z(Tensor x) -> Foo", "w(Tensor x, int[] y, Bar? b) -> Tensor", "a(Tensor x,) -> Tensor",
           "b(Tensor x -> Tensor", "c(Tensor) -> Tensor", "e(int x=foo) -> Tensor", "g(Tensor x) -> (Tensor, Tensor", "i(Tensor x) Tensor", "j",
           "n.default(Tensor x) -> Tensor")
GOOD = ("d(Tensor x, int? n=None, *, float a=1.5, str s='a') -> (Tensor, Tensor)", "f(Tensor(a!) x, int[2] k=3)-> Tensor(a!)", "h() -> ()",
        "k(Tensor? x, Tensor[] y, Scalar s, ScalarType? d=None, bool b=False) -> Tensor[]")


@case("library_refused.structure_of_gradients")
def _(torch):
    Tensor = torch.Tensor
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)

    def lists(xs: list[Tensor], ns: list[int]) -> Tensor:
        return xs[0] + 1

    def two(xs: Sequence[Tensor], ys: Sequence[Tensor]) -> Tensor:
        return xs[0] + 1

    def mixed(xs: Sequence[Tensor], s: Tensor) -> Tensor:
        return s + 1

    def one(xs: list[Tensor]) -> Tensor:
        return torch.stack(xs).sum(0)

    lists.__annotations__.update(xs=list[Tensor], ns=list[int])
    shapes = {
        "arranged": (lists, lambda g: ([g, g], None), ([x, y], [1, 2])), "a tuple": (lists, lambda g: ((g, g), None), ([x, y], [1, 2])),
        "given a tuple": (lists, lambda g: ([g, g], None), ((x, y), [1, 2])), "none for numbers": (lists, lambda g: ([g, g], None), ([x, y], [])),
        "empty": (two, lambda g: ([g, g], []), ([x, y], [])), "one for an empty list": (two, lambda g: ([g, g], None), ([x, y], [])),
        "one for a list": (mixed, lambda g: (None, g), ([x, y], x)), "a list alone": (mixed, lambda g: [g], ([x, y], x)),
        "a tensor": (one, lambda g: g, ([x, y],)), "too few": (one, lambda g: ([g],), ([x, y],)), "nothing": (one, lambda g: None, ([x, y],)),
        "a list": (one, lambda g: [g, g], ([x, y],))}
    for i, (name, (f, backward, args)) in enumerate(shapes.items()):
        op = torch.library.custom_op(f"library_refused::o{i}", f, mutates_args=())
        op.register_autograd(lambda ctx, g, backward=backward: backward(g))
        try:
            yield name, torch.autograd.grad(op(*args).sum(), (x, y), allow_unused=True)
        except RuntimeError as e:
            yield name, str(e)


@case("library_refused.schemas")
def _(torch):
    lib = torch.library.Library("library_refused_schemas", "DEF")
    for schema in SCHEMAS:
        yield schema, raises(lambda s=schema: lib.define(s))
    for schema in GOOD:
        yield schema, lib.define(schema)


@case("library_refused.keys_and_names")
def _(torch):
    lib = torch.library.Library("library_refused_keys", "DEF")
    lib.define("foo(Tensor x) -> Tensor")
    yield "key", raises(lambda: lib.impl("foo", abs, "XXX"))
    yield "lower", raises(lambda: lib.impl("foo", abs, "cpu"))
    yield "number", raises(lambda: lib.impl(3, abs, "CPU"))
    try:
        lib.impl("another::foo", abs, "CPU")
    except RuntimeError as e:
        yield "namespace", str(e).partition("  (Error")[0]
    try:
        torch.library.Library("library_refused_keys", "DEF")
    except RuntimeError as e:
        yield "twice", str(e).partition("  Previous")[0]
    yield "many", raises(lambda: torch.ops.library_refused_keys.foo(torch.ones(2), q=5))

    def f(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    for name in ("nowhere", "a::b::c", "library_refused_keys::q.default"):
        yield name, raises(lambda n=name: torch.library.custom_op(n, f, mutates_args=()))
    yield "no operator", str(raises(lambda: torch.library.opcheck(f, (torch.ones(2),)))).replace("torchlike_autograd", "torch")
    yield "context", torch.library.get_ctx()
