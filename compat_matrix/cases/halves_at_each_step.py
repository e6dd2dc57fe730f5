"""Half precision where torch rounds between the steps of one operator: log_softmax over the last dim, logsumexp."""

from ..case import case


@case("halves_at_each_step.logarithms")
def _(torch):
    torch.manual_seed(0)
    for dtype in (torch.float16, torch.bfloat16):
        for n in (3, 17, 70):
            x = (torch.randn(6, n) * 3).to(dtype).requires_grad_(True)
            for name, f in (("log_softmax", lambda x: torch.log_softmax(x, 1)), ("other dim", lambda x: torch.log_softmax(x, 0)),
                            ("logsumexp", lambda x: torch.logsumexp(x, 1)), ("two dims", lambda x: torch.logsumexp(x, (0, 1)))):
                y = f(x)
                (g,) = torch.autograd.grad((y * y).sum(), x)
                yield f"{dtype} {n} {name}", y.detach().float().tolist(), y.grad_fn.name(), g
