"""Maps over operators of a program's own that have no rule, over splits of no views; hooks of tensors that are saved."""

import io
import pickle
import warnings

import numpy as np

from compat_matrix.case import case


def _sine(torch, name):
    def sine(x): ...
    sine.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}

    def body(x):
        return torch.from_numpy(np.sin(x.detach().numpy()))

    body.__annotations__ = sine.__annotations__
    return torch.library.custom_op(f"one_by_one::{name}", mutates_args=())(body)


@case("one_by_one.operator_without_a_rule")
def _(torch):
    op, x = _sine(torch, "sine"), torch.arange(6.0).view(2, 3)
    yield "dim 0", torch.vmap(op)(x)
    yield "dim 1", torch.vmap(op, in_dims=1)(x)
    yield "nested", torch.vmap(torch.vmap(op))(x.expand(2, 2, 3))
    op.register_autograd(lambda ctx, g: g * ctx.saved_tensors[0].cos(), setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    x.requires_grad_()
    y = torch.vmap(op)(x)
    yield "gradient", y.requires_grad, torch.autograd.grad(y.sum(), x)


@case("one_by_one.kernel_of_a_library")
def _(torch):
    lib = torch.library.Library("one_by_one_more", "FRAGMENT")
    lib.define("f(Tensor a, Tensor b, int c) -> (Tensor, Tensor)")
    lib.impl("f", lambda a, b, c: (torch.from_numpy(a.detach().numpy() * c), b * 2), "CPU")
    f, x = torch.ops.one_by_one_more.f, torch.arange(6.0).view(2, 3)
    yield "first", torch.vmap(f, in_dims=(0, None, None))(x, torch.ones(2), 3)
    yield "both", torch.vmap(lambda a, b: f(a, b, 2), in_dims=(0, 1))(x, torch.ones(3, 2))
    lib._destroy()


@case("one_by_one.splits_that_are_no_views")
def _(torch):
    x = torch.arange(12.0).view(4, 3)
    for name in ("unsafe_split", "unsafe_chunk"):
        yield name, torch.vmap(getattr(torch, name), in_dims=(0, None))(x, 2)


@case("one_by_one.hooks_that_are_not_saved")
def _(torch):
    def passed(g):
        return g

    @torch.utils.hooks.unserializable_hook
    def marked(g):
        return g

    for way, save in (("pickle", pickle.dumps), ("save", lambda t: torch.save(t, io.BytesIO()))):
        for hook in (passed, marked):
            t = torch.ones(2, requires_grad=True)
            t.register_hook(hook)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                save(t)
            yield f"{way} {hook.__name__}", [str(w.message).partition(" at 0x")[2].partition(">")[2] for w in said]
