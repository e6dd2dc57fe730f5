"""Every form of index: what it reads, what it writes, its gradient."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate

# over t of shape (3, 4, 5); i1 = [2, 0], i2 = [[1, 0], [3, 3]], m = a mask over (3, 4), v = a mask over 3
GET = {
    "int": "t[1]", "int negative": "t[-1]", "two ints": "t[1, 2]", "three ints": "t[1, 2, 3]",
    "chained": "t[1][2][3]",
    "slice": "t[1:]", "slice stop": "t[:2]", "slice both": "t[1:2]", "slice negative": "t[-2:-1]",
    "slice step": "t[::2]",
    "slice step offset": "t[:, 1::2]", "slice beyond": "t[1:100]", "slice empty": "t[2:1]",
    "slice far": "t[50:]", "full": "t[:]",
    "ellipsis": "t[...]", "ellipsis first": "t[..., 0]", "ellipsis middle": "t[0, ..., 1]",
    "ellipsis last": "t[0, ...]",
    "ellipsis useless": "t[0, 1, ..., 2]", "ellipsis slice": "t[..., 1:3]", "none": "t[None]",
    "none middle": "t[:, None]",
    "none last": "t[..., None]", "none twice": "t[None, :, None]", "none and int": "t[None, 1, None, 2]",
    "mixed": "t[1, :, 2:4]",
    "mixed steps": "t[::2, 1, ::3]", "tuple": "t[(1, 2)]", "tuple of slices": "t[(slice(None), slice(1, 2))]",
    "true": "t[True]", "false": "t[False]", "tensor": "t[i1]", "tensor 2d": "t[i2 % 3]",
    "tensor zero dim": "t[torch.tensor(1)]",
    "tensor negative": "t[torch.tensor([-1, -3])]", "two tensors": "t[i1, i1]", "two tensors broadcast": "t[i1, i2]",
    "three tensors": "t[i1, i1, i1]", "tensor then slice": "t[i1, 1:3]", "slice then tensor": "t[:, i1]",
    "slice tensor slice": "t[1:, i1, :2]",
    "tensor slice tensor": "t[i1, :, i1]", "int and tensor": "t[1, i1]", "tensor and int": "t[i1, 1]",
    "int slice tensor": "t[1, :, i1]",
    "slice int tensor": "t[:, 1, i1]", "tensor slice int": "t[i1, :, 2]", "none and tensor": "t[None, i1]",
    "tensor and none": "t[i1, None]",
    "tensor none tensor": "t[i1, None, i1]", "ellipsis tensor": "t[..., i1]", "tensor ellipsis": "t[i1, ...]",
    "tensor ellipsis tensor": "t[i1, ..., i1]",
    "mask 1d": "t[v]", "mask 2d": "t[m]", "mask full": "t[t > 30]", "mask none": "t[t > 1000]",
    "mask all": "t[t > -1]",
    "mask and slice": "t[v, 1:]", "mask and int": "t[v, 1]",
    "slice and mask": "t[:, torch.tensor([True, False, True, False])]",
    "mask and tensor": "t[v, i1]", "mask 2d and slice": "t[m, 1:3]",
    "int and mask": "t[0, torch.tensor([True, False, False, True])]",
    "list": "t[[0, 2]]", "list negative": "t[[-1, 0]]", "two lists": "t[[0, 2], [1, 3]]",
    "list and slice": "t[[0, 2], 1:3]",
    "list of bools": "t[[True, False, True]]", "nested list": "t[[[0, 1], [2, 0]]]", "empty list": "t[[]]",
    "empty tuple": "t[()]",
    "range": "t[range(2)]", "duplicates": "t[torch.tensor([0, 0, 1])]", "int32 index": "t[i1.int()]",
    "uint8 mask": "t[v.to(torch.uint8)]",
    "empty index": "t[torch.zeros(0, dtype=torch.int64)]", "numpy int": "t[numpy.int64(1)]",
    "numpy array": "t[numpy.array([2, 0])]",
    "numpy mask": "t[numpy.array([True, False, True])]", "bool and slice": "t[True, 1:]",
    "column index": "t[torch.tensor([[0], [2]]), i1]",
    "zero dim mask": "t[torch.tensor(True)]", "slice by tensor": "t[torch.tensor(1):]",
    "size index": "t[torch.Size([1])]",
    "none none": "t[None, None]", "scalar tensor pair": "t[torch.tensor(1), torch.tensor(2)]",
    "step two dims": "t[::2, ::3]",
    "int slice int": "t[1, :, 3]", "tensor of one": "t[torch.tensor([1])]",
    "tensor and mask broadcast": "t[torch.tensor([1]), torch.tensor([True, False, True, False])]",
}


def inputs(torch, dtype=None):
    import numpy
    t = torch.arange(60, dtype=dtype or torch.float64).reshape(3, 4, 5)
    return {"t": t, "i1": torch.tensor([2, 0]), "i2": torch.tensor([[1, 0], [3, 3]]), "numpy": numpy,
            "v": torch.tensor([True, False, True]),
            "m": torch.tensor([[True, False, False, True], [False] * 4, [False, True, False, False]])}


def get(torch, expression):
    given = inputs(torch)
    out = evaluate(torch, expression, **given)
    yield "value", out
    yield "view", out._is_view()
    leaf = given["t"].clone().requires_grad_()
    out = evaluate(torch, expression, **{**given, "t": leaf})
    yield "node", out.grad_fn.name()
    cotangent = torch.arange(1.0, out.numel() + 1, dtype=torch.float64).reshape(out.shape)
    out.backward(cotangent)
    yield "grad", leaf.grad


def put_number(torch, expression):
    given = inputs(torch)
    yield "done", attempt(lambda: exec(expression + " = -1.5", {"torch": torch, **given}))
    yield "value", given["t"]
    whole = inputs(torch, torch.int64)
    attempt(lambda: exec(expression + " = -1.5", {"torch": torch, **whole}))
    yield "integers", whole["t"]


def put_tensor(torch, expression):
    given = inputs(torch)
    shape = evaluate(torch, expression, **given).shape
    count = 1
    for n in shape:
        count *= n
    x = given["t"].clone().requires_grad_()
    w = (torch.arange(1.0, count + 1, dtype=torch.float64).reshape(shape) * 100).requires_grad_()
    y = x * 1
    exec(expression + " = w", {"torch": torch, **given, "t": y, "w": w})
    yield "value", y.detach()
    yield "node", y.grad_fn.name(), y._version
    (y * given["t"]).sum().backward()
    yield "grads", x.grad, w.grad


def put_broadcast(torch, expression):
    given = inputs(torch)
    x = given["t"].clone().requires_grad_()
    w = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
    y = x * 1
    exec(expression + " = w", {"torch": torch, **given, "t": y, "w": w})
    (y * y).sum().backward()
    yield "grads", x.grad, w.grad


def augmented(torch, expression):
    given = inputs(torch)
    x = given["t"].clone().requires_grad_()
    y = x * 1
    space = {"torch": torch, **given, "t": y}
    exec(expression + " += 1", space)
    exec(expression + " *= 2", space)
    yield "value", y.detach()
    yield "version", y._version
    y.sum().backward()
    yield "grad", x.grad


def second_order(torch, expression):
    given = inputs(torch)
    x = (given["t"] / 10).requires_grad_()
    out = evaluate(torch, expression, **{**given, "t": x})
    g, = torch.autograd.grad((out ** 3).sum(), x, create_graph=True)
    yield "second", torch.autograd.grad((g * g).sum(), x)


DUPLICATES = {"duplicates", "tensor 2d", "two tensors broadcast", "nested list"}
each("indexing.get", get, GET)
each("indexing.put_number", put_number, GET)
each("indexing.put_tensor", put_tensor, {n: e for n, e in GET.items() if n not in DUPLICATES and n != "false"})
SOME = ["int", "two ints", "slice", "slice step", "ellipsis first", "none middle", "tensor", "two tensors",
    "tensor slice tensor",
        "mask 1d", "mask 2d", "mask full", "list", "int and tensor", "slice int tensor", "mask and int", "three ints"]
each("indexing.put_broadcast", put_broadcast, {n: GET[n] for n in SOME})
each("indexing.augmented", augmented, {n: GET[n] for n in SOME})
each("indexing.second_order", second_order, {n: GET[n] for n in SOME + ["duplicates", "nested list"]})


def get_other_dtype(torch, expression):
    for dtype in (torch.int64, torch.bool, torch.complex64, torch.float16):
        given = inputs(torch)
        yield str(dtype), evaluate(torch, expression, **{**given, "t": given["t"].to(dtype)})


each("indexing.dtypes", get_other_dtype,
    {n: GET[n] for n in ("int", "slice step", "tensor", "mask 1d", "tensor slice tensor")})


def refused(torch, expression):
    given = inputs(torch)
    def go():
        if "=" not in expression.replace("==", ""):
            return evaluate(torch, expression, **given)
        exec(expression, {"torch": torch, **given})
        return given["t"]
    yield "error", raises(go)
    yield "kept", given["t"].sum().item()


each("indexing.refused", refused, {
    "int high": "t[3]", "int low": "t[-4]", "second dim": "t[0, 4]", "third dim": "t[0, 0, -6]",
    "too many": "t[0, 0, 0, 0]",
    "two ellipses": "t[..., 0, ...]", "float": "t[1.0]", "string": "t['a']", "float tensor": "t[torch.tensor([1.0])]",
    "negative step": "t[::-1]", "zero step": "t[::0]", "float slice": "t[1.5:]",
    "tensor high": "t[torch.tensor([3])]",
    "tensor low": "t[torch.tensor([-4])]", "shapes": "t[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]",
    "mask shape": "t[torch.tensor([True, False])]",
    "mask shape 2d": "t[torch.ones(3, 5, dtype=torch.bool)]",
    "mask too many": "t[torch.ones(3, 4, 5, 1, dtype=torch.bool)]",
    "dict": "t[{}]", "zero dim": "torch.tensor(1.0)[0]", "zero dim slice": "torch.tensor(1.0)[:]",
    "list floats": "t[[0.5]]",
    "complex": "t[1j]", "put int high": "t[3] = 1.0", "put too many": "t[0, 0, 0, 0] = 1.0",
    "put shape": "t[0] = torch.ones(3)",
    "put shape mask": "t[v] = torch.ones(3)", "put shape tensor": "t[i1] = torch.ones(3)",
    "put string": "t[0] = 'a'", "put list": "t[0, 0] = [1.0]",
    "put none": "t[0] = None", "put complex": "t[0] = 1j", "put shape larger": "t[0, 0, 0] = torch.ones(2)",
    "delete": "del_ = t.__delitem__(0)",
    "put step": "t[::-1] = 0.0", "list too long": "t[[True, False]]", "int of empty": "torch.zeros(0)[0]",
    "put mask of tensor": "t[m] = torch.ones(2, 5)",
    "tensor out of many": "t[:, torch.tensor([4])]", "put tensor high": "t[torch.tensor([3])] = 1.0",
    "ragged list": "t[[[0], [1, 2]]]",
})


@case("indexing.zero_dim_uses")
def _(torch):
    s = torch.tensor(3.0)
    yield "ellipsis", s[...], s[()], s[None], s[True], s[False]
    s[()] = 4
    s[...] = s + 1
    yield "written", s
    yield "mask", s[s > 0]


@case("indexing.iteration_and_unpacking")
def _(torch):
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    yield "rows", a, b
    first, *rest = torch.arange(3)
    yield "star", first, rest
    yield "list", [v.item() for v in torch.tensor([1.5, 2.5])]
    yield "zero dim", raises(lambda: list(torch.tensor(1.0)))
    yield "contains", 2.0 in torch.tensor([1.0, 2.0]), 5 in torch.tensor([1, 2])
    yield "reversed", list(reversed(torch.arange(3)))
    yield "enumerate", [(i, v.item()) for i, v in enumerate(torch.arange(2))]
    yield "zip", [(p.item(), q.item()) for p, q in zip(torch.arange(2), torch.ones(2), strict=True)]


@case("indexing.put_dtype_conversion")
def _(torch):
    n = torch.zeros(3, dtype=torch.int64)
    n[0] = 1.9
    n[1] = torch.tensor(2.9)
    n[2] = True
    yield "int", n
    b = torch.zeros(3, dtype=torch.bool)
    b[0] = 2
    b[1] = torch.tensor(0.5)
    yield "bool", b
    f = torch.zeros(3, dtype=torch.float32)
    f[:2] = torch.tensor([1, 2])
    f[2] = torch.tensor(0.1, dtype=torch.float64)
    yield "float", f
    yield "index_put dtype", raises(lambda: f.index_put_((torch.tensor([0]),), torch.tensor([1])))
    yield "advanced", raises(lambda: f.__setitem__(torch.tensor([0]), torch.tensor([7])))
    yield "advanced, zero dim", raises(lambda: f.__setitem__(torch.tensor([1]), torch.tensor(7)))
    h = torch.zeros(2, dtype=torch.float16)
    h[0] = 70000.0
    yield "overflow", h


@case("indexing.put_broadcasts_leading_ones")
def _(torch):
    t = torch.zeros(3, 4)
    t[1] = torch.ones(1, 4)
    t[:, 0] = torch.full((1, 1, 3), 2.0)
    t[torch.tensor([0, 2])] = torch.full((1, 2, 4), 3.0)
    yield "value", t


@case("indexing.duplicates.without_accumulate")
def _(torch):
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    out = x.index_put((torch.tensor([0, 0]),), w)
    yield "value", out.detach()
    (out * torch.tensor([2.0, 3.0, 5.0], dtype=torch.float64)).sum().backward()
    yield "grads", x.grad, w.grad


@case("indexing.duplicates.accumulate")
def _(torch):
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    w = torch.tensor([3.0, 4.0, 5.0], dtype=torch.float64, requires_grad=True)
    out = x.index_put((torch.tensor([0, 0, 2]),), w, accumulate=True)
    yield "value", out.detach()
    (out * out).sum().backward()
    yield "grads", x.grad, w.grad


@case("indexing.duplicates.read_many_times")
def _(torch):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    out = x[torch.tensor([0, 1, 0, 0, 1])]
    g, = torch.autograd.grad((out ** 2).sum(), x, create_graph=True)
    yield "first", g
    yield "second", torch.autograd.grad(g.sum(), x)


@case("indexing.augmented_duplicates_do_not_add_up")
def _(torch):
    t = torch.zeros(3)
    t[torch.tensor([0, 0, 1])] += 1
    yield "value", t


@case("indexing.mask_with_grad_values")
def _(torch):
    x = torch.tensor([1.0, float("nan"), 3.0, float("inf")], requires_grad=True)
    out = x[torch.isfinite(x)]
    yield "value", out.detach()
    out.sum().backward()
    yield "grad", x.grad


@case("indexing.index_tensor_changed_later")
def _(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = torch.tensor([0, 2])
    out = x[i]
    i.fill_(1)
    yield "error", raises(lambda: out.sum().backward())
    yield "grad", x.grad


@case("indexing.moving_integers")
def _(torch):
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    total = 0
    for i in range(4):
        total = total + x[i].sum() * (i + 1) + x[i, i % 3] * x[-1 - i, 0]
    total.backward()
    yield "grad", x.grad


@case("indexing.minibatches")
def _(torch):
    data = torch.arange(10.0)
    yield "slices", [data[i:i + 4] for i in range(0, 10, 4)]
    order = torch.tensor([3, 1, 2, 0])
    yield "permuted", [data[order[i:i + 2]] for i in range(0, 4, 2)]


@case("indexing.tensor_as_python_index")
def _(torch):
    yield "list", [10, 20, 30][torch.tensor(1)]
    yield "range", list(range(torch.tensor(3)))
    yield "float index", raises(lambda: [1][torch.tensor(0.0)])
    yield "vector index", attempt(lambda: [1, 2][torch.tensor([1])])
    yield "slice bounds", torch.arange(5)[torch.tensor(1):torch.tensor(3)]


@case("indexing.nonzero_forms")
def _(torch):
    t = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    yield "nonzero", t.nonzero(), torch.nonzero(t, as_tuple=True)
    yield "where", torch.where(t > 0), t[torch.where(t > 0)]
    yield "argwhere", torch.argwhere(t)
    yield "masked_select", t.masked_select(t > 1)
    yield "zero dim", torch.tensor(1.0).nonzero(), torch.tensor(0.0).nonzero()
    yield "count", t.count_nonzero(), t.count_nonzero(0)
