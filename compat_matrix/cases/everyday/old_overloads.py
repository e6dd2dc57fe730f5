"""Calls in the order of arguments of PyTorch before 1.5, which still works."""

from compat_matrix.case import case, raises, warned


@case("everyday.old_overloads")
def _(torch):
    x, y, z = torch.ones(2), torch.full((2,), 3.0), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    calls = {
        "add_": lambda: x.clone().add_(2, y), "add": lambda: x.add(2, y), "torch.add": lambda: torch.add(x, 2, y), "sub": lambda: x.sub(0.5, y),
        "addcmul_": lambda: x.clone().addcmul_(2, y, y), "addcdiv_": lambda: x.clone().addcdiv_(2, x, y), "torch.addcmul": lambda: torch.addcmul(x, 2, y, y),
        "addmm": lambda: z.addmm(2, z, z), "addmm_": lambda: z.clone().addmm_(2, 3, z, z), "torch.addmm": lambda: torch.addmm(2, z, 3, z, z),
        "torch.addmm 1": lambda: torch.addmm(2, z, z, z), "addmv": lambda: x.addmv(2, z, y), "torch.addmv": lambda: torch.addmv(2, x, 3, z, y),
        "addr_": lambda: z.clone().addr_(2, x, y), "baddbmm": lambda: z[None].baddbmm(2, z[None], z[None]), "addbmm": lambda: z.addbmm(2, z[None], z[None])}
    for name, f in calls.items():
        yield name, f()
    yield "wrong", raises(lambda: x.add_(2, "a")), raises(lambda: x.addcmul_(2, y))
    w = x.clone().requires_grad_()
    w.add(2, w * w).sum().backward()
    yield "grad", w.grad


@case("everyday.old_overloads.words")
def _(torch):
    x, z = torch.ones(2), torch.ones(2, 2)
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        yield "add_", warned(lambda: x.clone().add_(2, x))
        yield "addcmul", warned(lambda: torch.addcmul(x, 2, x, x))
        yield "addmm", warned(lambda: torch.addmm(2, z, 3, z, z)), warned(lambda: z.addmm(2, z, z))
    finally:
        torch.set_warn_always(before)
