"""What a pass writes to the log torch.autograd.graph."""

import logging
import re

from ...case import attempt, case


class _Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append((record.name, record.levelname, re.sub("0x[0-9a-f]+", "0x", record.getMessage())))


def _watched(torch, run, **settings):
    log, kept = torch.autograd.graph.log, _Kept()
    parent = logging.getLogger("torch.autograd")
    theirs, parent.handlers = parent.handlers, []  # what goes to standard error
    log.addHandler(kept)
    try:
        torch._logging.set_logs(**settings)
        run()
    finally:
        torch._logging.set_logs()
        log.removeHandler(kept)
        parent.handlers = theirs
    return kept.said


@case("engine.logged.backward")
def _(torch):
    x = torch.ones(3, requires_grad=True)

    def run():
        b = x.mul(2).div(3).sum()
        torch.autograd.backward((b, b.clone()))

    yield "debug", _watched(torch, run, autograd=logging.DEBUG)
    yield "info", _watched(torch, run, autograd=logging.INFO)
    yield "none", _watched(torch, run)
    yield "grad", x.grad


@case("engine.logged.grad")
def _(torch):
    y = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    yield "grad", _watched(torch, lambda: torch.autograd.grad((y * y).sum(), y), autograd=logging.DEBUG)
    yield "scalar", _watched(torch, lambda: (y * y).sum().backward(), autograd=logging.DEBUG)
    yield "leaf", _watched(torch, lambda: y.backward(torch.ones(2, 2, dtype=torch.float64)), autograd=logging.DEBUG)


@case("engine.logged.function")
def _(torch):
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, a, b):
            return a, b

    x, y = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
    yield "undefined", _watched(torch, lambda: Both.apply(x, y)[0].sum().backward(), autograd=logging.DEBUG)


@case("engine.logged.settings")
def _(torch):
    for settings in ({"nope": 10}, {"autograd": "x"}):
        yield str(settings), attempt(lambda settings=settings: torch._logging.set_logs(**settings))
    torch._logging.set_logs(autograd=logging.INFO)
    yield "level", torch.autograd.graph.log.getEffectiveLevel()
    torch._logging.set_logs()
    yield "default", torch.autograd.graph.log.getEffectiveLevel()
    yield "lazy", str(torch._logging.LazyString(lambda a: a + "!", "said"))
