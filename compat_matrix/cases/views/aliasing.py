"""Writes through views and through bases; layout; what is a view at all."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate

VIEWS = {  # over a contiguous (2, 3, 4) tensor b
    "select": "b[1]", "select_neg": "b[-1]", "slice": "b[:, 1:3]", "step": "b[:, :, ::2]", "ellipsis": "b[..., 1]",
    "none": "b[None]", "mixed": "b[1, :, None, 1:]", "view": "b.view(6, 4)", "view_minus_one": "b.view(-1)",
    "reshape": "b.reshape(4, 6)", "flatten": "b.flatten()", "flatten_part": "b.flatten(1)", "ravel": "b.ravel()",
    "transpose": "b.transpose(0, 2)", "permute": "b.permute(2, 0, 1)", "t": "b[0].t()", "mT": "b.mT",
    "swapaxes": "b.swapaxes(0, 1)",
    "unsqueeze": "b.unsqueeze(1)", "squeeze": "b[:1].squeeze(0)", "squeeze_nothing": "b.squeeze()",
    "narrow": "b.narrow(2, 1, 2)",
    "select_method": "b.select(1, 2)", "movedim": "b.movedim(0, -1)", "diagonal": "b.diagonal(0, 1, 2)",
    "diagonal_offset": "b[0].diagonal(1)", "unbind": "b.unbind(1)[2]", "split": "b.split(2, 1)[1]",
    "chunk": "b.chunk(2, 2)[1]",
    "split_sizes": "b.split([1, 3], 2)[1]", "tensor_split": "b.tensor_split(2, 2)[0]",
    "view_as": "b.view_as(torch.empty(4, 6))",
    "unfold": "b[0, 0].unfold(0, 2, 2)", "as_strided": "b.as_strided((2, 2), (12, 1), 1)",
    "detach": "b.detach()", "data": "b.data",
    "expand_as_is": "b.expand(2, 3, 4)", "unflatten": "b.unflatten(2, (2, 2))",
    "chain": "b.permute(2, 1, 0)[1:3].select(2, 1)",
    "slice_of_slice": "b[:, 1:][:, 1:]", "iter": "list(b)[1]", "hsplit": "b.hsplit(3)[1]", "real_of_real": "b.real",
    "contiguous": "b.contiguous()", "to_same": "b.to(b.dtype)", "T": "b[0].T", "expand": "b[0, 0, :1].expand(3)",
    "view_other_dims": "b.transpose(0, 1).transpose(0, 1).view(24)", "positional_view": "b.view((3, 8))",
    "squeeze_dim": "b[:1].squeeze(0)",
    "adjoint": "b.adjoint()", "narrow_negative": "b.narrow(1, -1, 1)", "vsplit": "b.vsplit(2)[1]",
    "dsplit": "b.dsplit(2)[1]",
    "movedim_two": "b.movedim((0, 1), (1, 2))", "index_zero_dim_select": "b[torch.tensor(1)]", "bool_true": "b[True]",
    "broadcast_to": "b[0].broadcast_to(2, 3, 4)", "conj_real": "b.conj()",
    "reshape_as": "b.reshape_as(torch.empty(2, 12))",
}
COPIES = {
    "advanced": "b[torch.tensor([0, 1])]", "mask": "b[b > 5]", "reshape_copy": "b.transpose(0, 1).reshape(-1)",
    "clone": "b.clone()",
    "flip": "b.flip(0)", "roll": "b.roll(1)", "repeat": "b.repeat(1, 1, 1)",
    "index_select": "b.index_select(0, torch.tensor([1]))",
    "contiguous_copy": "b.transpose(0, 1).contiguous()", "to_other": "b.double()", "cat": "torch.cat([b])",
    "tril": "b.tril()",
    "list_index": "b[[1]]", "flatten_copy": "b.transpose(0, 1).flatten()", "where": "torch.where(b > 5, b, b)",
    "stack": "torch.stack([b])[0]",
}


def fresh(torch):
    return torch.arange(24.0).reshape(2, 3, 4).clone()


def layout(torch, expression):
    b = fresh(torch)
    v = evaluate(torch, expression, b=b)
    yield "value", v.clone()
    yield "strides", tuple(v.stride()), v.storage_offset(), v.is_contiguous()
    yield "view", v._is_view(), v._base is b, v is b


def start(torch, expression):
    b = fresh(torch)
    v = evaluate(torch, expression, b=b)
    shared = v.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    yield "start", v.data_ptr() - b.data_ptr() if shared else "elsewhere"


each("views.layout", layout, VIEWS)
each("views.start", start, {name: VIEWS[name] for name in ("select", "step", "view", "permute", "unbind", "detach", "chain")})
each("views.start", start, {name: COPIES[name] for name in ("advanced", "clone", "reshape_copy")})
each("views.layout", layout, {"copy_" + name: expression for name, expression in COPIES.items()})


def write_view(torch, expression):
    b = fresh(torch)
    v = evaluate(torch, expression, b=b)
    written = attempt(lambda: v.mul_(-1) is v)
    yield "written", written
    yield "base", b
    yield "versions", b._version, v._version


def write_base(torch, expression):
    b = fresh(torch)
    v = evaluate(torch, expression, b=b)
    b.add_(100)
    yield "view", v.clone()
    b[1, 2, 3] = -7
    yield "again", v.clone(), v._version


each("views.write_view", write_view, VIEWS)
each("views.write_view", write_view, {"copy_" + name: expression for name, expression in COPIES.items()})
each("views.write_base", write_base, VIEWS)
each("views.write_base", write_base, {"copy_" + name: expression for name, expression in list(COPIES.items())[:4]})


@case("views.two_views_of_one_base")
def _(torch):
    b = torch.arange(6.0)
    a, c = b[:4], b[2:]
    a.zero_()
    yield "other view", c.clone()
    c.fill_(9)
    yield "first view", a.clone(), b.clone()


@case("views.deep_chain")
def _(torch):
    b = torch.arange(24.0)
    v = b.view(2, 12)[1].view(3, 4).t()[1:].unsqueeze(0).squeeze(0).narrow(0, 1, 2)
    yield "value", v.clone(), v.stride(), v.storage_offset()
    v.fill_(-1)
    yield "base", b
    b.copy_(torch.arange(24.0))
    yield "view", v.clone()


@case("views.write_through_overlapping_windows")
def _(torch):
    b = torch.arange(5.0)
    w = b.unfold(0, 3, 1)
    yield "windows", w.clone(), w.stride()
    b[2] = 50
    yield "after", w.clone()
    w[0, 0] = -1
    yield "base", b


@case("views.expanded")
def _(torch):
    b = torch.tensor([1.0, 2.0])
    e = b.view(2, 1).expand(2, 3)
    b[0] = 10
    yield "value", e.clone(), e.stride(), e.is_contiguous()
    yield "write", raises(lambda: e.add_(1))
    yield "contiguous", e.contiguous().stride()


@case("views.complex_and_real")
def _(torch):
    z = torch.tensor([1 + 2j, 3 + 4j])
    r = torch.view_as_real(z)
    r[0, 1] = 7
    yield "z", z
    z.real.fill_(5)
    yield "real written", z, r.clone()
    z.imag[1] = -1
    yield "imag written", z
    back = torch.view_as_complex(r)
    back[0] = 0
    yield "back", z, z._version


@case("views.conj_is_lazy_view")
def _(torch):
    z = torch.tensor([1 + 2j, 3 + 4j])
    c = z.conj()
    yield "flags", c.is_conj(), c._is_view(), c.resolve_conj().is_conj()
    z[0] = 5j
    yield "after a write", c.clone()
    c[1] = 2 + 2j
    yield "write through", z


@case("views.view_dtype")
def _(torch):
    t = torch.tensor([1.0, -2.0])
    bits = t.view(torch.int32)
    yield "bits", bits.clone()
    yield "bytes", torch.tensor([1], dtype=torch.int32).view(torch.uint8)
    yield "wrong", raises(lambda: torch.zeros(3, dtype=torch.uint8).view(torch.int32))


@case("views.errors.view")
def _(torch):
    t = torch.arange(6.0).reshape(2, 3)
    yield "not contiguous", raises(lambda: t.t().view(6))
    yield "wrong size", raises(lambda: t.view(4))
    yield "two unknown", raises(lambda: t.view(-1, -1))
    yield "negative", raises(lambda: t.view(-2, 3))
    yield "indivisible", raises(lambda: t.view(-1, 4))
    yield "reshape", raises(lambda: t.reshape(5))
    yield "empty", raises(lambda: torch.zeros(0).view(-1, 0))
    yield "stride kept", t.t().view(3, 2).stride()


@case("views.errors.dims")
def _(torch):
    t = torch.arange(6.0).reshape(2, 3)
    yield "transpose", raises(lambda: t.transpose(0, 2))
    yield "permute", raises(lambda: t.permute(0))
    yield "permute twice", raises(lambda: t.permute(0, 0))
    yield "unsqueeze", raises(lambda: t.unsqueeze(4))
    yield "squeeze", raises(lambda: t.squeeze(2))
    yield "select", raises(lambda: t.select(0, 2))
    yield "narrow", raises(lambda: t.narrow(0, 1, 2))
    yield "narrow start", raises(lambda: t.narrow(0, 3, 1))
    yield "expand", raises(lambda: t.expand(4, 3))
    yield "expand fewer", raises(lambda: t.expand(3))
    yield "t", raises(lambda: torch.zeros(1, 2, 3).t())
    yield "diagonal", raises(lambda: torch.zeros(2).diagonal())
    yield "movedim", raises(lambda: t.movedim(0, 5))
    yield "unflatten", raises(lambda: t.unflatten(1, (2, 2)))
    yield "flatten", raises(lambda: t.flatten(1, 0))
    yield "unfold", raises(lambda: t.unfold(0, 3, 1))
    yield "split", raises(lambda: t.split([1, 3], 1))
    yield "split zero", raises(lambda: t.split(0))
    yield "chunk", raises(lambda: t.chunk(0))
    yield "as_strided", raises(lambda: t.as_strided((4, 4), (4, 1)))
    yield "mT", raises(lambda: torch.zeros(2).mT)


@case("views.contiguity")
def _(torch):
    t = torch.arange(6.0).reshape(2, 3)
    yield "t", t.t().is_contiguous(), t.t().contiguous().stride()
    yield "slices", t[:, :2].is_contiguous(), t[:1].is_contiguous(), t[1].is_contiguous(), t[:, :1].is_contiguous()
    yield "contiguous is self", t.contiguous() is t
    yield ("ops", (t.t() + 1).stride(), t.t().exp().stride(), (t.t() + t.t().contiguous()).stride(),
        t.t().clone().stride())
    yield ("like", torch.zeros_like(t.t()).stride(), torch.empty_like(t.t()).stride(),
        t.t().sum(0, keepdim=True).stride())
    yield "broadcast result", (t.t() + torch.ones(2)).stride(), (torch.ones(3, 1) * torch.ones(1, 2)).stride()
    yield "matmul", (t @ t.t()).stride(), t.t().float().stride(), t.t().double().stride()
    yield "empty", torch.zeros(0, 3).stride(), torch.zeros(2, 0).stride(), torch.tensor(1.0).stride()


@case("views.storage")
def _(torch):
    b = torch.arange(6.0)
    v = b[2:]
    yield "sizes", b.untyped_storage().nbytes(), v.untyped_storage().nbytes(), v.element_size(), v.nbytes
    yield "pointers", v.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    yield "clone", v.clone().untyped_storage().nbytes()


@case("views.split_pieces_write_without_grad")
def _(torch):
    b = torch.arange(6.0).reshape(3, 2)
    x, _y, _z = b.unbind(0)
    x.add_(10)
    b.split(1)[1].mul_(100)
    b.chunk(3)[2].zero_()
    yield "base", b
    for row in b:
        row += 1
    yield "iteration", b


@case("views.assignment_rebinds")
def _(torch):
    b = torch.arange(4.0)
    v = b[:2]
    v = v + 1
    v[0] = 99
    yield "base", b


@case("views.base_attribute")
def _(torch):
    b = torch.arange(4.0)
    v = b[:3]
    w = v[1:]
    yield "w base", w._base is b, v._base is b, b._base is None
    yield "is_view", b._is_view(), w._is_view()
    yield "clone", v.clone()._base is None


@case("views.positional_forms")
def _(torch):
    b = torch.arange(6.0)
    yield "view", b.view(2, 3).shape, b.view([2, 3]).shape, b.view((2, -1)).shape, b.view(torch.Size([3, 2])).shape
    yield "reshape", b.reshape(2, 3).shape, torch.reshape(b, (3, 2)).shape, b.reshape([6]).shape
    yield "permute", b.view(1, 2, 3).permute(2, 1, 0).shape, torch.permute(b.view(1, 2, 3), (0, 2, 1)).shape
    yield ("expand", b[:1].expand(3).shape, b[:1].expand(2, 3).shape, b[:1].expand([4]).shape,
        b.view(1, 6).expand(3, -1).shape)
    yield ("squeeze", b.view(1, 6, 1).squeeze().shape, b.view(1, 6, 1).squeeze(0).shape,
        b.view(1, 6, 1).squeeze((0, 2)).shape)
    yield "flatten", b.view(1, 2, 3).flatten(0, 1).shape, torch.tensor(1.0).flatten().shape
    yield ("transpose by name", b.view(2, 3).transpose(dim0=0, dim1=1).shape,
        torch.transpose(b.view(2, 3), -1, -2).shape)


@case("views.same_memory_after_add_")
def _(torch):
    b = torch.zeros(4)
    v = b.view(2, 2)
    p = v.data_ptr()
    b.add_(1)
    yield "pointer", v.data_ptr() == p == b.data_ptr()


@case("views.is_set_to_and_shares")
def _(torch):
    b = torch.arange(4.0)
    yield "is_set_to", b.is_set_to(b.view(4)), b.is_set_to(b.clone())
