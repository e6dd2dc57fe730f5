"""Modules that are abstract classes too, as many programs declare them."""

import abc
import typing

from compat_matrix.case import case, raises


@case("nn.abstract.module")
def _(torch):
    class Base(torch.nn.Module, abc.ABC):
        @abc.abstractmethod
        def forward(self, x):
            """Left to others."""

    class Net(Base):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(2, 2, bias=False)

        def forward(self, x):
            return self.inner(x)

    torch.nn.init.ones_((net := Net()).inner.weight)
    yield "value", net(torch.ones(1, 2))
    yield "abstract", raises(lambda: Base())
    yield "classes", isinstance(net, torch.nn.Module), isinstance(net, abc.ABC), isinstance(net, Base), isinstance(3, Base), issubclass(Net, torch.nn.Module)
    yield "names", [n for n, _ in net.named_modules()], sorted(k for k in vars(net) if "abc" in k)


@case("nn.abstract.first")
def _(torch):
    class Net(abc.ABC, torch.nn.Module):
        def forward(self, x):
            return x + 1
    yield "value", Net()(torch.ones(1))


@case("nn.abstract.protocol and generic")
def _(torch):
    T = typing.TypeVar("T")

    class Net(torch.nn.Module, typing.Generic[T]):
        def forward(self, x):
            return x * 2
    yield "value", Net[int]()(torch.ones(1))

    class Sized(abc.ABC, torch.utils.data.Dataset):
        def __len__(self):
            return 3
    yield "length", len(Sized())


@case("nn.abstract.function and optimizer")
def _(torch):
    class Plain(torch.optim.Optimizer, abc.ABC):
        def step(self, closure=None):
            return None
    yield "step", Plain([torch.nn.Parameter(torch.ones(1))], {}).step()
