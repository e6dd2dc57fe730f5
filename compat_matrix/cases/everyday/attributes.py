"""Functions of torch kept as attributes of plain classes: PyTorch's are built in, so that instances do not bind them."""

import copy
import dataclasses
import pickle
from collections.abc import Callable

from compat_matrix.case import attempt, case


@case("everyday.attributes.functions")
def _(torch):
    class Backend:
        act, sigmoid, erf, plus = torch.tanh, torch.sigmoid, torch.special.erf, torch.add
        root = staticmethod(torch.sqrt)

        def both(self, x):
            return self.act(x) + type(self).act(x)

    @dataclasses.dataclass
    class Settings:
        act: Callable = torch.relu

    x = torch.tensor([0.5, 2.0], requires_grad=True)
    b = Backend()
    y = b.act(x) + b.sigmoid(x) + b.erf(x) + b.plus(x, x, alpha=2) + b.root(x) + b.both(x) + Settings().act(-x)
    y.sum().backward()
    yield "values", y, x.grad
    yield "other functions", [f(x) for f in {"relu": torch.relu, "exp": torch.exp}.values()], list(map(torch.sum, [x, x]))
    yield "too many", attempt(lambda: b.act(x, x))
    yield "copies", [copy.deepcopy(f) is f for f in (torch.tanh, torch.add)], [pickle.loads(pickle.dumps(f)) is f for f in (torch.tanh, torch.add)]
    yield "names", torch.tanh.__name__, torch.add.__name__


@case("everyday.attributes.methods")
def _(torch):
    """Methods of Tensor, and what PyTorch writes in Python, are bound."""
    class Mine(torch.Tensor):
        squashed = torch.Tensor.tanh
        parts = torch.split

    x = torch.tensor([0.5, 2.0, 1.0]).as_subclass(Mine)
    yield "bound", x.squashed().as_subclass(torch.Tensor), [p.as_subclass(torch.Tensor) for p in x.parts(2)]
