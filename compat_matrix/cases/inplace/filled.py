"""out= of factory functions that is a leaf or has a history."""

from compat_matrix.case import attempt
from compat_matrix.probes import each

MAKERS = ("torch.randn(3, out=o)", "torch.empty(3, out=o)", "torch.zeros(3, out=o)", "torch.arange(3.0, out=o)", "torch.rand(3, out=o)",
          "torch.linspace(0, 1, 3, out=o)", "torch.logspace(0, 1, 3, out=o)", "torch.full((3,), 2.0, out=o)", "torch.randperm(3, out=o)",
          "torch.normal(0.0, 1.0, (3,), out=o)", "torch.ones(3, out=o)", "torch.randint(3, (3,), out=o)")


def filled(torch, expression):
    for kind in ("leaf", "result"):
        for grad in (True, False):
            o = torch.ones(3, requires_grad=True)
            o = o * 2 if kind == "result" else o
            with torch.set_grad_enabled(grad):
                yield f"{kind} {grad}", attempt(lambda o=o: (eval(expression, {"torch": torch, "o": o}).requires_grad, o.is_leaf, o._version))


each("inplace.filled", filled, {e.partition("(")[0]: e for e in MAKERS})
