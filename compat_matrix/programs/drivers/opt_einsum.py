"""Contractions in a found order, as expressions, with constants and with gradients."""

import opt_einsum as oe
import torch


def program():
    torch.set_default_dtype(torch.float64)
    a, b, c = (torch.randn(s, requires_grad=True) for s in [(3, 4), (4, 5), (5, 3, 2)])
    out = oe.contract("ij,jk,kil->l", a, b, c)
    yield "contract", out, torch.autograd.grad(out.pow(2).sum(), [a, b, c])
    path, info = oe.contract_path("ij,jk,kil->l", a, b, c, optimize="optimal")
    yield "path", [list(p) for p in path], float(info.opt_cost)
    for optimize in ["greedy", "dp", "branch-2"]:
        yield optimize, oe.contract("ab,bc,cd,da->", a, a.T, a, a.T, optimize=optimize)
    expression = oe.contract_expression("ij,jk,kil->il", (3, 4), b.detach(), (5, 3, 2), constants=[1])
    yield "expression", expression(a, c), expression(a.detach(), c.detach(), backend="torch")
    yield "interleaved", oe.contract(a, [0, 1], b, [1, 2], [2, 0]), oe.contract("...i,...i", a, a), oe.contract("ii->i", a[:3, :3]), oe.contract("ij->ji", a)
    with oe.shared_intermediates():
        yield "shared", oe.contract("ij,jk->ik", a, b), oe.contract("ij,jk->k", a, b)
    yield "tensordot", oe.contract("abc,bcd->ad", c, c.permute(1, 2, 0))
