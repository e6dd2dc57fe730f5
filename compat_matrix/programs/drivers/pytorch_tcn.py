"""Temporal convolutions: causal and not, gated, with weights normalized by a parametrization, and run on a stream with buffers."""

import torch
from pytorch_tcn import TCN, TemporalConv1d, TemporalConvTranspose1d


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(2, 4, 15)
    for more in ({}, {"causal": False}, {"use_norm": "layer_norm"}, {"use_norm": "batch_norm"}, {"use_skip_connections": True}, {"use_gate": True},
                 {"dilations": [1, 3], "activation": "gelu"}, {"output_projection": 3, "output_activation": "tanh"}):
        net = TCN(4, [6, 6], kernel_size=3, dropout=0.0, **more)
        out = net(x)
        params = [*net.parameters()]
        yield str(more), out, torch.autograd.grad(out.pow(2).sum(), params, allow_unused=True), sorted(net.state_dict())
    net = TCN(4, [6, 6], kernel_size=3, causal=True, dropout=0.0).eval()
    net.reset_buffers()
    whole = net(x[:1])
    parts = [net(part, inference=True) for part in x[:1].split(5, 2)]
    yield "stream", whole, parts
    layers = [TemporalConv1d(4, 5, 3, dilation=2), TemporalConv1d(4, 5, 3, causal=False, padding_mode="reflect"), TemporalConvTranspose1d(4, 5, 4, stride=2)]
    for layer in layers:
        z = torch.randn(2, 4, 8, requires_grad=True)
        out = layer(z)
        yield "layer", out, torch.autograd.grad(out.square().sum(), [z, *layer.parameters()])
