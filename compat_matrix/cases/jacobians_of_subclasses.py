"""Jacobians and Hessians of subclasses of Tensor are of that class."""

from compat_matrix.case import case


def _kind(x):
    return [_kind(a) for a in x] if isinstance(x, (tuple, list)) else type(x).__name__


def _made(torch):
    class Own(torch.Tensor):
        pass

    return lambda *values: torch.tensor(values).as_subclass(Own)


@case("jacobians_of_subclasses.jacobian")
def _(torch):
    make, A = _made(torch), torch.autograd.functional
    for graph in (False, True):
        out = A.jacobian(lambda x: x.exp(), make(0.5, 1.0), create_graph=graph)
        yield f"one {graph}", _kind(out), torch.as_tensor(out).as_subclass(torch.Tensor)
        outs = A.jacobian(lambda x, y: (x * y, x.sum()), (make(0.5, 1.0), torch.ones(2)), create_graph=graph)
        yield f"several {graph}", _kind(outs), outs[0][1].as_subclass(torch.Tensor)


@case("jacobians_of_subclasses.hessian")
def _(torch):
    make, A = _made(torch), torch.autograd.functional
    for graph in (False, True):
        out = A.hessian(lambda x: (x ** 3).sum(), make(0.5, 1.0), create_graph=graph)
        yield f"hessian {graph}", _kind(out), torch.as_tensor(out).as_subclass(torch.Tensor)
