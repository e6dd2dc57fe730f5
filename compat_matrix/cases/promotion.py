"""Result dtypes: tensors against tensors, 0-dim tensors and Python numbers; factories; reductions."""

from functools import partial

from compat_matrix.case import attempt, case, raises

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128"]
NUMBERS = {"bool": True, "int": 2, "float": 1.5, "complex": 1 + 1j}
OPERATORS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "pow": lambda a, b: a ** b,
    "eq": lambda a, b: a == b, "lt": lambda a, b: a < b, "and": lambda a, b: a & b, "lshift": lambda a, b: a << b,
}
FUNCTIONS = ["maximum", "minimum", "fmod", "atan2", "logaddexp", "hypot", "copysign", "true_divide",
    "bitwise_xor", "logical_or", "fmax", "remainder", "xlogy", "gcd"]
UNARY = ["exp", "sin", "sqrt", "abs", "neg", "sigmoid", "floor", "round", "sign", "square", "reciprocal",
    "log1p", "rsqrt", "isnan", "logical_not", "bitwise_not", "relu", "cumsum", "cumprod", "sum", "prod", "mean",
    "std", "amax", "argmax", "all", "any", "logsumexp", "trunc", "erf", "tanh", "clone", "zeros_like",
    "ones_like", "tan", "frac", "median", "max", "sort", "angle", "real", "nan_to_num", "positive", "sgn",
    "isfinite", "count_nonzero"]


def kinds(torch, dtype):
    """A vector and a 0-dim tensor of a dtype."""
    values, one = ([True, True, False], True) if dtype == "bool" else ([1, 2, 3], 1)
    kind = getattr(torch, dtype)
    return {"vector": torch.tensor(values).to(kind), "zero dim": torch.tensor(one).to(kind)}


def complex_half(left, right):
    """Would float16 and this complex 0-dim tensor or number meet in complex32?"""
    return left == "float16" and right.startswith("complex")


def outcome(torch, fn):
    """The result, or the error as one line."""
    seen = attempt(fn)
    return seen if isinstance(seen, torch.Tensor) else "{class[0]}: {message}".format(**seen["error"])


def dtype_of(torch, fn):
    """The dtype of the result, or the error as one line."""
    seen = outcome(torch, fn)
    return str(seen.dtype) if isinstance(seen, torch.Tensor) else seen


def pairs(torch, op, left):
    fn = OPERATORS.get(op) or getattr(torch, op)
    mine = kinds(torch, left)
    for right in DTYPES:
        other = kinds(torch, right)
        yield right, outcome(torch, lambda other=other: fn(mine["vector"], other["vector"]))
        if not complex_half(left, right):
            yield right + " zero dim", dtype_of(torch, lambda other=other: fn(mine["vector"], other["zero dim"]))
        yield right + " both zero dim", dtype_of(torch, lambda other=other: fn(mine["zero dim"], other["zero dim"]))


def numbers(torch, op, left):
    fn, mine = OPERATORS[op], kinds(torch, left)
    for name, number in NUMBERS.items():
        for kind, tensor in mine.items() if not complex_half(left, name) else ():
            yield f"{kind} {name}", outcome(torch, partial(fn, tensor, number))
            yield f"{name} {kind}", outcome(torch, partial(fn, number, tensor))


def inplace(torch, op, left):
    for right in DTYPES:
        for kind, fn in (("vector", outcome), ("zero dim", dtype_of)):
            if kind == "zero dim" and complex_half(left, right):
                continue
            target = kinds(torch, left)["vector"]
            yield f"{right} {kind}", fn(torch, partial(written, target, op, kinds(torch, right)[kind]))
    for name, number in NUMBERS.items():
        if complex_half(left, name):
            continue
        target = kinds(torch, left)["vector"]
        yield name, outcome(torch, partial(written, target, op, number))


def written(target, op, value):
    return getattr(target, op)(value)


def first_result(torch, op, x):
    out = getattr(torch, op)(x, *([0] if op in ("cumsum", "cumprod", "logsumexp") else []))
    return out if isinstance(out, torch.Tensor) else out[0]


