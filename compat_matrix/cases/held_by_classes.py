"""Functions that plain classes hold: built-in ones are no methods of their instances, Python's are."""

import copy
import functools
import pickle

from compat_matrix.case import case


@case("held_by_classes.called")
def _(torch):
    F, x = torch.nn.functional, torch.arange(4.0).reshape(2, 2)

    class Held:
        matmul, cat, stack, zeros, where, softmax, square = torch.matmul, torch.cat, torch.stack, torch.zeros, torch.where, torch.softmax, torch.square
        conv, linear, one_hot, dropout = F.conv2d, F.linear, F.one_hot, F.dropout
        fft, norm, inv, expit = torch.fft.fft, torch.linalg.norm, torch.linalg.inv, torch.special.expit
        tanh, add, old_norm, einsum = torch.tanh, torch.add, torch.norm, torch.einsum

    held = Held()
    yield "products", held.matmul(x, x), held.linear(x, x), held.conv(x.reshape(1, 1, 2, 2), torch.ones(1, 1, 1, 1)), held.inv(x + torch.eye(2)), held.norm(x)
    yield "joined", held.cat([x, x]), held.stack([x, x], 1), held.where(x > 1, x, -x), held.one_hot(torch.tensor([1, 0]))
    yield "made", held.zeros(2), held.square(x), held.softmax(x, 0), held.fft(x[0]), held.expit(x[0]), held.tanh(x), held.add(x, x)
    yield "methods", [getattr(getattr(held, name), "__self__", None) is held for name in ("matmul", "conv", "norm", "einsum", "old_norm", "dropout")]
    yield "of the class", Held.matmul(x, x), Held.matmul is torch.matmul, held.cat is torch.cat, Held.dropout(x, 0.0)


@case("held_by_classes.as objects")
def _(torch):
    functions = [torch.matmul, torch.cat, torch.zeros, torch.linalg.norm, torch.fft.fft, torch.nn.functional.conv2d]
    yield "copies", [copy.deepcopy(f) is f for f in functions], [pickle.loads(pickle.dumps(f)) is f for f in functions[:3]]
    yield "names", [f.__name__ for f in functions], len(set(functions)), functools.partial(torch.cat, dim=1)([torch.ones(1, 2)] * 2).shape

    heard = []

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            heard.append([f for f in (*functions, torch.stack, torch.einsum) if f is func])
            return super().__torch_function__(func, types, args, kwargs or {})

    m = torch.ones(2, 2).as_subclass(Mine)
    torch.matmul(m, m), torch.cat([m, m]), torch.linalg.norm(m), torch.stack([m])
    yield "told", [[f.__name__ for f in found] for found in heard]

    class Told(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            heard.append(torch.overrides.resolve_name(func))
            return func(*args, **(kwargs or {}))

    heard.clear()
    with Told():
        torch.cat([torch.zeros(1), torch.ones(1)])
        torch.matmul(torch.ones(1), torch.ones(1))
    yield "modes", list(heard)
