"""Tensors that are held past the end of the transformation that they belong to, and maps that change a view's dtype."""

from compat_matrix.case import attempt, case


def _held(torch, x, transform, made, around=lambda f: f):
    kept = []

    def f(t):
        y = made(t)
        kept.append(y)
        return (y * y).sum()

    out = transform(around(f), x)
    return kept[0], out


def _grad(torch):
    return lambda f, x: torch.func.grad(f)(x)


WAYS = {
    "grad": _grad,
    "grad of grad": lambda torch: lambda f, x: torch.func.grad(lambda t: torch.func.grad(f)(t).sum())(x),
    "vjp": lambda torch: lambda f, x: torch.func.vjp(f, x)[1](torch.tensor(2.0)),
    "jacrev": lambda torch: lambda f, x: torch.func.jacrev(f)(x),
    "jacrev of grad": lambda torch: lambda f, x: torch.func.jacrev(torch.func.grad(f))(x),
    "no_grad outside": lambda torch: torch.no_grad()(lambda f, x: torch.func.grad(f)(x)),
    "inference outside": lambda torch: torch.inference_mode()(lambda f, x: torch.func.grad(f)(x)),
}
for _name, _way in WAYS.items():
    @case(f"func.outlived.{_name}")
    def _(torch, way=_way):
        for needs in (False, True):
            x = torch.tensor([0.5, 1.0], requires_grad=needs)
            y, out = _held(torch, x, way(torch), torch.sin)
            yield f"result {needs}", out
            if not needs:
                made = y.sum()
                yield "made of it", made.detach(), made.requires_grad, attempt(lambda: made.backward())
                yield "array", attempt(lambda: y.detach().numpy())


@case("func.outlived.looked_at_inside")
def _(torch):
    lines = []
    y, _ = _held(torch, torch.tensor([0.5, 1.0]), _grad(torch), lambda t: (lines.append(str(t.sum().item())[:5]), t.exp())[1])
    yield "inside", lines
    yield "made of it", (y + 1).requires_grad, y + 1


@case("func.outlived.of_a_parameter")
def _(torch):
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    y, out = _held(torch, torch.tensor([0.5, 1.0]), _grad(torch), lambda t: t.sin() * w)
    yield "result", out.detach(), out.requires_grad
    out.sum().backward()
    yield "gradient", w.grad


@case("func.outlived.pulled_later")
def _(torch):
    kept = []

    def f(t):
        y = t.sin()
        kept.append(y)
        return y * y.exp()

    x = torch.tensor([0.5, 1.0])
    out, pull = torch.func.vjp(f, x)
    made = kept[0].sum()
    yield "made of it", made.requires_grad
    yield "pulled", pull(torch.ones(2))[0], pull(torch.tensor([2.0, 3.0]))[0]
    yield "and derived", torch.func.jacrev(lambda g: pull(g)[0])(torch.ones(2))


class _Square:
    """A Function that saves a result; made for the module that it is used with."""

    def __new__(cls, torch):
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(x):
                return x * x

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, g):
                return 2 * ctx.saved_tensors[0] * g

        return Square


@case("func.outlived.saved_by_a_function")
def _(torch):
    square, kept = _Square(torch), []

    def f(t):
        y = t.sin()
        kept.append(y)
        return square.apply(y).sum()

    x = torch.tensor([0.5, 1.0], requires_grad=True)
    g = torch.func.grad(f)(x)
    g.sum().backward()
    yield "second", g.detach(), x.grad
    out, pull = torch.func.vjp(torch.func.grad(f), x.detach())
    yield "of vjp", out, pull(torch.ones(2))[0]


@case("func.outlived.written_to")
def _(torch):
    y, _ = _held(torch, torch.tensor([0.5, 1.0]), _grad(torch), lambda t: t.clone().mul_(3))
    y.add_(1)
    v = y[0:1]
    v.mul_(2)
    yield "written", y.detach(), v.detach(), (y + v).requires_grad


@case("func.outlived.numbers")
def _(torch):
    ft = torch._C._functorch
    y, _ = _held(torch, torch.tensor([0.5, 1.0]), _grad(torch), torch.sin)
    yield "dead", ft.dlevel(y), ft.is_dead_tensor_wrapper(y), ft.dlevel(y.sum()), ft.is_dead_tensor_wrapper(y.sum())
    plain = torch.ones(2)
    unwrapped = torch._functorch.utils.unwrap_dead_wrappers((y, 1, plain))
    yield "unwrapped", ft.is_dead_tensor_wrapper(unwrapped[0]), unwrapped[0], unwrapped[1], unwrapped[2] is plain


@case("func.levels_by_hand")
def _(torch):
    ft = torch._C._functorch
    ft._grad_increment_nesting()
    yield "one", ft.get_dynamic_layer_stack_depth()
    ft.pop_dynamic_layer_stack_and_undo_to_depth(0)
    ft._vmap_increment_nesting(3, "error")
    ft._grad_increment_nesting()
    ft._jvp_increment_nesting()
    depths = [ft.get_dynamic_layer_stack_depth()]
    for n in (2, 0):
        ft.pop_dynamic_layer_stack_and_undo_to_depth(n)
        depths.append(ft.get_dynamic_layer_stack_depth())
    yield "three", depths


@case("func.nested_maps_print")
def _(torch):
    for dims in ((0, 1), (1, 0), (0, 2), (1, 2)):
        texts = []
        torch.vmap(torch.vmap(lambda t: (texts.append(repr(t)), t)[1], in_dims=dims[0]), in_dims=dims[1])(torch.arange(12.0).reshape(2, 3, 2))
        yield f"{dims}", texts


@case("func.views_of_other_dtypes")
def _(torch):
    z = torch.complex(torch.arange(6.0), torch.arange(6.0) + 10).reshape(2, 3)
    for name in ("real", "imag", "view_as_real"):
        for d in (0, 1):
            r = torch.vmap(getattr(torch, name), in_dims=d)(z)
            yield f"{name} {d}", r, r.stride(), r.storage_offset()
            r.mul_(2)
            yield f"{name} {d} written", z
    x = torch.arange(12.0).reshape(2, 3, 2)
    r = torch.vmap(torch.view_as_complex, in_dims=1)(x)
    yield "complex", r, r.stride(), r._base is x


@case("func.words_of_maps")
def _(torch):
    x = torch.rand(10)
    yield "squeeze", attempt(lambda: torch.vmap(lambda t: torch.squeeze(t, dim=1))(x))
    yield "one_hot", attempt(lambda: torch.vmap(torch.nn.functional.one_hot)(torch.tensor([0, 1])))
    yield "clamp_min_", attempt(lambda: torch.vmap(torch.Tensor.clamp_min_, (None, 0))(torch.ones(7), torch.ones(2, 7)))
    yield "copysign_", attempt(lambda: torch.vmap(torch.Tensor.copysign_, (None, 0))(torch.ones(7), torch.ones(2, 7)))
    yield "as_strided", attempt(lambda: torch.vmap(lambda t: t.as_strided([3], [1]))(torch.rand(5, 0, 3)))