def unary(torch, op):
    for dtype in DTYPES:
        x = kinds(torch, dtype)["vector"]
        seen = attempt(partial(first_result, torch, op, x))
        yield dtype, seen.dtype if isinstance(seen, torch.Tensor) else seen


for left in DTYPES:
    for op in ("add", "mul", "div", "pow", "floordiv"):
        case(f"promotion.pairs.{op}.{left}", op=op, left=left)(pairs)
    for op in ("add", "sub", "mul", "div", "floordiv", "mod", "pow", "eq", "lt"):
        case(f"promotion.numbers.{op}.{left}", op=op, left=left)(numbers)
    for op in ("add_", "mul_", "div_", "copy_"):
        case(f"promotion.inplace.{op}.{left}", op=op, left=left)(inplace)
for left in ("bool", "uint8", "int64", "float16", "float32", "float64", "complex64"):
    for op in ["sub", "mod", "eq", "lt", "and", "lshift"] + (FUNCTIONS if left in ("bool", "int64", "float32") else []):
        case(f"promotion.pairs.{op}.{left}", op=op, left=left)(pairs)
for op in UNARY:
    case(f"promotion.unary.{op}", op=op)(unary)


@case("promotion.result_type")
def _(torch):
    def one(kind):
        return torch.ones(1, dtype=getattr(torch, kind))

    def zero_dim(kind):
        return torch.tensor(1).to(getattr(torch, kind))
    for a in DTYPES:
        others = [b for b in DTYPES if not complex_half(a, b)]
        yield f"{a} tensors", [torch.result_type(one(a), one(b)) for b in DTYPES]
        yield f"{a} zero dim", [torch.result_type(one(a), zero_dim(b)) for b in others]
        yield f"{a} numbers", [torch.result_type(one(a), n) for k, n in NUMBERS.items() if not complex_half(a, k)]
        yield f"{a} promote_types", [torch.promote_types(getattr(torch, a), getattr(torch, b)) for b in DTYPES]
        yield f"{a} can_cast", [torch.can_cast(getattr(torch, a), getattr(torch, b)) for b in DTYPES]


@case("promotion.complex_half")
def _(torch):
    half = torch.tensor([1.0, 2.0], dtype=torch.float16)
    yield "result_type", torch.result_type(half, 1j), torch.result_type(half, torch.tensor(1j))
    yield "number", dtype_of(torch, lambda: half + 1j), dtype_of(torch, lambda: half * torch.tensor(1j))
    yield "inplace", dtype_of(torch, lambda: half.mul_(1j))


@case("promotion.reductions.dtype_argument")
def _(torch):
    x = torch.tensor([1, 2, 3])
    for name in ("sum", "prod", "mean", "cumsum", "cumprod", "softmax", "log_softmax", "nansum"):
        args = [0] if name in ("cumsum", "cumprod", "softmax", "log_softmax") else []
        yield name, attempt(lambda name=name, args=args: getattr(torch, name)(x, *args, dtype=torch.float64))
    yield "half sum in float", torch.tensor([1.5, 2.5], dtype=torch.float16).sum(dtype=torch.float32)
    yield "int from float", torch.tensor([1.7, 2.7]).sum(dtype=torch.int64)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.sum(dtype=torch.float64).backward()
    yield "grad", x.grad


