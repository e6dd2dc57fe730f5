"""Training with weights and activations rounded to few bits, gradients passed straight through, scales learned."""

import warnings

import torch


def program():
    warnings.simplefilter("ignore")
    from brevitas import nn as qnn

    net = torch.nn.Sequential(qnn.QuantConv2d(1, 4, 3, weight_bit_width=4), qnn.QuantReLU(bit_width=4), torch.nn.Flatten(),
                              qnn.QuantLinear(64, 5, bias=True, weight_bit_width=3), qnn.QuantIdentity(bit_width=8))
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    x, y = torch.randn(6, 1, 6, 6), torch.arange(6) % 5
    yield "state", sorted(net.state_dict())
    for step in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss.detach(), [p.grad for p in net.parameters() if p.grad is not None]
    net.eval()
    yield "eval", net(x), [layer.quant_weight().scale for layer in (net[0], net[3])], [layer.quant_weight().int() for layer in (net[0], net[3])]
