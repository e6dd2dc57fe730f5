"""Pictures of graphs: nodes, what they saved, parameters."""

import re

import torch
from torchviz import make_dot


def _text(dot):
    """The source of a picture with addresses as numbers."""
    known = {}
    return re.sub(r"\d{9,}", lambda found: known.setdefault(found[0], f"node{len(known)}"), dot.source)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x.sin())
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def program():
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    named = dict(net.named_parameters())
    y = net(torch.randn(2, 4)).mean()
    yield "plain", _text(make_dot(y))
    yield "named", _text(make_dot(y, params=named))
    yield "attributes", _text(make_dot(y, params=named, show_attrs=True, show_saved=True))
    x = torch.randn(3, requires_grad=True)
    yield "function", _text(make_dot((Twice.apply(x), (x * 2).view(3, 1)), params={"x": x}, show_attrs=True, show_saved=True))
    yield "cell", _text(make_dot(torch.nn.LSTMCell(3, 3)(torch.randn(1, 3))[0], show_attrs=True))
    grad, = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    yield "first derivative", grad
