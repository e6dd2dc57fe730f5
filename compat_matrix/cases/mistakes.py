"""Mistakes that people make: arguments that are no tensors, sizes that are no integers, which of several writes a message names."""

import numpy as np

from compat_matrix.case import case, raises

LOSSES = ["cross_entropy", "nll_loss", "kl_div", "hinge_embedding_loss", "poisson_nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss"]


def wrong(f, *args, **kwargs):
    """The class and first line of an error."""
    try:
        f(*args, **kwargs)
    except Exception as e:
        return type(e).__name__, str(e).splitlines()[0]
    return "no error"


@case("mistakes.losses")
def _(torch):
    f, t = torch.nn.functional, torch.ones(2, 3)
    for name in LOSSES:
        for x in (np.ones((2, 3)), [[1.0]], None):
            yield f"{name} input {type(x).__name__}", raises(lambda name=name, x=x: getattr(f, name)(x, t))
            if "l1" not in name and "mse" not in name:
                yield f"{name} target {type(x).__name__}", raises(lambda name=name, x=x: getattr(f, name)(t, x))
    yield "cosine", raises(lambda: f.cosine_embedding_loss([1.0], t, t)), raises(lambda: f.cosine_embedding_loss(t, t, [1.0]))
    yield "triplet", raises(lambda: f.triplet_margin_loss(t, np.ones(3), t))
    yield "module", raises(lambda: torch.nn.CrossEntropyLoss()(np.ones((2, 3)), torch.tensor([0, 1])))


@case("mistakes.layers")
def _(torch):
    f, n, t = torch.nn.functional, np.ones((2, 3), np.float32), torch.ones(2, 3)
    yield "linear", raises(lambda: f.linear(n, t)), raises(lambda: f.linear(t, n)), raises(lambda: f.linear(t, t, n)), raises(lambda: f.linear(t, t, 1.5))
    yield "module", raises(lambda: torch.nn.Linear(3, 2)(n))
    yield "dropout", raises(lambda: f.dropout(n)), raises(lambda: f.dropout([1.0])), raises(lambda: torch.nn.Dropout()(None))
    for name in ("conv1d", "conv2d", "conv3d"):
        yield name, wrong(getattr(f, name), n, t), wrong(getattr(f, name), t, n)
    yield "transposed", raises(lambda: f.conv_transpose2d(n, t)), raises(lambda: f.conv_transpose2d(t, t, 1.0))
    yield "attention", raises(lambda: f.scaled_dot_product_attention(n, t, t)), raises(lambda: f.scaled_dot_product_attention(t, t, [1.0]))
    yield "one_hot", raises(lambda: f.one_hot(n))
    yield "gumbel", raises(lambda: f.gumbel_softmax(n))
    yield "grid", raises(lambda: f.grid_sample(n, t, align_corners=False))
    for x, g in (((1, 1, 2, 2), (1, 2, 2)), ((1, 1, 2, 2, 2), (1, 2, 2, 3)), ((1, 1, 2), (1, 2, 1))):
        yield f"grid {x}", raises(lambda x=x, g=g: f.grid_sample(torch.ones(x), torch.ones(g), align_corners=False))
    yield "embedding", raises(lambda: f.embedding(n, t)), raises(lambda: f.layer_norm(n, (3,))), raises(lambda: f.pad(n, (1, 1)))


@case("mistakes.functions")
def _(torch):
    n, t = np.ones((2, 3), np.float32), torch.ones(2, 3)
    for name in ("matmul", "outer", "unique", "sin", "cat", "stack", "where", "argmax", "flatten", "zeros_like"):
        yield name, wrong(getattr(torch, name), *((n, t) if name in ("matmul", "outer") else ([n],) if name in ("cat", "stack") else (n,)))
    yield "einsum", raises(lambda: torch.einsum("ij->i", n))
    yield "copy", raises(lambda: t.copy_(n))
    yield "dtypes", raises(lambda: torch.promote_types(1, 2)), raises(lambda: torch.can_cast(1, 2)), raises(lambda: torch.can_cast(torch.int32, "a"))
    yield "generator", raises(lambda: torch.Generator("foo"))


@case("mistakes.sizes")
def _(torch):
    for x in ([1, 2.5], ["a"], [torch.tensor(2.0)], [None], 5):
        yield repr(x)[:8], wrong(torch.Size, x)
    yield "fine", torch.Size([1, np.int64(2), torch.tensor(3), True]), torch.Size([]), torch.Size(range(2)), torch.Size((2,)) + (3,)
    yield "joined", raises(lambda: torch.Size([1]) + (2.5,))


MADE = ["torch.sort(y)[0]", "y.max()", "torch.exp(y)", "y.sum(0)", "y.pow(2)", "y.std()", "y[0]", "y.view(2)", "y.norm()", "torch.cat([y, y])", "y.tanh()", "y.softmax(0)"]


