"""Tensors made in inference mode, used inside and outside of it; those that require grad too."""

from compat_matrix.case import case, raises


def state(torch, t):
    return torch.is_inference(t), t.requires_grad, t._is_view(), t.is_leaf


@case("inference_outside.alone")
def _(torch):
    for needs in (True, False):
        with torch.inference_mode():
            c = torch.ones(2, 3, requires_grad=needs)
            yield f"inside {needs}", state(torch, c * c), state(torch, c.view(-1)), state(torch, c.t().view(-1) if False else c.t())
        yield f"function {needs}", raises(lambda c=c: state(torch, c * c)), raises(lambda c=c: state(torch, c.sum()))
        yield f"view {needs}", state(torch, c.view(-1)), state(torch, c.t()), state(torch, c[0])
        yield f"write {needs}", raises(lambda c=c: c.add_(2)), raises(lambda c=c: c.t_()), raises(lambda c=c: c.mul_(c))


@case("inference_outside.mixed")
def _(torch):
    with torch.inference_mode():
        c, d = torch.ones(3, requires_grad=True), torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    y = torch.ones(3)
    out = c + x
    out.sum().backward()
    yield "added", state(torch, out), c.grad, x.grad
    yield "with a plain one", raises(lambda: state(torch, c + y)), raises(lambda: state(torch, c * y)), raises(lambda: state(torch, d * y))
    yield "saved", raises(lambda: c * x), raises(lambda: (x * 1).mul_(d))
    yield "written", raises(lambda: c.add_(x)), raises(lambda: d.add_(y))


@case("inference_outside.resized")
def _(torch):
    with torch.inference_mode():
        for needs in (True, False):
            c = torch.ones(1, 2, 3, requires_grad=needs)
            yield f"{needs}", raises(lambda c=c: state(torch, c.resize_(1, 2))), raises(lambda c=c: state(torch, c.resize_as_(torch.ones(2))))
    yield "no inference", raises(lambda: torch.ones(2, requires_grad=True).resize_(1))
