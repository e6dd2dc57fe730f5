"""What `torch.__future__` says of how modules are given converted and loaded tensors."""

import importlib

from compat_matrix.case import case, raises


def _module(torch):
    torch.manual_seed(0)
    m = torch.nn.Linear(2, 2)
    m.register_buffer("extra", torch.ones(2))
    m(torch.ones(1, 2)).sum().backward()
    return m


CONVERSIONS = {"double": lambda torch, m: m.double(), "float": lambda torch, m: m.float(), "to": lambda torch, m: m.to(torch.float16),
               "empty": lambda torch, m: m.to_empty(device="cpu")}


def _seen(m, weight, extra, grad):
    return [m.weight is weight, m.weight.dtype, type(m.weight).__name__, m.weight.requires_grad, m.weight.is_leaf, weight.dtype,
            None if m.weight.grad is None else [m.weight.grad.dtype, m.weight.grad is grad], m.extra.dtype, m.extra is extra]


def _each(torch, overwrite, swap):
    future = importlib.import_module(f"{torch.__name__}.__future__")
    future.set_overwrite_module_params_on_conversion(overwrite)
    future.set_swap_module_params_on_conversion(swap)
    try:
        yield "flags", future.get_overwrite_module_params_on_conversion(), future.get_swap_module_params_on_conversion()
        for name, convert in CONVERSIONS.items():
            m = _module(torch)
            weight, extra, grad = m.weight, m.extra, m.weight.grad
            convert(torch, m)
            yield name, _seen(m, weight, extra, grad)
        m = _module(torch)
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
        m.double()(torch.ones(1, 2).double()).sum().backward()
        optimizer.step()
        yield "optimizer", m.weight, optimizer.param_groups[0]["params"][0] is m.weight
        for assign in (False, True):
            m = _module(torch)
            weight, extra, grad = m.weight, m.extra, m.weight.grad
            m.load_state_dict({k: v.double() * 2 for k, v in m.state_dict().items()}, assign=assign)
            yield "assigned" if assign else "loaded", _seen(m, weight, extra, grad), m.weight
        m = _module(torch)
        y = m.weight * 2
        m.double()
        if swap:
            yield "in a graph", raises(lambda: y.sum().backward())
        yield "afterwards", m(torch.ones(1, 2).double()).sum().backward(), m.weight.grad
        m = torch.nn.LSTM(2, 2).double()
        yield "flat", m.weight_ih_l0.dtype, m._flat_weights[0] is m.weight_ih_l0
        m = torch.nn.Linear(2, 2)
        yield "does not fit", raises(lambda: m.load_state_dict({"weight": torch.ones(3, 2), "bias": torch.ones(2)}))
    finally:
        future.set_overwrite_module_params_on_conversion(False)
        future.set_swap_module_params_on_conversion(False)


for _overwrite in (False, True):
    for _swap in (False, True):
        @case(f"module_conversion.{'overwritten' if _overwrite else 'kept'}{', swapped' if _swap else ''}", overwrite=_overwrite, swap=_swap)
        def _(torch, overwrite, swap):
            yield from _each(torch, overwrite, swap)
