"""Functions of torch as attributes of module classes: they are built in, so that an instance does not bind them."""

from importlib import import_module

from compat_matrix.case import case, raises


@case("nn.class_attributes.functions")
def _(torch):
    class Net(torch.nn.Module):
        act, join, make, product = torch.tanh, torch.cat, torch.zeros, torch.matmul

        def forward(self, x):
            return self.act(self.join([self.product(x, x), self.make(1, 2)]))

    class Other(Net):
        act = torch.sigmoid
        total = torch.logsumexp

        def forward(self, x):
            return self.total(super().forward(x), 0)

    x = torch.tensor([[1.0, -2.0], [0.5, 0.3]], requires_grad=True)
    for cls in (Net, Other):
        out = cls()(x)
        yield cls.__name__, out, torch.autograd.grad(out.sum(), x), cls().act is cls.act, Net.act is torch.tanh


@case("nn.class_attributes.methods")
def _(torch):
    """What a class defines itself is bound as ever."""
    class Net(torch.nn.Module):
        def own(self, x):
            return self, x

        forward = own
        fixed = staticmethod(torch.neg)

    net = Net()
    yield "bound", net(3)[0] is net, net.own(4)[1], net.fixed(torch.ones(1))


@case("nn.class_attributes.comm")
def _(torch):
    """The module of copies by hand is there, and says what it needs."""
    comm = import_module(f"{torch.__name__}.cuda.comm")
    yield "names", sorted(n for n in dir(comm) if n in ("broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"))
    yield "needs", raises(lambda: comm.reduce_add([torch.ones(1), torch.ones(1)])), raises(lambda: comm.broadcast(torch.ones(1)))
