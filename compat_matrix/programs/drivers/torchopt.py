"""Optimizers as functions, optimizers that can be differentiated, and gradients of what a solver finds."""

import torch
import torchopt


def program():
    torch.set_default_dtype(torch.float64)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    for name, rule in (("adam", torchopt.adam(lr=0.05)), ("rmsprop", torchopt.rmsprop(lr=0.01)), ("sgd", torchopt.sgd(lr=0.1, momentum=0.9, nesterov=True))):
        params = {k: p.detach().clone().requires_grad_() for k, p in net.named_parameters()}
        state = rule.init(params)
        for _ in range(3):
            loss = (torch.func.functional_call(net, params, (x,)) - y).square().mean()
            found = dict(zip(params, torch.autograd.grad(loss, list(params.values()))))
            updates, state = rule.update(found, state, inplace=False)
            params = torchopt.apply_updates(params, updates, inplace=False)
        yield name, loss, list(params.values())

    weight = torch.tensor(1.5, requires_grad=True)
    for name, maker in (("sgd inside", torchopt.MetaSGD(net, lr=0.1)), ("adam inside", torchopt.MetaAdam(net, lr=0.1, use_accelerated_op=False))):
        start = torchopt.extract_state_dict(net, by="reference")
        for _ in range(2):
            maker.step((net(x) - y * weight).square().mean())
        outer = (net(x) - y).square().mean()
        yield name, outer, torch.autograd.grad(outer, weight)
        torchopt.recover_state_dict(net, start)

    @torchopt.diff.implicit.custom_root(lambda found, target: found + found**3 - target, argnums=1)
    def solve(start, target):
        found = start
        for _ in range(30):
            found = found - (found + found**3 - target) / (1 + 3 * found**2)
        return found.detach()

    target = torch.tensor([0.5, 2.0, -1.0], requires_grad=True)
    found = solve(torch.zeros(3), target)
    slopes = torch.autograd.grad(found.sum(), target)
    yield "implicit", found, slopes
