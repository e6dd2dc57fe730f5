"""Operators by their ATen names whose second operand is a number: what a mode is told, and the overloads."""

from compat_matrix.case import case


@case("overloads_of_numbers.told")
def told(torch):
    """A mode is told comparisons and operations on bits with a number apart from those with a tensor; arithmetic it is not."""
    seen = []

    class Told(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((str(func), str(func._schema)))
            return func(*args, **(kwargs or {}))

    a, n, other = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1, 2, 3]), torch.tensor([2.0, 2.0, 2.0])
    with Told():
        for i, f in enumerate((lambda: a == 1, lambda: a != 2, lambda: a > 1, lambda: a <= 2, lambda: a > 2.5, lambda: a >= other, lambda: n & 1, lambda: n | 4, lambda: n ^ n,
                  lambda: torch.bitwise_xor(3, n), lambda: a + 1, lambda: 2 * a, lambda: a.eq_(1))):
            out, told_of = f(), seen[:]
            seen.clear()
            yield f"{i}", told_of, out.tolist()


@case("overloads_of_numbers.called")
def called(torch):
    """The overloads themselves, their names and schemas."""
    aten, a, n = torch.ops.aten, torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1, 2, 3])
    for i, (f, args, kwargs) in enumerate((
            (aten.add.Scalar, (a, 2), {}), (aten.add.Scalar, (a, 2, 3), {}), (aten.mul.Scalar, (a, 2), {}), (aten.div.Scalar, (n, 2), {}),
            (aten.div.Scalar_mode, (a, 2), {"rounding_mode": "floor"}), (aten.eq.Scalar, (n, 2.0), {}), (aten.lt.Scalar, (a, 2), {}), (aten.bitwise_and.Scalar, (n, 2), {}),
            (aten.bitwise_or.Scalar_Tensor, (4, n), {}), (aten.add_.Scalar, (n.clone(), 1), {}), (aten.mul_.Scalar, (a.clone(), 3), {}),
            (aten.ge_.Scalar, (a.clone(), 2), {}), (aten.bitwise_xor_.Scalar, (n.clone(), 1), {}))):
        out = f(*args, **kwargs)
        yield f"{i}", str(f), f.name(), str(f._schema), out.tolist(), str(out.dtype)


@case("overloads_of_numbers.where")
def where(torch):
    """`where` by which of its two values are numbers."""
    at, a, b = torch.tensor([True, False]), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    for f, args in ((torch.ops.aten.where.self, (at, a, b)), (torch.ops.aten.where.ScalarOther, (at, a, 5)), (torch.ops.aten.where.ScalarSelf, (at, 5, b)),
                    (torch.ops.aten.where.Scalar, (at, 5, 6.0))):
        out = f(*args)
        yield str(f), f.name(), str(f._schema), out.tolist(), str(out.dtype)
