"""A `SavedTensor` looked at: `data`, `unpack()`, `unpack_hook`."""

from compat_matrix.case import case, raises


@case("saved.slots.look")
def _(torch):
    x = torch.ones(3, requires_grad=True)
    z = x.sin()
    r = z.grad_fn._raw_saved_self
    yield "input", r.data is x, r.unpack() is x, r.unpack_hook, raises(lambda: r.foo)
    r.register_hooks(lambda a: ("q", a * 2), lambda q: q[1])
    yield "packed", r.data, r.unpack(), r.unpack_hook is not None
    z.sum().backward()
    yield "grad", x.grad
    yield "freed", r.data, raises(lambda: r.unpack())
    e = x.exp()
    r = e.grad_fn._raw_saved_result
    yield "result", r.data is e, r.data
    w = torch.nn.functional.layer_norm(x, (3,))
    yield "none", w.grad_fn._raw_saved_weight.data, w.grad_fn._raw_saved_weight.unpack()
    with torch.autograd.graph.saved_tensors_hooks(lambda a: ("p", a), lambda a: a[1]):
        held = x.sin()
    r = held.grad_fn._raw_saved_self
    yield "default hooks", r.data, r.unpack(), r.unpack_hook is not None
    yield "metadata", type(z.grad_fn._input_metadata).__name__, type(z.grad_fn._input_metadata[0]).__name__
