"""What `backward` and `grad` say about arguments that are nothing to them."""

from compat_matrix.case import case, raises


@case("engine.arguments.inputs")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    for inputs in ("ab", [None], [1], [x, 1]):
        yield f"backward {inputs!r:.6}", raises(lambda inputs=inputs: y.backward(torch.ones(2), inputs=inputs, retain_graph=True))
        yield f"grad {inputs!r:.6}", raises(lambda inputs=inputs: torch.autograd.grad(y, inputs, torch.ones(2), retain_graph=True))
    yield "nothing came", x.grad


@case("engine.arguments.batched")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    for given in (torch.ones(()), torch.ones(0, 2), torch.ones(3, 4)):
        yield str(tuple(given.shape)), raises(lambda given=given: torch.autograd.grad(y, x, given, is_grads_batched=True, retain_graph=True))
    both = [y, y.sum()]
    yield "two sizes", raises(lambda: torch.autograd.grad(both, x, [torch.ones(2, 2), torch.ones(3)], is_grads_batched=True, retain_graph=True))
    yield "two", torch.autograd.grad(both, x, [torch.ones(2, 2), torch.ones(2)], is_grads_batched=True, retain_graph=True)


@case("engine.arguments.hook_types")
def _(torch):
    hooks = (("float32", lambda g: g.to(torch.complex64)), ("bfloat16", lambda g: g.half()), ("bfloat16", lambda g: g > 0), ("float64", lambda g: g.float()))
    for dtype, f in hooks:
        x = torch.ones(2, dtype=getattr(torch, dtype), requires_grad=True)
        x.register_hook(f)
        yield f"{dtype} {f(x.detach()).dtype}", raises(lambda x=x: (x * 2).sum().backward())
