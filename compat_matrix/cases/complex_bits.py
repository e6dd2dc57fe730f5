"""Negative views and the parts of conjugates."""

import warnings

from compat_matrix.case import case, raises


@case("complex_bits.negative")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x._neg_view()
    yield "view", y, y.is_neg(), y._is_view(), y.grad_fn.name(), y._neg_view().is_neg(), y.clone().is_neg(), y.resolve_neg() is y
    yield "numpy", raises(lambda: y.detach().numpy())
    (y * torch.tensor([1.0, 3.0])).sum().backward()
    yield "grad", x.grad
    base = torch.tensor([1.0, 2.0])
    view = base._neg_view()
    view.add_(1)
    yield "written", base, view


@case("complex_bits.parts_of_conjugates")
def _(torch):
    z = torch.tensor([1 + 2j, 3 - 1j]).conj()
    for name, t in {"real": z.real, "imag": z.imag, "whole": z, "twice": z.conj()}.items():
        yield name, t, t.is_conj(), t.is_neg()
    yield "resolved", z.imag.resolve_neg().is_neg(), torch.is_neg(z.imag[1:])


@case("complex_bits.in_another_dtype")
def _(torch):
    z = torch.tensor([1 + 2j, 3 - 1j]).conj()
    for name, t in {"whole": z, "imag": z.imag}.items():
        for dtype in (torch.cfloat, torch.cdouble, torch.float, torch.int32):
            yield f"{name} {dtype}", raises(lambda t=t, dtype=dtype: t.view(dtype))
    yield "real", z.real.view(torch.float).is_neg(), z.resolve_conj().view(torch.float)


@case("complex_bits.written_to_real")
def _(torch):
    one, row = torch.tensor(1j), torch.ones(3) * 1j
    first = torch.tensor([0])
    writes = {
        "fill": lambda x: x.fill_(one), "row": lambda x: x.__setitem__(0, one), "all": lambda x: x.__setitem__(..., one),
        "mask": lambda x: x.__setitem__(x > -1, one), "mask number": lambda x: x.__setitem__(x > -1, 1j), "list": lambda x: x.__setitem__([0], one),
        "list number": lambda x: x.__setitem__([0], 1j), "list row": lambda x: x.__setitem__([0], row), "put": lambda x: x.index_put_((first,), row),
        "nothing": lambda x: x[:0].copy_(torch.ones(0, 3, dtype=torch.cfloat))}
    for name, write in writes.items():
        x = torch.ones(3, 3)
        yield name, raises(lambda x=x, write=write: write(x)), x
    torch.set_warn_always(True)
    try:
        for name in ("fill", "row", "all", "nothing"):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                writes[name](torch.ones(3, 3))
            yield f"{name} said", [str(w.message).partition(" (")[0] for w in seen]
    finally:
        torch.set_warn_always(False)
