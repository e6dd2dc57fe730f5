"""How gradients lie in memory: as their leaves do, where those have no gaps."""

from itertools import product

from compat_matrix.case import case


def _both(torch, fa, fb):
    a, b = (torch.ones(2, 3, 4, 5).to(memory_format=f).requires_grad_() for f in (fa, fb))
    a.sum().backward()
    b.sum().backward()
    yield a.grad.stride(), b.grad.stride()
    a.grad = b.grad = None
    (a * b).sum().backward()
    yield a.grad.stride(), b.grad.stride(), a.grad.is_contiguous(), a.grad.is_contiguous(memory_format=torch.channels_last)


@case("gradient_layouts.memory_formats")
def _(torch):
    for fa, fb in product((torch.contiguous_format, torch.channels_last), repeat=2):
        yield str((fa, fb)), *_both(torch, fa, fb)


@case("gradient_layouts.transposed")
def _(torch):
    for create in (False, True):
        a = torch.ones(2, 3).t().requires_grad_()
        (a * 2).sum().backward(create_graph=create)
        yield f"view {create}", a.stride(), a.grad.stride(), a.grad.clone().stride()
        a = torch.ones(2, 3).t().clone().requires_grad_()
        a.sum().backward(create_graph=create)
        yield f"copy {create}", a.grad.stride(), a.grad
    a.sum().backward()
    yield "again", a.grad.stride(), a.grad
    gaps = torch.ones(4, 6)[::2, ::2].requires_grad_()
    gaps.sum().backward()
    yield "gaps", gaps.stride(), gaps.grad.stride()


@case("gradient_layouts.assigned")
def _(torch):
    a = torch.ones(2, 3).t().requires_grad_()
    a.grad = torch.zeros(3, 2)
    yield "kept", a.grad.stride()
    a.sum().backward()
    yield "added", a.grad.stride(), a.grad


@case("gradient_layouts.modules_and_hooks")
def _(torch):
    p = torch.nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last)
    p(torch.ones(1, 3, 4, 4)).sum().backward()
    yield "weight", p.weight.grad.stride() == p.weight.stride()
    a = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last).requires_grad_()
    seen = []
    a.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.stride()))
    a.sum().backward()
    yield "hook", seen
