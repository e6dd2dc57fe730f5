"""What PyTorch's own tests of autograd lean on, seldom met elsewhere."""

from compat_matrix.case import attempt, case


def _shown(node):
    return node.name(), node._saved_size, node._saved_stride, node._saved_storage_offset


@case("asked_by_autograd_tests.geometry that nodes show")
def _(torch):
    leaf = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for name, view in (("given", leaf.as_strided((3,), (1,), 1)), ("left out", leaf.as_strided((3,), (1,))), ("of a view", leaf[1].as_strided((2,), (1,), 4)),
                       ("of a view, left out", leaf[1].as_strided((2,), (1,))), ("beyond a view", leaf[1].as_strided((2,), (1,), 0)),
                       ("a copy", torch.as_strided_copy(leaf, (2,), (1,))), ("in place", leaf.clone().as_strided_((2,), (1,))),
                       ("in place, given", leaf.clone().as_strided_((2,), (1,), 3))):
        yield name, _shown(view.grad_fn)
    x = leaf.clone()
    row, column = x[1], x.t()[1:, :1]
    row.mul_(2)
    yield "of views read again", _shown(row.grad_fn), _shown(column.grad_fn)


@case("asked_by_autograd_tests.thresholds that are complex")
def _(torch):
    x = torch.arange(-2.0, 3.0, requires_grad=True)
    for threshold, value in ((1 + 0j, 1 + 0j), (torch.tensor(1 + 0j), 5.0), (1.0, 2 + 0j), (1, 1), (False, False), (1 + 1j, 1.0), (1.0, 1j)):
        yield f"{threshold} {value}", attempt(lambda t=threshold, v=value: torch.threshold(x, t, v))
        out = attempt(lambda t=threshold, v=value: torch.threshold(x, t, v).grad_fn._saved_threshold)
        yield f"{threshold} {value} shown", out, type(out).__name__
        yield f"{threshold} {value} gradient", attempt(lambda t=threshold, v=value: torch.autograd.grad(torch.threshold(x, t, v).sum(), x))


@case("asked_by_autograd_tests.views of views without a history")
def _(torch):
    for mode in (torch.no_grad, torch.inference_mode):
        for name, write in (("the base", lambda x, y, z: x.add_(1)), ("the leaf", lambda x, y, z: y.add_(1)), ("the view", lambda x, y, z: z.add_(1))):
            x = torch.zeros(2)
            with mode():
                y = x.view(2)
            y.requires_grad_(True)
            z = y.view(2)
            with torch.no_grad():
                write(x, y, z)
            yield f"{mode.__name__} {name}", attempt(lambda z=z: z.grad_fn), repr(z), attempt(lambda z=z: z.is_leaf), z.requires_grad
            yield f"{mode.__name__} {name} used", attempt(lambda z=z: z.sum().backward()), attempt(lambda z=z: z.add_(1)), y.grad


@case("asked_by_autograd_tests.dual tensors over more memory than they show")
def _(torch):
    fw = torch.autograd.forward_ad
    primal, tangent = torch.arange(5.0)[:4].detach(), torch.arange(1.0, 5.0)
    yield "primal alone", primal.view_as(primal).as_strided((5,), (1,), 0)
    with fw.dual_level():
        dual = fw.make_dual(primal, tangent)
        whole = dual.as_strided((5,), (1,), 0)
        yield "whole", fw.unpack_dual(whole)
        whole.mul_(2)
        yield "written", fw.unpack_dual(dual), primal, tangent
        yield "of the zeros", fw.unpack_dual(dual.as_strided((2, 2), (1, 2), 1) * 3)
