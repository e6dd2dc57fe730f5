"""Hooks on tensors and nodes: order, replacement, removal, errors."""


def leaf(torch, values=(1.0, 2.0, 3.0)):
    return torch.tensor(list(values), requires_grad=True)
