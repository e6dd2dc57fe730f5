"""Tensors with a history that are renamed in place where no graph is made, once and again, and who is named where their gradients do not fit."""

from compat_matrix.case import attempt, case

_TURNED = {"t twice": lambda y: y.t_().t_(), "unsqueezed and squeezed": lambda y: y.unsqueeze_(0).squeeze_(0), "unsqueezed": lambda y: y.unsqueeze_(0),
           "swapped twice": lambda y: y.swapaxes_(0, 1).swapdims_(1, 0), "written between": lambda y: y.t_().mul_(2).t_(),
           "three times": lambda y: y.t_().unsqueeze_(0).squeeze_(0).t_()}


@case("turned_under_no_grad.gradients")
def _(torch):
    for name, turn in _TURNED.items():
        x = torch.arange(6.0).reshape(2, 3).requires_grad_()
        y = x * 2
        with torch.no_grad():
            turn(y)
        yield name, tuple(y.shape), y.stride(), y.grad_fn.name()
        (y * torch.arange(6.0).reshape(y.shape)).sum().backward()
        yield f"{name}, gradient", x.grad


@case("turned_under_no_grad.who sent what does not fit")
def _(torch):
    for name, use in {"sum": lambda y: y.sum(), "mul": lambda y: (y * 2).sum(), "mul by what needs none": lambda y: (torch.ones(3, 2) * y).sum(),
                      "mm": lambda y: torch.mm(torch.ones(2, 3), y).sum()}.items():
        x = torch.arange(6.0).reshape(2, 3).requires_grad_()
        y = x * 2
        with torch.no_grad():
            y.t_()
        yield name, attempt(lambda y=y, use=use: use(y).backward())
