"""torch.library: gradients arranged otherwise than the arguments, schemas that are none, keys and namespaces that are not there, checks that fail."""

import logging
import typing
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


@case("library_refused.tensors_by_keyword")
def _(torch):
    """A tensor that is passed by keyword alone has no gradient and no rule for vmap."""
    def f(x: torch.Tensor, *, y: typing.Optional[torch.Tensor] = None) -> torch.Tensor:
        return x.clone()

    yield "made", raises(lambda: torch.library.custom_op("library_refused_keyword::f", f, mutates_args=()))
    with torch.library._scoped_library("library_refused_keyword", "FRAGMENT") as lib:
        lib.define("g(Tensor x, *, Tensor[] y) -> Tensor")
        yield "formula", raises(lambda: torch.library.register_autograd("library_refused_keyword::g", lambda ctx, g: g, lib=lib))
        yield "rule", raises(lambda: torch.library.register_vmap("library_refused_keyword::g", lambda info, in_dims, x, *, y: (x, 0), lib=lib))


@case("library_refused.chosen_by_device")
def _(torch):
    """An operator without tensors is computed by the kernel of the device that it is told."""
    op = torch.library.custom_op

    def none() -> torch.Tensor:
        return torch.ones(2)

    def ones(n: int, device: torch.device) -> torch.Tensor:
        return torch.ones(n)

    def twice(device: torch.device = torch.device("cpu:0"), k: typing.Optional[int] = None) -> torch.Tensor:
        return torch.ones(2) * 2

    yield "no device", raises(lambda: op("library_refused_device::none", none, mutates_args=(), device_types="cpu"))
    made = op("library_refused_device::ones", ones, mutates_args=(), device_types="cpu")
    yield "cpu", made(2, "cpu"), made(2, torch.device("cpu"))
    yield "not there", raises(lambda: made(2, "cuda"))
    schema = op("library_refused_device::twice", twice, mutates_args=())._opoverload._schema
    yield "default", [a.default_value for a in schema.arguments], str(schema)


@case("library_refused.annotations_in_quotes")
def _(torch):
    def f(x, n):
        return [x]

    f.__annotations__ = {"x": torch.Tensor, "n": "typing.List[int]", "return": list["torch.Tensor"]}
    f.__globals__["torch"] = torch
    yield "inside", torch.library.infer_schema(f, mutates_args=())


@case("library_refused.kernels_switched_off")
def _(torch):
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    made, said = torch.library.custom_op("library_refused_off::f", f, mutates_args=()), []
    log = logging.getLogger("torch._library.custom_ops")
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    log.addHandler(handler)
    try:
        with made.set_kernel_enabled("gpu", enabled=False):
            yield "none", made(torch.ones(1))
        made.register_kernel("cpu", lambda x: x + 2)
        with made.set_kernel_enabled("cpu", enabled=False), made.set_kernel_enabled("cpu", enabled=False):
            yield "off", made(torch.ones(1))
        with made.set_kernel_enabled("cpu", enabled=True):
            yield "on", made(torch.ones(1))
    finally:
        log.removeHandler(handler)
    yield "said", said


@case("library_refused.formulas_without_defaults")
def _(torch):
    """A formula owes no gradients to arguments that were left at their defaults."""
    with torch.library._scoped_library("library_refused_defaults", "FRAGMENT") as lib:
        lib.define("f(Tensor w, int x=2, *, int y=3, int z) -> Tensor")
        lib.impl("f", lambda w, x=2, *, y=3, z: w * x * y * z, "CPU")
        seen = []

        def setup(ctx, inputs, keyword_only_inputs, output):
            seen.append((len(inputs), dict(keyword_only_inputs)))
            ctx.c = inputs[1] * keyword_only_inputs["y"] * keyword_only_inputs["z"]

        torch.library.register_autograd("library_refused_defaults::f", lambda ctx, g: g * ctx.c, setup_context=setup, lib=lib)
        op = torch.ops.library_refused_defaults.f
        for name, call in {"left": lambda w: op(w, z=42), "the same": lambda w: op(w, 2, z=2), "given": lambda w: op(w, 5, y=2, z=1)}.items():
            w = torch.ones(2, requires_grad=True)
            try:
                call(w).sum().backward()
            except RuntimeError as refused:
                yield name + " refused", "incorrect number of gradients" in str(refused)
            yield name, w.grad
        yield "seen", seen
