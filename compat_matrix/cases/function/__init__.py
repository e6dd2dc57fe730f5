"""torch.autograd.Function: both styles, ctx, marks, errors."""


def leaf(torch, values=(1.0, 2.0, 3.0), dtype=None):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def cube(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * 3 * x ** 2
    return Cube


def simple(torch, forward, backward, **members):
    """A Function class from two plain functions."""
    return type("Simple", (torch.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(backward), **members})
