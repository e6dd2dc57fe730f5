"""torch.overrides' lists: what asks `__torch_function__`, what does not, and stand-ins for the first."""

from typing import NamedTuple

from compat_matrix.case import case

ASKING = ("add", "cat", "sum", "matmul", "where", "einsum", "stack", "relu", "sort")
SILENT = ("zeros", "manual_seed", "get_default_dtype", "is_grad_enabled", "arange", "from_numpy", "is_tensor")


@case("lists_of_overrides.functions")
def _(torch):
    found, silent = torch.overrides.get_overridable_functions(), torch.overrides.get_ignored_functions()
    everything = {f for fs in found.values() for f in fs}
    yield "asking", [getattr(torch, n) in everything for n in ASKING]
    yield "not asking", [getattr(torch, n) in everything for n in SILENT]
    yield "ignored", [getattr(torch, n) in silent for n in ("zeros", "ones", "arange", "empty", "randn")]
    yield "where", torch.add in found[torch], torch.einsum in found[torch.functional], torch.linalg.norm in found[torch.linalg], torch.fft.fft in found[torch.fft]
    yield "of a tensor", [getattr(torch.Tensor, n) in found[torch.Tensor] for n in ("add", "add_", "view", "sum", "exp")]
    names = ("__add__", "__iadd__", "__rsub__", "__getitem__", "__eq__", "numpy", "size", "detach", "is_contiguous", "tolist")
    yield "written with the class", [getattr(torch.Tensor, n) in found[torch.Tensor] for n in names]
    stand_ins = torch.overrides.get_testing_overrides()
    yield "stand-ins of those", [stand_ins[getattr(torch.Tensor, n)](torch.ones(1), *[1] * n.startswith("__")) for n in names]
    yield "of nn.functional", [getattr(torch.nn.functional, n) in found[torch.nn.functional] for n in ("linear", "softmax", "cross_entropy", "dropout")]


@case("lists_of_overrides.stand_ins")
def _(torch):
    found = torch.overrides.get_testing_overrides()
    x = torch.ones(2)
    yield "calls", found[torch.add](x, x), found[torch.cat]((x, x), 0), found[torch.sum](x), found[torch.Tensor.mul_](x, 2), found[torch.nn.functional.relu](x)
    for name, args in (("abs", ()), ("matmul", (x,)), ("exp", (x, x, x, x))):
        try:
            yield name, found[getattr(torch, name)](*args)
        except TypeError as e:
            yield name, type(e).__name__


@case("lists_of_overrides.likes")
def _(torch):
    found, seen = torch.overrides.get_testing_overrides(), []

    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return found[func](*args, **(kwargs or {}))

    a = Like()
    yield "results", torch.add(a, 1), torch.stack([a, a]), torch.nn.functional.linear(a, a), torch.linalg.inv(a), torch.einsum("i->", a)
    yield "seen", len(seen)


@case("lists_of_overrides.tuples")
def _(torch):
    class Pair(NamedTuple):
        value: object
        n: int

    class Asked(Pair):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, [t.__name__ for t in types], len(args)

    F = torch.nn.functional
    x, q = torch.ones(2, 2), Asked(torch.ones(2, 2), 3)
    yield "asked", torch.add(x, q), torch.matmul(q, x), x.mul(q), F.linear(x, q), F.relu(q), torch.sum(q), torch.zeros_like(q), torch.cat([x, q])
    yield "sizes", torch.zeros(Pair(2, 3)).shape, x.expand(torch.Size((3, 2, 2))).shape
