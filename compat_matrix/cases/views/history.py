"""Gradients and nodes when views and in-place writes meet."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate


def base(torch, scale=1):
    x = torch.arange(1.0, 7.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    return x, x * scale


def weights(torch):
    return torch.tensor([[1.0, 10.0, 100.0], [1000.0, 1e4, 1e5]], dtype=torch.float64)


WRITES = {  # y is a non-leaf (2, 3), w a leaf of one element
    "row mul_": "y[0].mul_(2)", "row zero_": "y[1].zero_()", "column add_": "y[:, 1].add_(w)",
    "row imul": "y[0].__imul__(w)",
    "slice fill_": "y[:, 1:].fill_(3)", "transposed mul_": "y.t()[0].mul_(w)", "view mul_": "y.view(6)[2:4].mul_(w)",
    "element setitem": "y.__setitem__((0, 1), w[0])", "row setitem": "y.__setitem__(1, w)",
    "slice setitem": "y.__setitem__((slice(None), 1), w)",
    "number setitem": "y.__setitem__((0, 0), 7.0)", "mask setitem": "y.__setitem__(y > 3, 0.0)",
    "mask setitem tensor": "y.__setitem__(y > 3, w)",
    "index setitem": "y.__setitem__((torch.tensor([0, 1]), torch.tensor([1, 2])), w)",
    "list setitem": "y.__setitem__([0], w)",
    "diagonal mul_": "y.diagonal().mul_(w)", "exp_ of row": "y[0].exp_()", "self row": "y[0].mul_(y[1])",
    "copy row": "y[0].copy_(y[1])",
    "row from base": "y[0].add_(y.sum())", "select of view": "y.view(3, 2)[1][0].mul_(w[0])",
    "narrow": "y.narrow(1, 0, 2).mul_(w)",
    "unsqueeze": "y.unsqueeze(0)[:, 1].mul_(w)", "permute": "y.permute(1, 0)[1:].mul_(w)", "pow_": "y[0].pow_(2)",
    "whole through view": "y.view(-1).mul_(w)", "ellipsis setitem": "y.__setitem__(Ellipsis, w)",
    "sigmoid_ of column": "y[:, 0].sigmoid_()",
    "relu_ of slice": "y[:, 1:].relu_()",
    "index_add_ on row": "y[0].index_add_(0, torch.tensor([0, 0]), w.expand(2))",
    "masked_fill_ on row": "y[0].masked_fill_(y[0] > 1, 5.0)", "step slice": "y[:, ::2].mul_(w)",
    "step setitem": "y.__setitem__((slice(None), slice(0, 3, 2)), w)",
    "as_strided": "y.as_strided((2,), (3,), 1).mul_(w)", "squeeze": "y[:1].squeeze(0).mul_(w)",
    "expand copy": "y.copy_(w)", "whole": "y.mul_(w)",
    "newaxis setitem": "y.__setitem__((0, None, slice(0, 2)), w)", "detached write": "y.detach()[0].mul_(2)",
    "data write": "y.data[0].mul_(2)",
    "negative setitem": "y.__setitem__((-1, -1), w[0])", "double write": "(y[0].mul_(w), y[:, 0].mul_(w))",
    "flatten": "y.flatten()[::2].mul_(w)",
    "cumsum_ on row": "y[1].cumsum_(0)", "clamp_ on row": "y[1].clamp_(4.5, 5.5)",
    "normal setitem row tensor": "y.__setitem__(0, y[1] * w)",
}


def write(torch, expression):
    x, y = base(torch)
    w = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    evaluate(torch, expression, y=y, w=w)
    yield "node", y.grad_fn.name(), y._version
    loss = (y * weights(torch)).sum()
    yield "backward", attempt(loss.backward)
    yield "value", y.detach()
    yield "gradients", x.grad, w.grad


def write_twice_differentiable(torch, expression):
    x, y = base(torch, 3)
    w = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    evaluate(torch, expression, y=y, w=w)
    gx, gw = torch.autograd.grad((y * y * y).sum(), [x, w], create_graph=True, allow_unused=True)
    yield "first", gx.detach(), None if gw is None else gw.detach()
    total = (gx * gx).sum() + (0 if gw is None else (gw * gw).sum())
    found = torch.autograd.grad(total, [x, w], allow_unused=True, materialize_grads=True)
    yield "second", found


each("views.history.write", write, WRITES)
SECOND_ORDER = ["row mul_", "column add_", "row imul", "transposed mul_", "element setitem", "slice setitem",
    "mask setitem tensor",
                "index setitem", "diagonal mul_", "copy row", "pow_", "exp_ of row", "double write",
                "whole through view"]
each("views.history.second", write_twice_differentiable, {name: WRITES[name] for name in SECOND_ORDER})


def view_after_base_write(torch, expression):
    """A view taken before the base is written: value, new node, gradients."""
    x, y = base(torch)
    v = evaluate(torch, expression, y=y)
    before = v.grad_fn.name()
    y.mul_(2)
    yield "nodes", before, v.grad_fn.name(), y.grad_fn.name()
    yield "value", v.detach().clone(), v._version
    v.sum().backward()
    yield "grad", x.grad


def base_after_view_write(torch, expression):
    x, y = base(torch)
    v = evaluate(torch, expression, y=y)
    other = y[0]
    v.mul_(2)
    yield "nodes", v.grad_fn.name(), y.grad_fn.name(), other.grad_fn.name()
    yield "values", y.detach(), other.detach().clone()
    (y.sum() + v.sum() * 10 + other.sum() * 100).backward()
    yield "grad", x.grad


TAKEN = {"row": "y[0]", "column": "y[:, 1]", "view": "y.view(6)", "t": "y.t()", "slice": "y[:, 1:]",
    "step": "y[:, ::2]",
         "unsqueeze": "y.unsqueeze(0)", "squeeze": "y[:1].squeeze(0)", "permute": "y.permute(1, 0)",
         "diagonal": "y.diagonal()",
         "narrow": "y.narrow(0, 1, 1)", "view of view": "y.view(6)[1:4]", "reshape": "y.reshape(3, 2)",
         "select": "y.select(0, 1)",
         "flatten": "y.flatten()", "as_strided": "y.as_strided((2,), (3,), 1)", "movedim": "y.movedim(0, 1)",
         "element": "y[0, 1]", "view_as": "y.view_as(y)", "none": "y[None]", "ellipsis": "y[..., 0]",
         "deep": "y.t()[1:].t()[0]",
         "expand": "y.expand(2, 3)", "mT": "y.mT", "unflatten": "y.view(6).unflatten(0, (3, 2))[1]"}
each("views.history.base_written", view_after_base_write, TAKEN)
each("views.history.view_written", base_after_view_write, TAKEN)


@case("views.history.copyslices.next_functions")
def _(torch):
    _x, y = base(torch)
    w = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    y[0].mul_(w)
    yield "node", y.grad_fn.name()
    yield "next", [n.name() if n else None for n, _ in y.grad_fn.next_functions]
    yield "view next", [n.name() if n else None for n, _ in y[0].grad_fn.next_functions]


@case("views.history.constant_base_gets_history")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.zeros(2, 2)
    early = b[1]
    b[0].add_(x)
    yield "flags", b.requires_grad, b.is_leaf, b.grad_fn.name(), early.requires_grad, early.grad_fn.name()
    b.sum().backward()
    yield "grad", x.grad, b.detach()


@case("views.history.early_view_then_other_view_written")
def _(torch):
    x, y = base(torch)
    a, b = y[0], y[1]
    a.mul_(3)
    yield "b node", b.grad_fn.name(), b._version, a._version, y._version
    (b * 2).sum().backward()
    yield "grad", x.grad


@case("views.history.stale_view_kept_value_for_old_readers")
def _(torch):
    x, y = base(torch)
    v = y[0]
    z = v + 1
    y.zero_()
    (z.sum() + v.sum()).backward()
    yield "values", z.detach(), v.detach().clone()
    yield "grad", x.grad


@case("views.history.view_of_leaf")
def _(torch):
    x = torch.arange(4.0, requires_grad=True)
    v = x[1:]
    yield "add_", raises(lambda: v.add_(1))
    yield "setitem", raises(lambda: v.__setitem__(0, 1.0))
    yield "view of view", raises(lambda: v[1:].mul_(2))
    yield "fill", raises(lambda: x.view(2, 2)[0].fill_(0))
    yield "node", v.grad_fn.name()
    yield "kept", x.detach(), x._version


MULTI = {"unbind": "y.unbind(0)[1]", "split": "y.split(1)[0]", "chunk": "y.chunk(2)[1]",
    "split sizes": "y.split([1, 2], 1)[1]",
         "tensor_split": "y.tensor_split(2)[0]", "iter": "list(y)[0]", "hsplit": "y.hsplit(3)[0]",
         "unbind dim": "y.unbind(1)[2]",
         "unsafe_split": "y.unsafe_split(1)[0]", "unsafe_chunk": "y.unsafe_chunk(2)[0]",
         "view of unbind": "y.unbind(0)[0][1:]",
         "split_with_sizes": "y.split_with_sizes([2, 1], 1)[0]"}


def multi_view_written(torch, expression):
    _x, y = base(torch)
    v = evaluate(torch, expression, y=y)
    yield "node", v.grad_fn.name(), v.output_nr, v._is_view()
    yield "mul_", attempt(lambda: v.mul_(2).grad_fn.name())
    yield "setitem", raises(lambda: v.__setitem__(0, 5.0))
    yield "under no_grad", raises(lambda: under_no_grad(torch, v))
    yield "base", y.detach()


def under_no_grad(torch, v):
    with torch.no_grad():
        v.add_(1)


each("views.history.multi", multi_view_written, MULTI)


def multi_view_base_written(torch, expression):
    x, y = base(torch)
    v = evaluate(torch, expression, y=y)
    y.mul_(2)
    yield "value", v.detach().clone()
    yield "node", attempt(lambda: v.grad_fn.name())
    yield "backward", raises(lambda: v.sum().backward())
    yield "grad", x.grad


each("views.history.multi_base", multi_view_base_written, MULTI)


def multi_view_gradient(torch, expression):
    x, y = base(torch)
    v = evaluate(torch, expression, y=y)
    (v * v).sum().backward()
    yield "grad", x.grad


each("views.history.multi_gradient", multi_view_gradient, MULTI)


@case("views.history.made_in_no_grad")
def _(torch):
    _x, y = base(torch)
    with torch.no_grad():
        v = y[0]
    yield "flags", v.requires_grad, v._is_view(), v.grad_fn
    yield "written with grad", raises(lambda: v.mul_(2))
    yield "written with leaf", raises(lambda: v.mul_(torch.ones(3, dtype=torch.float64, requires_grad=True)))
    with torch.no_grad():
        v.mul_(2)
    yield "base", y.detach(), y._version


@case("views.history.view_of_leaf_made_in_no_grad")
def _(torch):
    x = torch.ones(4, requires_grad=True)
    with torch.no_grad():
        v = x[:2]
    yield "written", raises(lambda: v.mul_(2))
    with torch.no_grad():
        v.mul_(5)
        x[3] = 7
        x.view(2, 2)[1] += 1
    yield "leaf", x.detach(), x.is_leaf, x.requires_grad, x._version
    (x * x).sum().backward()
    yield "grad", x.grad


@case("views.history.base_used_before_write")
def _(torch):
    _x, y = base(torch)
    z = y * y
    y[0].mul_(2)
    yield "error", raises(lambda: z.sum().backward())
    _x, y = base(torch)
    v = y[0]
    z = v * v
    y[1].mul_(2)
    yield "view saved, other part written", raises(lambda: z.sum().backward())


@case("views.history.hook_before_and_after")
def _(torch):
    x, y = base(torch)
    seen = []
    y.register_hook(lambda g: seen.append(("before", g.clone())))
    y[0].mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.clone())))
    y.sum().backward()
    yield "seen", seen
    yield "grad", x.grad


@case("views.history.retain_grad_follows")
def _(torch):
    x, y = base(torch)
    y.retain_grad()
    y[0].mul_(3)
    (y * 2).sum().backward()
    yield "grads", y.grad, x.grad


@case("views.history.complex_parts_written")
def _(torch):
    z = torch.tensor([1 + 2j, 3 + 4j], dtype=torch.complex128, requires_grad=True)
    y = z * 1
    y.real.mul_(2)
    torch.view_as_real(y)[1, 1] = 0
    yield "value", y.detach(), y.grad_fn.name()
    (y.abs() ** 2).sum().backward()
    yield "grad", z.grad


@case("views.history.row_by_row_fill")
def _(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    out = torch.zeros(3, 3)
    for i in range(3):
        out[i] = x * (i + 1)
        out[i, i] = 0
    yield "value", out.detach()
    (out * out).sum().backward()
    yield "grad", x.grad


@case("views.history.recurrence_in_buffer")
def _(torch):
    a = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    h = torch.ones(5, dtype=torch.float64)
    h = h.clone()
    for t in range(1, 5):
        h[t] = h[t - 1] * a + 1
    yield "value", h.detach(), h.grad_fn.name()
    yield "backward", attempt(lambda: h.sum().backward()), a.grad


@case("views.history.recurrence_with_clones")
def _(torch):
    a = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    h = torch.ones(5, dtype=torch.float64)
    for t in range(1, 5):
        h[t] = h[t - 1].clone() * a + 1
    h.sum().backward()
    yield "grad", h.detach(), a.grad


@case("views.history.slice_plus_equals")
def _(torch):
    x, y = base(torch)
    y[:, 0] += 1
    y[0] *= 2
    y[1, 1:] -= y[0, 1:]
    y[..., 2] /= 4
    yield "value", y.detach(), y._version, y.grad_fn.name()
    (y * weights(torch)).sum().backward()
    yield "grad", x.grad


@case("views.history.slice_plus_equals_plain")
def _(torch):
    t = torch.arange(6.0).reshape(2, 3)
    t[0] += 1
    t[:, 1] *= 10
    t[t > 10] -= 5
    t[torch.tensor([0, 1]), torch.tensor([0, 0])] += 0.5
    t[1, 1:][0] += 100
    yield "value", t, t._version


@case("views.history.reshape_of_non_contiguous_is_a_copy")
def _(torch):
    x, y = base(torch)
    r = y.t().reshape(6)
    r.mul_(2)
    yield "base untouched", y.detach(), r.grad_fn.name()
    r.sum().backward()
    yield "grad", x.grad


@case("views.history.leaf_view_chain_gradient")
def _(torch):
    x = torch.arange(24.0, requires_grad=True)
    v = x.view(2, 3, 4).permute(2, 0, 1)[1:3].transpose(0, 1)[..., ::2].unsqueeze(0).squeeze(0)
    (v * torch.arange(8.0).reshape(v.shape)).sum().backward()
    yield "grad", x.grad


@case("views.history.replay_setting")
def _(torch):
    _x, y = base(torch)
    v = y.view(6)
    with torch.autograd._force_original_view_tracking(True):
        y.mul_(2)
        yield "replayed", v.grad_fn.name()
    w = y.view(6)
    y.mul_(2)
    yield "default", w.grad_fn.name()


@case("views.history.set_grad_of_view_leaf")
def _(torch):
    b = torch.zeros(4)
    v = b[:2]
    v.requires_grad_()
    yield "flags", v.is_leaf, v.requires_grad, b.requires_grad
    yield "write leaf view", raises(lambda: v.add_(1))
    yield "write base", attempt(lambda: b.add_(1).requires_grad)


@case("views.history.optimizer_style")
def _(torch):
    w = torch.ones(2, 2, requires_grad=True)
    for _step in range(2):
        loss = (w * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum() ** 2
        loss.backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.01)
            w[0].clamp_(min=0)
        w.grad = None
    yield "w", w.detach(), w._version


# A base that begins to require grad after it was written to

for _look in (False, True):
    for _write in (False, True):
        @case(f"views.history.base that requires grad later, {'looked at' if _look else 'not looked at'}, {'written' if _write else 'as it was'}", look=_look, write=_write)
        def _(torch, look, write):
            b = torch.zeros(4)
            v = b[1:]
            if write:
                b.add_(1.0)
            if look:
                v.tolist()
            b.requires_grad_()
            yield "view", (v.requires_grad, v.is_leaf)
            try:
                (v * 2).sum().backward()
                yield "grad", b.grad
            except RuntimeError as e:
                yield "refused", str(e)


@case("views.history.parts of complex numbers, expanded and written to")
def _(torch):
    x = torch.zeros(4, dtype=torch.complex64)
    v = x.imag.expand_as(x.imag)
    v += 2
    w = x.real.unfold(0, 2, 2)[1]
    w -= 1
    x.imag[1:].expand(3)[None].mul_(2)
    yield "x", x


@case("views.history.of another dtype under no_grad")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        v = x.view(torch.float32)
        yield "same", (v.requires_grad, v._is_view())
        yield "int", x.view(torch.int32).requires_grad
    v.mul_(2)
    yield "x", (x, x._version)


@case("views.history.another dtype of strided and expanded views, written to")
def _(torch):
    x = torch.ones(3)
    x.as_strided((2,), (1,)).view(torch.int32).fill_(1065353217)
    x.expand(1, 3).view(torch.float32).mul_(2)
    yield "x", x
