"""In-place operations: values, versions, history, what torch refuses."""


def leaf(torch, values=(1.0, 2.0, 3.0), dtype=None):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)
