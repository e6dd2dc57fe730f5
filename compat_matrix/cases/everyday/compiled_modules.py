"""torch.compile of modules: what is put around them, and what programs see of it."""

import copy

from compat_matrix.case import case, raises


def _network(torch):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    net.extra = 5
    return net


@case("everyday.compiled_modules.around")
def _(torch):
    net = _network(torch)
    around = torch.compile(net, backend="eager")
    yield "class", type(around).__name__, isinstance(around, torch.nn.Sequential), around._orig_mod is net, repr(around)
    yield "names", list(around.state_dict()), [n for n, _ in around.named_parameters()], [n for n, _ in around.named_modules()]
    yield "attributes", around.extra, hasattr(around, "nope"), raises(lambda: around.nope), raises(lambda: around[0]), len(around)
    around.extra = 7
    yield "set", net.extra, copy.deepcopy(around)._orig_mod is net
    around.eval()
    yield "mode", net.training, around.training, around.train() is around, net.training
    around.load_state_dict({f"_orig_mod.{k}": v + 1 for k, v in net.state_dict().items()})
    yield "loaded", net[0].bias.detach()
    around.register_buffer("b", torch.ones(1))
    yield "buffer", list(around.state_dict()), list(net.state_dict())
    del around.extra
    yield "deleted", hasattr(net, "extra")
    yield "inside another", list(torch.nn.Sequential(torch.compile(torch.nn.Linear(1, 1))).state_dict())


@case("everyday.compiled_modules.calls")
def _(torch):
    net = _network(torch)
    around = torch.compile(net, backend="eager")
    x = torch.ones(1, 2)
    out = around(x)
    out.sum().backward()
    yield "call", out.detach(), net[0].weight.grad, torch.equal(out, net(x))
    yield "disabled", torch.compile(net, disable=True) is net, torch.compile(abs, disable=True) is abs
    net.compile()
    yield "in place", type(net).__name__, list(net.state_dict())
