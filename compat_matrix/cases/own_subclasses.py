"""Which of torch's classes a base class names as its own subclasses: programs list them to find an optimizer, a scheduler or a distribution by name."""

from compat_matrix.case import case


def own(torch, base):
    return sorted(c.__qualname__ for c in base.__subclasses__() if c.__module__.startswith(torch.__name__ + ".") and not c.__qualname__.startswith("_"))


@case("own_subclasses.optim")
def _(torch):
    yield "optimizers", own(torch, torch.optim.Optimizer), own(torch, torch.optim.Adam)
    yield "schedulers", own(torch, torch.optim.lr_scheduler.LRScheduler)


@case("own_subclasses.distributions")
def _(torch):
    d = torch.distributions
    yield "distributions", own(torch, d.Distribution), own(torch, d.ExponentialFamily), own(torch, d.TransformedDistribution)
    yield "transforms", own(torch, d.Transform)
