"""What a helper draws from the default generator moves the numbers that a program draws after it."""

from compat_matrix.case import case


@case("everyday.draws.by gradcheck")
def _(torch):
    check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    torch.manual_seed(0)
    x = torch.randn(3, dtype=torch.double, requires_grad=True)
    for name, call in (("plain", lambda: check(torch.tanh, (x,))), ("fast", lambda: check(torch.tanh, (x,), fast_mode=True)),
                       ("forward", lambda: check(torch.tanh, (x,), check_forward_ad=True)),
                       ("batched", lambda: check(torch.tanh, (x,), check_batched_grad=True)),
                       ("batched forward", lambda: check(torch.tanh, (x,), check_forward_ad=True, check_batched_forward_grad=True)),
                       ("twice", lambda: twice(torch.tanh, (x,))), ("twice, fast", lambda: twice(torch.tanh, (x,), fast_mode=True)),
                       ("twice, scattered", lambda: twice(torch.tanh, (x,), gen_non_contig_grad_outputs=True))):
        yield name, call(), torch.rand(2)
