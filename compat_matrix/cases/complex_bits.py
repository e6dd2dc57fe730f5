"""Negative views and the parts of conjugates."""

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
