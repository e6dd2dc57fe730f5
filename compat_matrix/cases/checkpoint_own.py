"""Selective checkpoints around operators of a program's own: what is held is not computed again, and the calls in a kernel are not asked about."""

from functools import partial

from compat_matrix.case import case, raises


@case("checkpoint_own.held")
def _(torch):
    made, heard = [], []

    @torch.library.custom_op("checkpoint_own::twice_sin", mutates_args=())
    def sin(x: torch.Tensor, k: float) -> torch.Tensor:
        made.append(1)
        return x.sin() * k

    @torch.library.custom_op("checkpoint_own::pair", mutates_args=())
    def pair(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        made.append(2)
        return x.cos(), x * 3

    def keeps(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    sin.register_autograd(lambda ctx, g: (g * ctx.saved_tensors[0].cos() * 2, None), setup_context=keeps)
    pair.register_autograd(lambda ctx, a, b: b * 3 - a * ctx.saved_tensors[0].sin(), setup_context=keeps)
    ours = (torch.ops.checkpoint_own.twice_sin.default, torch.ops.checkpoint_own.pair.default)
    policy = torch.utils.checkpoint.CheckpointPolicy

    def asked(want, ctx, op, *args, **kwargs):
        if op in ours:
            heard.append((str(op), ctx.is_recompute, len(args), kwargs))
        return want if op in ours else policy.PREFER_RECOMPUTE

    def run(f, choice):
        made.clear(), heard.clear()
        x = torch.arange(3.0, requires_grad=True)
        contexts = partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, choice)
        y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False, context_fn=contexts)
        g, = torch.autograd.grad(y.sum(), x)
        return y, g, list(made)

    functions = {"one": lambda x: sin(x.exp(), 2.0).cos(), "two": lambda x: sin(sin(x, 2.0).exp(), 2.0).cos(),
                 "pair": lambda x: (lambda ab: (ab[0] * ab[1]).tanh())(pair(x.exp()))}
    for name, f in functions.items():
        yield f"{name} list", run(f, [*ours])
        yield f"{name} first", run(f, [ours[0]])
        for want in (policy.MUST_SAVE, policy.PREFER_RECOMPUTE):
            yield f"{name} {want.name}", run(f, partial(asked, want)), [h for h in heard if not h[1]]


@case("checkpoint_own.plain")
def _(torch):
    seen = []

    @torch.library.custom_op("checkpoint_own::plain", mutates_args=())
    def plain(x: torch.Tensor) -> torch.Tensor:
        seen.append(1)
        return x.sign() + 1

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    contexts = partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, [torch.ops.checkpoint_own.plain.default])
    y = torch.utils.checkpoint.checkpoint(lambda t: (t * plain(t.detach())).exp(), x, use_reentrant=False, context_fn=contexts)
    y.sum().backward()
    yield "grad", x.grad, len(seen)
    yield "again", raises(lambda: y.sum().backward())


@case("checkpoint_own.passes in a group")
def _(torch):
    """Passes of one group run a region again once, passes outside of it each; a group does not nest."""
    again = torch.utils.checkpoint

    def trained(grouped):
        runs = []

        def region(x):
            runs.append(1)
            a = x.sin().exp()
            return a.cos(), (x * 2).tanh().exp()

        x = torch.tensor([0.3, 0.7], requires_grad=True)
        first, second = again.checkpoint(region, x, use_reentrant=False)
        if grouped:
            with again.GraphExecGroup():
                first.sum().backward(retain_graph=True)
                second.sum().backward()
        else:
            first.sum().backward(retain_graph=True)
            second.sum().backward()
        return x.grad, len(runs)

    yield "grouped", trained(True)
    yield "alone", trained(False)
    with again.GraphExecGroup():
        yield "nested", raises(again.GraphExecGroup().__enter__)
    was = again.DefaultDeviceType.get_device_type()
    again.DefaultDeviceType.set_device_type("cpu")
    yield "default device", again.DefaultDeviceType.get_device_type()
    again.DefaultDeviceType.set_device_type(was)
    with torch.jit.strict_fusion() as entered:
        yield "strict_fusion", entered is None
