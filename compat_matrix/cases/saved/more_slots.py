"""Slots of saved tensors: freed ones, indices that were slices, one made by hand, what in-place operators save."""

from compat_matrix.case import case, raises
from compat_matrix.cases.saved.mutation import sizes


@case("saved.more_slots.freed")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    y.sum().backward()
    yield "hooks", raises(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    z = x[torch.tensor([0, 1])]
    z.sum().backward()
    yield "list", raises(lambda: z.grad_fn._raw_saved_indices)


@case("saved.more_slots.indices")
def _(torch):
    x, i = torch.ones(2, 2, 3, requires_grad=True), torch.tensor([1, 0])
    for name, y in {"second": x[:, i], "third": x[:, :, i], "outer": x[i, :, i], "first": x[i]}.items():
        yield name, y.grad_fn._saved_indices, len(y.grad_fn._raw_saved_indices)
    y = x[:, i]
    yield "none", raises(lambda: y.grad_fn._raw_saved_indices[0].register_hooks(lambda t: t, lambda t: t))


@case("saved.more_slots.by_hand")
def _(torch):
    x, calls = torch.tensor([1.0, 2.0], requires_grad=True), []
    make = torch._C._autograd._make_saved_tensor
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (calls.append("pack"), t * 2)[1], lambda t: (calls.append("unpack"), t)[1]):
        slot = make(x, is_output=False)
        yield "hooks", slot.unpack(), calls
    slot = make(x, is_output=False)
    yield "plain", slot.unpack() is x
    y = x * 1
    slot = make(y, False)
    y.add_(1)
    yield "written", raises(slot.unpack)


@case("saved.more_slots.written_in_place")
def _(torch):
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        x = torch.tensor([0.5, 1.0], requires_grad=True).clone()
        y = x ** 2
        x.sin_()
        yield "two", sizes(ctx)[:2]
        z = x ** 2
        x.sin_()
        yield "four", sizes(ctx)[:2]
        del y
        yield "one gone", sizes(ctx)[:2]
        del z
        yield "none", sizes(ctx)[:2]
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (seen.append(t._version), t)[1], lambda t: t):
        x = torch.tensor([0.5, 1.0], requires_grad=True)
        y = (x * 1).sin_().sin_()
        yield "copies", seen
        y.sum().backward()
        yield "grad", x.grad


@case("saved.more_slots.nodes")
def _(torch):
    node, functions = torch.autograd.graph.Node, torch._C._functions
    yield "classes", issubclass(functions.DelayedError, node), issubclass(functions.UndefinedGrad, node), issubclass(functions.AccumulateGrad, node)
    yield "modes", torch._C.is_grad_enabled(), torch._C._is_fwd_grad_enabled(), torch._C._warn_on_accumulate_grad_stream_mismatch()


@case("saved.more_slots.unique")
def _(torch):
    x = torch.tensor([3.0, 1.0, 3.0], requires_grad=True)
    for name, f in {"_unique": torch._unique, "_unique2": torch._unique2, "unique_dim": lambda t: torch._VF.unique_dim(t, 0)}.items():
        out = f(x)
        yield name, out, out[0].grad_fn.name()


@case("saved.more_slots.attention")
def _(torch):
    for masked in (False, True):
        query, key, value = (torch.linspace(-1, 1, 16).reshape(1, 2, 2, 4).mul(n).requires_grad_() for n in (1, 2, 3))
        mask = torch.tensor([[True, False], [True, True]]) if masked else None
        y = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
        node = y.grad_fn
        yield f"output {masked}", node._saved_output, torch.equal(node._saved_output, y)
        yield f"inputs {masked}", node._saved_query is query, node._saved_key is key, node._saved_value is value
        yield f"rest {masked}", node._saved_dropout_p, node._saved_is_causal
        y.sum().backward()
        yield f"grads {masked}", query.grad, key.grad, value.grad
        yield f"freed {masked}", raises(lambda: node._saved_output)