@case("promotion.factories")
def _(torch):
    makes = {"tensor int": lambda: torch.tensor([1]), "tensor float": lambda: torch.tensor([1.0]),
        "tensor mixed": lambda: torch.tensor([1, 2.5]), "tensor bool": lambda: torch.tensor([True]),
        "tensor bool int": lambda: torch.tensor([True, 2]),
             "tensor empty": lambda: torch.tensor([]), "tensor complex": lambda: torch.tensor([1j]),
             "arange int": lambda: torch.arange(3), "arange float": lambda: torch.arange(3.0),
             "arange mixed": lambda: torch.arange(0, 1, 0.5),
             "linspace": lambda: torch.linspace(0, 1, 3), "full int": lambda: torch.full((2,), 1),
             "full float": lambda: torch.full((2,), 1.0), "full bool": lambda: torch.full((2,), True),
             "full complex": lambda: torch.full((2,), 1j),
             "zeros": lambda: torch.zeros(2), "ones": lambda: torch.ones(2), "eye": lambda: torch.eye(2),
             "empty": lambda: torch.empty(2).fill_(0), "scalar_tensor": lambda: torch.scalar_tensor(1),
             "logspace": lambda: torch.logspace(0, 2, 3),
             "randint": lambda: torch.randint(0, 1, (2,)),
             "zeros_like int": lambda: torch.zeros_like(torch.tensor([1])),
             "full_like": lambda: torch.full_like(torch.tensor([1.0]), 2),
             "new_tensor": lambda: torch.ones(1, dtype=torch.float64).new_tensor([1, 2]),
             "new_zeros": lambda: torch.ones(1, dtype=torch.int32).new_zeros(2),
             "new_full": lambda: torch.ones(1, dtype=torch.float64).new_full((2,), 3),
             "as_tensor": lambda: torch.as_tensor([1, 2]),
             "linspace int": lambda: torch.linspace(0, 10, 5, dtype=torch.int64),
             "arange negative": lambda: torch.arange(3, 0, -1),
             "arange dtype": lambda: torch.arange(3, dtype=torch.float64),
             "tril_indices": lambda: torch.tril_indices(2, 2),
             "one_hot": lambda: torch.nn.functional.one_hot(torch.tensor([1]))}
    for name, make in makes.items():
        yield name, make()
    torch.set_default_dtype(torch.float64)
    for name in ("tensor int", "tensor float", "arange float", "linspace", "full int", "full float",
            "full complex", "zeros", "eye", "scalar_tensor", "tensor empty", "tensor complex"):
        yield name + " under float64", makes[name]()
    yield "division under float64", torch.tensor([1]) / 2, torch.tensor([1]) * 1.5, torch.tensor([4]).sqrt()
    torch.set_default_dtype(torch.float16)
    yield "half", torch.zeros(1).dtype, (torch.tensor([1]) / 2).dtype
    yield "refused", raises(lambda: torch.set_default_dtype(torch.int64))


@case("promotion.cat_stack_where")
def _(torch):
    for a in DTYPES:
        for b in ("bool", "int64", "float32", "float64", "complex64"):
            x, y = kinds(torch, a)["vector"], kinds(torch, b)["vector"]
            yield (f"{a} {b}", torch.cat([x, y]).dtype, torch.stack([x, y]).dtype,
                torch.where(torch.tensor([True, False, True]), x, y).dtype)
    c = torch.tensor([True, False])
    yield ("numbers", torch.where(c, 1, 2), torch.where(c, 1, 2.5),
        torch.where(c, 1.0, torch.ones(2, dtype=torch.float64)),
        torch.where(c, torch.ones(2), torch.tensor(2.0, dtype=torch.float64)), torch.where(c, True, 1))


@case("promotion.clamp_and_friends")
def _(torch):
    n = torch.tensor([1, 2, 3])
    yield "clamp", n.clamp(max=2.5), n.clamp(1, 2), n.clamp(min=torch.tensor(1.5)), n.float().clamp(1, torch.inf)
    yield "lerp", attempt(lambda: torch.lerp(n.float(), n.double(), 0.5))
    yield "addcmul", torch.addcmul(n, n, n), attempt(lambda: torch.addcmul(n, n, n, value=1.5))
    yield "alpha", attempt(lambda: torch.add(n, n, alpha=1.5)), attempt(lambda: torch.add(n.float(), n, alpha=1.5))
    yield "matmul", attempt(lambda: n.float() @ n.double()), attempt(lambda: n @ n), attempt(lambda: n @ n.float())
    yield "masked_fill", attempt(lambda: n.masked_fill(n > 1, 1.5)), attempt(lambda: n.float().masked_fill(n > 1, 1))
    yield ("pow", torch.tensor([2]) ** torch.tensor([-1]), attempt(lambda: torch.tensor([2]) ** -1),
        torch.tensor([2]) ** 2.0, torch.tensor([2.0]) ** torch.tensor([2]))
    yield "mse", attempt(lambda: torch.nn.functional.mse_loss(n.float(), n.double()))
    yield "dot", attempt(lambda: torch.dot(n.float(), n.double()))
    yield "float_power", torch.float_power(n, 2).dtype, torch.float_power(n.float(), 2).dtype