@case("mistakes.written_after")
def _(torch):
    """The reader of a value runs before the node that made it: its check is the one that fails."""
    for text in MADE:
        for mode in (torch.enable_grad, torch.no_grad):
            y = torch.tensor([1.0, 2.0], requires_grad=True) * 1
            z = eval(text, {"torch": torch, "y": y})
            w = z * z
            with mode():
                z.mul_(2)
            yield f"{text} {mode.__name__}", raises(lambda w=w: w.sum().backward())
    y = torch.tensor([1.0, 2.0], requires_grad=True) * 1
    z = y.exp()
    z.mul_(2)
    yield "result alone", raises(lambda: z.sum().backward())
    y = torch.tensor(2.0, requires_grad=True) * 1
    y[...] = y * 3
    z = y * y
    y[()] = 1.0
    yield "copied", y.grad_fn.name(), raises(lambda: z.backward())


NUMBERS = [("float16", 1e9), ("float32", 1e39), ("bfloat16", 1e39), ("int8", 300), ("int32", 2**40), ("uint8", 300)]
TAKEN = ["masked_fill(x > 0, n)", "index_fill(0, i, n)", "scatter(0, i, n)", "__setitem__(0, n)", "__setitem__(slice(0, 1), n)", "__setitem__(x > 0, n)",
         "where(x > 0, n)", "new_full((1,), n)", "fill_(n)", "index_fill_(0, i, n)", "scatter_(0, i, n)", "masked_fill_(x > 0, n)"]


@case("mistakes.numbers")
def _(torch):
    """Numbers that a dtype cannot hold."""
    for dtype, n in NUMBERS:
        for text in TAKEN:
            x = torch.tensor([1, 2], dtype=getattr(torch, dtype))
            places = {"x": x, "n": n, "i": torch.tensor([0])}
            yield f"{dtype} {text}", wrong(eval, f"x.{text}", places), x
        x = torch.tensor([1, 2], dtype=getattr(torch, dtype))
        yield f"{dtype} pad", wrong(torch.nn.functional.pad, x, (1, 1), value=n)
        yield f"{dtype} where", wrong(torch.where, x > 5, n, x)
        yield f"{dtype} scalar_tensor", wrong(torch.scalar_tensor, n, dtype=x.dtype), wrong(torch.full, (2,), n, dtype=x.dtype)
        yield f"{dtype} linspace", wrong(torch.linspace, 0, n, 2, dtype=x.dtype)


@case("mistakes.numpy_bool")
def _(torch):
    o, ones = np.True_, torch.ones(2, dtype=torch.int64)
    for name in ("add", "mul", "sub", "floor_divide", "remainder", "pow", "eq", "clamp", "fill_", "bitwise_and"):
        yield name, raises(lambda name=name: getattr(ones.clone(), name)(o))
    yield "python", ones * o, o + ones, o - ones.float(), torch.where(ones > 0, ones, o)
    yield "made", torch.full((2,), o), torch.arange(o), torch.tensor([o])
    yield "in place", raises(lambda: ones.clone().add_(o)), raises(lambda: ones.__setitem__(0, o)), raises(lambda: ones[o])
    yield "keepdim", raises(lambda: ones.sum(0, o)), raises(lambda: torch.add(ones, torch.Size([2])))


@case("mistakes.recurrent")
def _(torch):
    nn = torch.nn
    for size in (2.0, "a", -1, np.int64(2)):
        yield f"size {size!r}", raises(lambda size=size: nn.LSTM(size, 3))
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        m = kind(2, 3)
        yield kind.__name__, raises(lambda m=m: m(torch.ones(0, 1, 2))), raises(lambda m=m: m(1, 2, 3)), raises(lambda m=m: m())
    cell = nn.LSTMCell(2, 3)
    for hx in (torch.ones(1, 3), torch.ones(2, 3), torch.ones(3), 1):
        yield f"cell {tuple(getattr(hx, 'shape', ()))}", raises(lambda hx=hx: cell(torch.ones(1, 2), hx))


@case("mistakes.generator")
def _(torch):
    drawn = {"rand": (2,), "randn": (2,), "randperm": (3,), "randint": (3, (2,)), "bernoulli": (torch.ones(2),), "multinomial": (torch.ones(2), 1)}
    for name, args in drawn.items():
        yield name, raises(lambda name=name, args=args: getattr(torch, name)(*args, generator=1))
    for name in ("normal_", "uniform_"):
        yield name, raises(lambda name=name: getattr(torch.ones(2), name)(generator="a"))
    yield "state", raises(lambda: torch.Generator().set_state(1))
    yield "sizes", raises(lambda: torch.ones(3) in torch.ones(2))


@case("mistakes.methods_without_a_tensor")
def _(torch):
    T, x = torch.Tensor, torch.ones(1)
    for _ in range(2):  # calls that are remembered
        x.add_(4), x.mul_(torch.ones(1)), x.sin(), x.add(3)
        x += 4
    for name, call in {"binary": lambda: T.add(3), "two": lambda: T.add(3, torch.ones(1)), "nothing": lambda: T.add(), "unary": lambda: T.sin(3),
                       "list": lambda: T.sum([1]), "write": lambda: T.add_(3, 4), "write with one": lambda: T.mul_([1.0], torch.ones(1)),
                       "operator": lambda: T.__add__(3, 4), "written by an operator": lambda: T.__iadd__(3, 4), "composite": lambda: T.flatten(3),
                       "keyword": lambda: T.sum(3, dim=0)}.items():
        yield name, raises(call)
