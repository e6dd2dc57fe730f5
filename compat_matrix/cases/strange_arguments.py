"""Arguments of a kind that a function does not take, or that torch's parser takes though they look wrong: bools among sizes, tensors as numbers."""

import numpy as np

from compat_matrix.case import case

SWITCHLESS = ("double", "float", "half", "bfloat16", "long", "int", "bool", "cpu")
BARE = ("abs", "exp", "relu", "neg_", "square", "conj", "is_conj", "acosh", "det", "trace", "t", "resolve_neg", "corrcoef", "isnan", "ravel")


def told(f):
    """The shapes and dtypes that a call gives, or its error."""
    try:
        out = f()
    except Exception as e:
        return type(e).__name__, str(e).partition("\nException raised")[0]
    return [(str(t.dtype), tuple(t.shape)) for t in (out if isinstance(out, (tuple, list)) else (out,)) if hasattr(t, "dtype")]


@case("strange_arguments.without_parameters")
def _(torch):
    x = torch.ones(2, 2)
    for name in BARE:
        f = getattr(x, name)
        yield name, told(lambda f=f: f(0)), told(lambda f=f: f(0, x)), told(lambda f=f: f(dim=0)), told(lambda f=f: f(0, dim=0))
    for name in SWITCHLESS:
        f = getattr(x, name)
        yield name, told(lambda f=f: f(5)), told(lambda f=f: f(None)), told(lambda f=f: f(memory_format=3)), told(lambda f=f: f(x, 1)), told(lambda f=f: f(dim=1))


@case("strange_arguments.sizes")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    one = torch.tensor(1)
    for name in ("new_ones", "new_zeros", "view", "reshape", "repeat", "expand", "tile", "permute", "flip", "count_nonzero", "hsplit", "vsplit", "squeeze_"):
        for k, args in enumerate([(0, True), (1, 0, True), (True, 0), (0, one), (0, 1.5), (0, None), ((0, 1), 0), (0, (0, 1)), (x,), ([1.5],), ([1, 1.5],), (True,)]):
            yield f"{name} {k}", told(lambda name=name, args=args: getattr(x.clone(), name)(*args))
    yield "zeros", told(lambda: torch.zeros(0, True)), told(lambda: torch.ones(2**70)), told(lambda: torch.rand(1, 2**70)), told(lambda: x.new_zeros(2, 2**70))
    yield "strides", told(lambda: x.as_strided((2, 1), 0)), told(lambda: x.rot90(0, 1)), told(lambda: torch.tile(x, 2)), told(lambda: x.new_empty_strided((1,), 0))
    yield "view", told(lambda: x.view(0, dtype=torch.float32)), told(lambda: x.view()), told(lambda: x.view(dtype=3))


@case("strange_arguments.numbers")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    zero, one, half = torch.tensor(0), torch.tensor(1), torch.tensor(0.5)
    yield "flatten", told(lambda: x.flatten(True)), told(lambda: x.flatten(zero)), told(lambda: x.flatten(half)), told(lambda: x.flatten(0, one))
    yield "chunk", told(lambda: x.chunk(one, zero)), told(lambda: x.chunk(x)), told(lambda: x.chunk(True)), told(lambda: x.chunk(0, True))
    yield "movedim", told(lambda: x.movedim(0, np.int64(1))), told(lambda: x.movedim(zero, one)), told(lambda: x.movedim(0, (1,))), told(lambda: x.movedim(True, 0))
    yield "diff", told(lambda: x.diff(0, one)), told(lambda: x.diff(1.5)), told(lambda: x.diff(x > 1)), told(lambda: x.hash_tensor(one)), told(lambda: x.hash_tensor(True))
    yield "isclose", told(lambda: x.isclose(x, True)), told(lambda: torch.allclose(x, x, True) and x), told(lambda: x.roll(0, None))
    yield "draws", told(lambda: torch.ones(3).exponential_(one)), told(lambda: torch.ones(3).normal_(x)), told(lambda: torch.ones(3).cauchy_(x > 1))
    yield "histc", told(lambda: x.histc(1, x, 0)), told(lambda: x.logsumexp(None)), told(lambda: torch.clone(0)), told(lambda: torch.selu(0))


@case("strange_arguments.split")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    one = torch.tensor(1)
    for k, args in enumerate([(2**70,), (0, one), (True,), ("a",), (None,), (1.5,), (1, True), (1, "a"), ([1, 1], 1.5), ([1, 1.5],), (x,), (one,), ([2**70],), (1, one),
                              (2**63 - 1,), (np.int64(1),)]):
        yield k, told(lambda args=args: x.split(*args)), told(lambda args=args: torch.split(x, *args))
    yield "no tensor", told(lambda: torch.split(0, 1)), told(lambda: x.tensor_split(torch.tensor([[1]]))), told(lambda: x.hsplit(0, 1)), told(lambda: x.dsplit(0, 1))


@case("strange_arguments.names_of_dims")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    yield "flip", told(lambda: x.flip(axis=0)), told(lambda: x.flip(dim=[0])), told(lambda: torch.flip(x, axis=[0])), told(lambda: x.roll(1, dim=0)), told(
        lambda: x.roll(1, axis=0))
    yield "permute", told(lambda: x.permute(dim=(0, 1))), told(lambda: x.permute(axes=(1, 0))), told(lambda: x.permute(axis=(1, 0))), told(lambda: x.permute(dims=(1, 0)))
    yield "matmul", told(lambda: torch.matmul(x1=x, x2=x.T)), told(lambda: torch.matmul(x1=x, other=x.T)), told(lambda: torch.matmul(x2=x.T, input=x)), told(
        lambda: torch.matmul(x, 0)), told(lambda: torch.matmul(x, foo=1)), told(lambda: torch.matmul(x)), told(lambda: torch.matmul(x1=x))
    yield "sum", told(lambda: x.sum(axis=0)), told(lambda: x.sum(axes=0)), told(lambda: x.sum(dims=0))


@case("strange_arguments.kinds")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    i = torch.tensor(1)
    for k, kind in enumerate((x, 3, float, int, bool, str, torch.Tensor, torch.FloatTensor, torch.LongTensor, "torch.DoubleTensor", 1.5)):
        yield f"type {k}", told(lambda kind=kind: x.type(kind))
    yield "type", told(lambda: x.type("torch.FloatTensor", 3)), told(lambda: x.type(torch.float64, True))
    yield "addcdiv", told(lambda: x.addcdiv(i, i)), told(lambda: x.addcdiv(x.long(), x.long())), told(lambda: torch.addcdiv(i, i, i)), told(
        lambda: x.addcdiv(x > 1, i)), told(lambda: x.addcdiv(x, i))
    yield "range", told(lambda: torch.range(1.5, 0)), told(lambda: torch.range(0, 5, -1)), told(lambda: torch.range(5, 0, -1)), told(lambda: torch.range(0, 0))
    yield "unique", told(lambda: x.unique(0)), told(lambda: x.unique(sorted=1)), told(lambda: x.unique(return_inverse=1)), told(lambda: x.unique_consecutive(1)), told(
        lambda: x.unique_consecutive(return_counts=0))
