"""What stands behind the arguments that torch.func gives a function, and what a Function is not given under a map."""

from compat_matrix.case import attempt, case


@case("unwrapped.arguments are the tensors that they were")
def _(torch):
    unwrap, x = torch.func.debug_unwrap, torch.arange(6.0).reshape(2, 3)
    seen = []

    def f(t):
        seen.append((unwrap(t), unwrap(t, recurse=False)))
        return t.sin().sum()

    for name, g in (("vmap", torch.func.vmap(f)), ("twice", torch.func.vmap(torch.func.vmap(f))), ("columns", torch.func.vmap(f, in_dims=1)),
                    ("grad", torch.func.grad(f)), ("both", torch.func.vmap(torch.func.grad(f)))):
        seen.clear()
        g(x)
        yield name, seen[0][0] is x, seen[0][0], tuple(seen[0][1].shape)


@case("unwrapped.tensors by keyword")
def _(torch):
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(x, y=2):
            return x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, y):
            return x + y, 0

    yield "number", attempt(lambda: torch.func.vmap(lambda x: Sum.apply(x, 3))(torch.ones(2)))
    yield "without a map", attempt(lambda: Sum.apply(torch.ones(2), y=torch.ones(2)))

    class Alone(Sum):
        @staticmethod
        def forward(x, *, y):
            return x + y

    yield "tensor", attempt(lambda: torch.func.vmap(Alone.apply)(torch.ones(2), y=torch.ones(2)))
