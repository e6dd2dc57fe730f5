"""torch.autograd.backward and torch.autograd.grad: the table of accepted and refused calls."""

import inspect


def leaf(torch, values=(1.0, 2.0, 3.0), dtype=None):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def parameters(fn):
    return [(p.name, str(p.kind), repr(p.default) if p.default is not p.empty else "required")
            for p in inspect.signature(fn).parameters.values()]
