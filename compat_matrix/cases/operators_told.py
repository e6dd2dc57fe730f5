"""What `__torch_function__` and modes are told of Python's operators and of the methods behind them: names, types, keywords, and what is handed on."""

import operator

from compat_matrix.case import case

BINARY = "add sub mul truediv floordiv mod pow matmul eq ne lt ge".split()
BITS = "and_ or_ xor lshift rshift".split()
WRITES = "iadd isub imul itruediv ifloordiv imod ipow imatmul".split()
BIT_WRITES = "iand ior ixor ilshift irshift".split()


def told(torch, log, name=None):
    """A `__torch_function__` that writes down what it is told; it calls what it was told of where `name` is None."""
    def handler(func, types, args=(), kwargs=None):
        log.append((name, torch.overrides.resolve_name(func), func.__name__, [t.__name__ for t in types], [type(a).__name__ for a in args], kwargs))
        return "told"

    return handler


def answers(pairs, names):
    for name in names:
        for a, b in pairs():
            try:
                out = getattr(operator, name)(a, b)
            except TypeError as e:
                out = str(e)
            yield name, type(a).__name__, type(b).__name__, out if isinstance(out, str) else type(out).__name__


@case("operators_told.subclasses_and_others")
def _(torch):
    log = []
    handler = told(torch, log)

    class T(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return handler(func, types, args, kwargs)

    class Other:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return handler(func, types, args, kwargs)

    t, o, p = torch.ones(2, 2).as_subclass(T), Other(), torch.ones(2, 2)
    yield "values", list(answers(lambda: ((t, 2), (2, t), (t, p), (p, t), (t, t), (p, o), (o, p), (t, o), (o, t)), BINARY + BITS))
    yield "writes", list(answers(lambda: ((t, 2), (t, p), (p, t), (p, o)), WRITES + BIT_WRITES))
    yield "one", reversed(t), -t, abs(t), +t, ~t, p[t]
    yield "told", log


@case("operators_told.declined")
def _(torch):
    class N:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

        def __radd__(self, other):
            return "radd"

        def __rpow__(self, other):
            return "rpow"

        def __rmatmul__(self, other):
            return "rmatmul"

    p, n = torch.ones(2, 2), N()
    yield "all", list(answers(lambda: ((p, n), (n, p)), BINARY + WRITES))


@case("operators_told.modes")
def _(torch):
    log = []

    class M(torch.overrides.TorchFunctionMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append((self.name, torch.overrides.resolve_name(func), func.__name__, len(args), kwargs))
            return func(*args, **(kwargs or {}))

    p, i = torch.ones(2, 2), torch.ones(2, 2, dtype=torch.int64)
    with M("outer"), M("inner"):
        out = list(answers(lambda: ((p, 2), (2, p), (p, p)), [n for n in BINARY if n != "matmul"]))
        out += answers(lambda: ((i, 2), (2, i)), BITS)
        out += answers(lambda: ((p.clone(), 2),), [n for n in WRITES if n != "imatmul"])
        out += answers(lambda: ((p, p), (p, 2)), ["matmul", "imatmul"])
        out += [len(p), 3 in p, p.sum().item(), bool(p.sum()), float(p.sum()), p.tolist(), p.numpy(), f"{p.sum()}"]
        p[0] = 1
        out += [p[0], p[0, 1], reversed(p), p.matmul(p), p.detach()]
    yield "out", out
    yield "told", log


@case("operators_told.methods_of_two_names")
def _(torch):
    seen = []

    class S:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func is torch.matmul, func is torch.Tensor.matmul))
            return 1

    p, s = torch.ones(2, 2), S()
    yield torch.matmul(p, s), p.matmul(s), p @ s, seen


@case("operators_told.lists")
def _(torch):
    """Several tensors of one result are a list; several results are none."""
    x, aten = torch.ones(2, 2), torch.ops.aten
    for name, f, args in (("split", aten.split, (x, 1)), ("split.Tensor", aten.split.Tensor, (x, 1)), ("unbind.int", aten.unbind.int, (x,)),
                          ("split_with_sizes", aten.split_with_sizes.default, (x, [1, 1])), ("unsafe_split", aten.unsafe_split, (x, 1)),
                          ("var_mean", aten.var_mean, (x,))):
        yield name, type(f(*args)).__name__
