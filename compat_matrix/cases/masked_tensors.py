"""`torch.masked.MaskedTensor`: data and a mask, what is computed with them, and gradients."""

import copy
import functools
import warnings

from ..case import case


def _made(torch, requires_grad=False):
    masked_tensor = torch.masked.masked_tensor
    data = torch.tensor([[1.5, 2.0, -3.0], [4.0, 5.0, 0.5]])
    return masked_tensor(data, torch.tensor([[True, False, True], [True, True, False]]), requires_grad=requires_grad)


def _parts(x):
    """What is there of a masked tensor: 0 elsewhere, and the mask."""
    mask = x.get_mask().to_dense() if x.is_sparse else x.get_mask()
    data = x.get_data().detach().to_dense() if x.is_sparse else x.get_data().detach()
    return data.masked_fill(~mask, 0), mask


def _quiet(body):
    @functools.wraps(body)
    def run(torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from body(torch)

    return run


def _said(f):
    try:
        out = f()
    except Exception as error:
        return type(error).__name__, str(error)
    return type(out).__name__


@case("masked_tensors.made")
@_quiet
def _(torch):
    MaskedTensor, is_masked_tensor = torch.masked.MaskedTensor, torch.masked.is_masked_tensor
    masked_tensor, as_masked_tensor = torch.masked.masked_tensor, torch.masked.as_masked_tensor
    core = torch.masked.maskedtensor.core
    x = _made(torch)
    yield "kind", type(x) is MaskedTensor is torch.masked.maskedtensor.MaskedTensor is core.MaskedTensor, isinstance(x, torch.Tensor), is_masked_tensor(x), is_masked_tensor(torch.ones(2)), torch.is_tensor(x)
    yield "says", x.shape, x.dtype, str(x.layout), x.ndim, x.numel(), len(x), x.stride(), x.is_contiguous(), x.requires_grad, x.is_leaf, x.is_sparse, x.is_sparse_coo(), x.is_sparse_csr()
    yield "parts", x.get_data(), x.get_mask(), type(x.get_data()).__name__, x._masked_data, x._masked_mask, x.to_tensor(7.0)
    yield "text", repr(x), repr(x > 0), repr(x.int()), repr(x[0]), repr(x[0, 0]), repr(x[0, 1]), repr(x[None] * 100), str(x.sum()), repr(x[:0])
    data, mask = torch.ones(2), torch.tensor([True, False])
    y = masked_tensor(data, mask)
    data.add_(1), mask.fill_(True)
    yield "copies", _parts(y)
    y.get_data().add_(5)
    yield "shared", _parts(y)
    y.get_mask().fill_(True)
    yield "its mask", _parts(y)
    row = x[0]
    row.add_(10)
    yield "no view", _parts(x), _parts(row)
    for name, one, other in (("number", [1.0], mask), ("list", data, [True]), ("masked", x, mask), ("dtype", data, data), ("dims", data, mask[None]), ("size", data, torch.ones(3) > 0),
                             ("bfloat16", data.bfloat16(), mask), ("complex", data.to(torch.complex64), mask), ("bytes", data.byte(), mask), ("layouts", data.to_sparse(), mask)):
        yield name, _said(lambda one=one, other=other: masked_tensor(one, other))
    yield "integers", _said(lambda: masked_tensor(data.int(), mask, True))
    yield "match", core._masks_match(x, x + 1), core._masks_match(x, data), core._tensors_match(data, data.clone()), core._tensors_match(data, data.double())
    z = copy.deepcopy(x)
    z.mul_(2)
    yield "copied", _parts(x), _parts(z), type(as_masked_tensor(data, mask)) is MaskedTensor
    yield "numbers", x[0, 0].item(), float(x[1, 1]), bool(x[0, 0]), _said(lambda: x[0, 1].item()), _said(x.tolist), _said(x.numpy), _said(lambda: x.item())
    twice = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    yield "as tensors", _parts(torch.tensor(x)), _parts(twice), twice.requires_grad, twice.dtype, torch.as_tensor(x) is x
    plain = torch.zeros(2, 2, 3)
    plain[0] = x
    plain[1, :, 0] = x[:, 1]
    yield "written elsewhere", plain, _said(lambda: plain.__setitem__(plain > 0, x)), _said(lambda: x.__setitem__(0, 1.0))[0], _said(lambda: x.__setitem__(x.get_mask(), 1.0))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        masked_tensor(torch.ones(2, requires_grad=True), mask)
    yield "warned", [str(w.message) for w in found]


@case("masked_tensors.elementwise")
@_quiet
def _(torch):
    below = torch.masked.maskedtensor
    yield "names", sorted(below.unary.UNARY_NAMES), sorted(below.binary.BINARY_NAMES), sorted(f.__name__ for f in below.unary.NATIVE_INPLACE_UNARY_FNS)
    for name in ("abs", "neg", "exp", "sin", "sqrt", "sign", "isnan", "square", "sigmoid", "reciprocal", "floor", "log1p", "nan_to_num", "signbit"):
        yield name, _parts(getattr(torch, name)(_made(torch))), _parts(getattr(_made(torch), name)()), _parts(getattr(torch.ops.aten, name)(_made(torch)))
    x = _made(torch)
    yield "clamp", _parts(torch.clamp(x, min=0.0)), _parts(x.clamp(max=1)), _parts(x.clip(-1, 2)), _parts(x**2), _parts(x.pow(3)), _parts(abs(-x)), _parts(~(x > 0))
    yield "refused", _said(lambda: x.round(decimals=1)), _said(lambda: x.clamp(torch.ones(2, 3))), _said(lambda: x.add(x, alpha=2)), _said(lambda: torch.div(x, 2, rounding_mode="floor"))
    for name in ("add", "sub", "mul", "div", "atan2", "maximum", "fmod", "eq", "lt", "logaddexp", "remainder", "floor_divide"):
        f = getattr(torch, name)
        yield name, _parts(f(x, x * 2)), _parts(f(x, torch.full((3,), 2.0))), _parts(f(torch.full((3,), 2.0), x)), _parts(getattr(x, name)(x))
    yield "operators", _parts(x + 1), _parts(1 + x), _parts(x - 1), _parts(2 * x), _parts(2 / x), _parts(x // 2), _parts(x % 2), _parts((x > 0) & (x < 3)), _parts(x == x), _parts(x != 1), _parts(x < x + 1)
    yield "masks", _said(lambda: x + torch.masked.masked_tensor(torch.ones(2, 3), torch.ones(2, 3) > 0)), _said(lambda: x * x[0])
    y = _made(torch)
    yield "in place", y.add_(1) is y, _parts(y), y.mul_(y) is y, _parts(y), _parts(y.exp_()), _parts(y.clamp_(max=5)), _parts(y.copy_(torch.ones(2, 3))), _parts(y.sub_(torch.ones(3)))
    yield "plain", _said(lambda: torch.ones(2, 3).add_(x))
    yield "kinds", [t.dtype for t in (x.double(), x.half(), x.int(), x.bool(), x.to(torch.float64), x.type(torch.int64), x + x.double(), x.type_as(x.int()))], x.to("cpu") is x, _parts(x.int())
    yield "where", _parts(torch.where(x.get_mask(), x, -x)), _parts(torch.where(x.get_mask(), torch.zeros(2, 3), x)), _parts(torch.where(torch.ones(2, 3) > 0, x, 0.0)), _said(lambda: torch.where(x.get_mask(), x, other=x))
    yield "softmax", _parts(x.softmax(1)), _parts(torch.softmax(x, 0)), _parts(torch.nn.functional.softmin(x, 1)), _parts(torch.ones_like(x)), _parts((x > 0)._is_any_true())
    for name in ("any", "relu", "squeeze", "nonzero", "cumsum"):
        args = (0,) if name == "cumsum" else ()
        yield f"no {name}", _said(lambda name=name, args=args: getattr(x, name)(*args))[0]
    yield "no operators", _said(lambda: 1 - x), _said(lambda: 2**x)[0], _said(lambda: x**x), _said(lambda: list(x))[0], _said(lambda: x.permute(1, 0)), _said(lambda: x.T), _said(lambda: x.new_zeros(2))


@case("masked_tensors.reduced")
@_quiet
def _(torch):
    masked_tensor = torch.masked.masked_tensor
    x = masked_tensor(torch.tensor([[1.5, 2.0, -3.0], [4.0, 5.0, 0.5], [1.0, 2.0, 3.0]]), torch.tensor([[True, False, True], [True, True, False], [False, False, False]]))
    for name in torch.masked.maskedtensor.reductions.REDUCE_NAMES:
        f = getattr(torch, name)
        if name != "norm":
            yield name, _parts(f(x)), _parts(getattr(x, name)())
        yield f"{name} along", _parts(getattr(x, name)(dim=0)) if name != "norm" else None, _parts(f(x, 1)) if name != "norm" else None, _parts(getattr(x, name)(1, keepdim=True)) if name != "norm" else None
    yield "norm", _said(lambda: x.norm()), _said(lambda: torch.norm(x, dim=1))
    yield "dims", _parts(x.sum((0, 1))), _parts(torch.amax(x, dim=(0, 1), keepdim=True)), _parts(x.sum(-1)), _parts(x.sum(1, dtype=torch.float64))
    yield "dtypes", x.int().sum().dtype, x.sum(0).dtype, x.argmax().dtype, x.all().dtype, _said(lambda: x.int().mean()), _said(lambda: x.sum(dtype=torch.float64)), _said(lambda: x.std(unbiased=False))
    yield "functions", torch.masked.sum(x), torch.masked.mean(x, 1), torch.masked.sum(x, mask=torch.ones(3, 3) > 0), torch.masked.softmax(x, 1), torch.masked.var(x[:2]), torch.masked.prod(x, 0)
    y = _made(torch)
    yield "others", [getattr(torch.masked, name)(y, 1) for name in ("median", "cumsum", "log_softmax", "logsumexp", "argmin", "std")], torch.masked.norm(y, 2, 1), torch.masked.normalize(y, 2.0, 1), torch.masked.logaddexp(y, y)
    yield "combined", torch.masked._combine_input_and_mask(torch.masked.sum, x.get_data(), x.get_mask()), torch.masked._combine_input_and_mask(torch.masked.amax, x, None)


@case("masked_tensors.moved")
@_quiet
def _(torch):
    x = _made(torch)
    yield "indices", _parts(x[0]), _parts(x[:, 1:]), _parts(x[None]), _parts(x[[0, 1]]), _parts(x[torch.tensor([1])]), _parts(x[x.get_mask()]), _parts(x[:, 1]), x[1].shape
    yield "shapes", _parts(x.t()), _parts(x.transpose(0, 1)), _parts(x.mT), _parts(x.H), _parts(x.real), _parts(x.view(-1)), _parts(x.reshape(3, 2)), _parts(x.flatten()), _parts(x.unsqueeze(1)), _parts(x.expand(2, 2, 3)), _parts(x.ravel())
    yield "parts", [_parts(y) for y in x.split(1)], [_parts(y) for y in x.chunk(3, 1)], [_parts(y) for y in torch.tensor_split(x, 2, 1)], _parts(x.select(1, 2)), _parts(x.unfold(1, 2, 1))
    yield "joined", _parts(torch.cat([x, x])), _parts(torch.stack([x, -x])), _parts(torch.vstack([x, x])), _said(lambda: torch.cat([x, torch.ones(1, 3)]))
    yield "order", x.t().is_contiguous(), x.t().contiguous().is_contiguous(), _parts(x.t().contiguous()), x.contiguous().is_contiguous(), _parts(x.clone()), _parts(x.detach()), _parts(x.data)


@case("masked_tensors.gradients")
@_quiet
def _(torch):
    x = _made(torch, True)
    steps = {
        "sum": lambda x: x.sum(), "square": lambda x: (x * x).sum(), "along": lambda x: x.sum(0).sum(), "mean": lambda x: (x * 2).mean(), "exp": lambda x: x.exp().sum(),
        "amax": lambda x: x.amax(1).sum(), "prod": lambda x: x.prod(), "softmax": lambda x: (x.softmax(1) * x).sum(), "var": lambda x: x.var(), "std": lambda x: x.std(1).sum(),
        "moved": lambda x: (x.t() * 3).view(-1).sum() if False else (x.view(-1) * 3).sum(), "joined": lambda x: torch.cat([x, x * 2]).sum(), "kind": lambda x: x.to(torch.float64).sum(),
        "plain": lambda x: (x + torch.arange(3.0)).pow(2).sum(), "data": lambda x: x.get_data().sum(), "filled": lambda x: x.to_tensor(0.0).pow(2).sum(), "clone": lambda x: x.clone().mean(0).sum(),
    }
    for name, f in steps.items():
        x.grad = None
        out = f(x)
        out.backward()
        yield name, out.requires_grad, type(x.grad).__name__, _parts(x.grad)
    (x * x).sum().backward()
    yield "added", _parts(x.grad)
    (first,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    yield "second", type(first).__name__, _parts(first), type(second).__name__, _parts(second)
    seen = []
    x.register_hook(lambda g: seen.append(type(g).__name__))
    x.grad = None
    (x * x).sum().backward()
    yield "hook", seen, x.is_leaf, x.requires_grad, (x * x).grad_fn.name(), x.exp().grad_fn.name(), x.get_data().grad_fn.name(), x.detach().requires_grad
    data = torch.arange(6.0).reshape(2, 3).requires_grad_(True)
    made = torch.masked.as_masked_tensor(data, x.get_mask())
    (made * made).sum().backward()
    yield "through", made.requires_grad, made.is_leaf, made.grad_fn.name(), data.grad.to_tensor(0.0) if hasattr(data.grad, "to_tensor") else data.grad
    weight = torch.ones(3, requires_grad=True)
    (x * weight).sum().backward()
    yield "weight", weight.grad.to_tensor(0.0) if hasattr(weight.grad, "to_tensor") else weight.grad
    mask = torch.tensor([True, False, True, False])
    a = torch.masked.masked_tensor(torch.tensor([-10.0, 100.0, -5.0, 3.0]), mask, requires_grad=True)
    b = torch.masked.masked_tensor(torch.ones(4), ~mask, requires_grad=True)
    torch.where(mask, torch.exp(a), b).sum().backward()
    yield "where", _parts(a.grad), _parts(b.grad)


@case("masked_tensors.sparse")
@_quiet
def _(torch):
    masked_tensor = torch.masked.masked_tensor
    x = masked_tensor(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[True, False], [True, True]]), requires_grad=True)
    for name in ("to_sparse", "to_sparse_csr"):
        s = getattr(x, name)()
        yield name, s.shape, str(s.layout), s.is_sparse, s.is_sparse_coo(), s.is_sparse_csr(), _parts(s), repr(s), s.requires_grad, str(s.get_data().layout), str(s.get_mask().layout)
        yield f"{name} computed", _parts(s.exp()), _parts(s + s), _parts(s * 2), _parts(s.to_dense()), str(s.to_dense().layout), str(s.exp().layout)
        yield f"{name} reduced", *(_parts(getattr(s.detach(), f)()) for f in ("sum", "amax", "prod")), _said(lambda s=s: s.sum(0)), _said(lambda s=s: s.is_contiguous())
        x.grad = None
        (s.to_dense() * 3).sum().backward()
        yield f"{name} gradient", _parts(x.grad)
    k = masked_tensor(torch.tensor([[1.0, 0.0], [3.0, 4.0]]).to_sparse(), torch.tensor([[True, False], [True, True]]).to_sparse(), requires_grad=True)
    (k * k).to_dense().sum().backward()
    yield "leaf", _parts(k), _parts(k.grad), str(k.grad.layout)
    yield "places", _said(lambda: masked_tensor(torch.tensor([1.0, 0.0]).to_sparse(), torch.tensor([False, True]).to_sparse())), _said(lambda: k + masked_tensor(
        torch.tensor([[1.0, 0.0], [3.0, 0.0]]).to_sparse(), torch.tensor([[True, False], [True, False]]).to_sparse()))[0]
    made = torch.tensor(k.get_data(), dtype=torch.float64)
    yield "as a tensor", made.to_dense(), str(made.layout), _parts(torch.tensor(k))
    yield "fewer", _parts(masked_tensor(torch.ones(2).to_sparse(), torch.tensor([True, False]).to_sparse())), _parts(masked_tensor(torch.tensor([1.0, 0.0]).to_sparse(), torch.tensor([True, True]).to_sparse()))