@case("promotion.integer_arithmetic")
def _(torch):
    a, b = torch.tensor([7, -7, 7, -7]), torch.tensor([2, 2, -2, -2])
    yield ("floor", a // b, a % b, torch.fmod(a, b), torch.div(a, b, rounding_mode="trunc"),
        torch.div(a, b, rounding_mode="floor"), a / b)
    z = torch.tensor([0])
    yield ("by zero", raises(lambda: a // z), raises(lambda: a % z), raises(lambda: torch.fmod(a, z)), a / z,
        raises(lambda: torch.div(a, z, rounding_mode="trunc")))
    f = torch.tensor([1.0, -1.0, 0.0])
    yield "float by zero", f // 0, f % 0, f / 0, f % float("inf")
    yield ("overflow", torch.tensor([127], dtype=torch.int8) + 1, torch.tensor([255], dtype=torch.uint8) + 1,
        torch.tensor([200], dtype=torch.uint8) + 300, torch.tensor([2**63 - 1]) + 1)
    yield ("shifts", torch.tensor([1]) << 65, torch.tensor([-8]) >> 1, torch.tensor([1]) << torch.tensor([3]),
        torch.tensor([1]) << -1)
    yield ("negate", -torch.tensor([1], dtype=torch.uint8), raises(lambda: -torch.tensor([True])),
        raises(lambda: torch.tensor([True]) - torch.tensor([True])), ~torch.tensor([True, False]),
        ~torch.tensor([0, 5]))
    yield ("bool", torch.tensor([True]) + torch.tensor([True]), torch.tensor([True]) * 2,
        torch.tensor([True, True]).sum(), torch.tensor([True]) * torch.tensor([False]), abs(torch.tensor([-3])),
        torch.tensor([True]) ^ True)
    yield "mean of ints", raises(lambda: a.mean()), raises(lambda: a.std()), raises(lambda: a.var())
    yield "mean with dtype", a.mean(dtype=torch.float32)


@case("promotion.casts")
def _(torch):
    f = torch.tensor([1.9, -1.9, 0.0, 300.0])
    for name in DTYPES:
        yield name, f.to(getattr(torch, name)) if name != "uint8" else f.abs().clamp(max=255).to(torch.uint8)
    yield "int to bool", torch.tensor([0, 2, -1]).bool(), torch.tensor([0.0, 0.5]).bool()
    yield ("wrap", torch.tensor([300, -1]).to(torch.uint8), torch.tensor([200]).to(torch.int8),
        torch.tensor([2**40]).to(torch.int32))
    yield ("half rounding", torch.tensor([0.1, 1 / 3, 65504.0, 70000.0]).half(),
        torch.tensor([0.1, 1 / 3, 3e38]).bfloat16())
    yield "complex to real", attempt(lambda: torch.tensor([1 + 2j]).to(torch.float32))
    yield "bool arithmetic", torch.tensor([True, False]).float(), torch.tensor([True]).long()


@case("promotion.kron")
def _(torch):
    def made(name, *shape):
        return torch.ones(shape).to(getattr(torch, name))

    for a, b in (("float32", "float16"), ("float64", "float32"), ("int32", "float32"), ("float32", "int64"), ("complex64", "float64"), ("bool", "uint8")):
        yield f"{a}, {b}", [torch.kron(made(x, *s), made(y, *t)).dtype for x, y in ((a, b), (b, a)) for s, t in (((), (2,)), ((2,), ()), ((), ()), ((2,), (1, 2)))]
    x, y = torch.tensor(2.0, dtype=torch.float64, requires_grad=True), torch.ones(2, requires_grad=True)
    z = torch.kron(x, y)
    yield "gradients", z, torch.autograd.grad(z.sum(), (x, y))
