"""Arguments of a kind that a function does not take, or that torch's parser takes though they look wrong: bools among sizes, tensors as numbers."""

import functools

import numpy as np

from compat_matrix.case import case, raises

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
        f = functools.partial(getattr(torch.Tensor, name), x)
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


@case("strange_arguments.after_others")
def _(torch):
    """What a call with whole numbers left behind is not taken for one with floats or bools, which are equal to them as keys."""
    x = torch.arange(24.0).reshape(2, 3, 4)
    for name in ("amax", "sum", "flip", "permute", "squeeze", "logsumexp", "all", "reshape", "view", "repeat", "expand"):
        f = getattr(x, name)
        for k, dims in enumerate([(2, 3, 4), (0, 1, 2), (0, 1, 2.0), (0.0, 1, 2), (False, 1, 2), (0, True, 2), [0, 1, 2], [0, 1.0, 2], (2, 3, 4.0), (True, 3, 8)]):
            yield f"{name} {k}", told(lambda f=f, dims=dims: f(dims))
    for k, dim in enumerate([(1,), (True,), (1.5,), (2**70,), (2, 2**63), 2**64]):
        yield f"fft {k}", told(lambda dim=dim: torch.fft.fftshift(x, dim=dim)), told(lambda dim=dim: torch.fft.fftn(x, dim=dim)), told(
            lambda dim=dim: torch.fft.fftn(x, dim)), told(lambda dim=dim: torch.fft.fft(x, n=dim)), told(lambda dim=dim: torch.amax(x, dim=dim))
    yield "twice", told(lambda: torch.fft.fft(x, dim=1, input=x)), told(lambda: torch.fft.fft(x, 2, dim=1, n=2)), told(lambda: torch.amax(x, (0,), keepdim=True, dim=0))


@case("strange_arguments.handed_on")
def _(torch):
    """Functions in Python that hand their arguments to torch's parser, which refuses them in its own words."""
    f = torch.nn.functional
    x, w, i, m, v = torch.ones(2, 3), torch.ones(5, 3), torch.tensor([1, 2]), torch.zeros(3), torch.ones(3)
    for train in (1, None, torch.tensor(True), "a"):
        for g in (f.dropout, f.alpha_dropout, f.feature_alpha_dropout):
            yield f"{g.__name__} {type(train).__name__}", told(lambda g=g, train=train: g(x, 0.5, train))
    yield "dropout", told(lambda: f.dropout(x, torch.tensor([0.5]))), told(lambda: f.dropout(x, torch.tensor(0.5))), told(lambda: f.dropout3d(x[None, :, :, None], 0.5, 1))
    for kwargs in ({"sparse": 1}, {"sparse": 2.5}, {"max_norm": "a"}, {"padding_idx": 1.0}, {"max_norm": 1, "norm_type": "a"}, {"norm_type": "a"}):
        yield f"embedding {kwargs}", told(lambda kwargs=kwargs: f.embedding(i, w, **kwargs))
    yield "embedding", told(lambda: f.embedding(1, w)), told(lambda: f.embedding(i, w[0], max_norm=1.0)), told(lambda: f.embedding(i, i, max_norm=1.0))
    for kwargs in ({"training": 1}, {"momentum": None}, {"eps": torch.tensor(0.1)}, {"weight": 1.5}, {"bias": [v]}):
        yield f"batch_norm {[*kwargs]}", told(lambda kwargs=kwargs: f.batch_norm(x, m, v, **kwargs)), told(lambda kwargs=kwargs: f.instance_norm(x[None], m[:2], v[:2], **kwargs))
    yield "batch_norm", told(lambda: f.batch_norm(x, 1j, v)), told(lambda: f.batch_norm(x, None, None, training=True))
    for kwargs in ({"stride": 2.0}, {"padding": True}, {"groups": 2**63}, {"stride": (1.5, 2)}, {"stride": (1, 2)}, {"output_padding": (0, 2**63)}, {"stride": None}):
        yield f"conv {kwargs}", told(lambda kwargs=kwargs: f.conv_transpose1d(x[None], torch.ones(2, 1, 1), **kwargs)), told(
            lambda kwargs=kwargs: f.conv_transpose2d(x[None], torch.ones(2, 1, 1, 1), **kwargs))
    for p in (2**63, 2**64, -2**63 - 1, 1j):
        yield f"numbers {p}", told(lambda p=p: torch.norm(x, p)), told(lambda p=p: torch.trapezoid(x, dx=p)), told(lambda p=p: torch.linalg.norm(x, p)), told(
            lambda p=p: torch.linalg.vector_norm(x, p))
    yield "norm", told(lambda: torch.norm(1.5)), told(lambda: torch.norm(x, 2, False)), told(lambda: torch.norm(x, 2, [0, 1.0])), told(lambda: torch.norm(x, float("inf"), True))


@case("strange_arguments.factors")
def _(torch):
    factors, b = torch.tensor([[2.0, 1.0], [0.5, 3.0]]), torch.ones(2, 1)
    for pivots in ([1, 2], [0, 2], [3, 2], [-1, 2], [2, 5]):
        yield f"{pivots}", told(lambda pivots=pivots: torch.linalg.lu_solve(factors, torch.tensor(pivots, dtype=torch.int32), b).clone().tolist() and b)
    yield "bools", told(lambda: torch.linalg.ldl_solve(factors, torch.tensor([True, True]), b))
    yield "lstsq", told(lambda: torch.linalg.lstsq(factors, b, driver="GELS")), told(lambda: torch.linalg.lstsq(factors, b, driver="bogus"))
    yield "rank", [torch.linalg.lstsq(factors, b, rcond, driver=d).rank.item() for rcond in (0.5, 1.0, 2.0) for d in ("gelsd", "gelss")]


@case("strange_arguments.parts_of_networks")
def _(torch):
    """Layers as functions, with windows, shapes, bounds and switches of another kind."""
    f, x, image = torch.nn.functional, torch.ones(2, 3), torch.ones(1, 2, 4, 4)
    for k, size in enumerate([True, (True, 1), 1.5, (2, 2), "a", [2, 2.0], None, (2, 2**63)]):
        yield f"windows {k}", *[told(g) for g in (
            lambda size=size: f.unfold(image, size), lambda size=size: f.unfold(image, 2, padding=size), lambda size=size: f.fold(torch.ones(1, 8, 9), 4, size),
            lambda size=size: f.max_pool2d(image, size), lambda size=size: f.max_pool2d(image, 2, dilation=size), lambda size=size: f.max_pool1d(x, size),
            lambda size=size: f.pad(image, size), lambda size=size: f.layer_norm(image, size), lambda size=size: f.rms_norm(image, size))]
    for name in ("hardtanh", "relu6", "elu", "leaky_relu", "selu", "logsigmoid", "threshold", "rrelu", "layer_norm"):
        g = getattr(f, name)
        yield name, told(lambda g=g: g([1.0])), told(lambda g=g: g(x, bogus=1)), told(lambda g=g: g(x, out=x)), told(lambda g=g: g(x, "a")), told(lambda g=g: g(x, None))
    for k, value in enumerate([torch.tensor([1.0]), torch.tensor(1.0), "a", None, 2**64, True, 0.5]):
        yield f"losses {k}", *[told(g) for g in (
            lambda value=value: f.huber_loss(x, x, delta=value), lambda value=value: f.smooth_l1_loss(x, x, beta=value), lambda value=value: f.kl_div(x, x, log_target=value),
            lambda value=value: f.margin_ranking_loss(x, x, x, margin=value), lambda value=value: f.pad(image, (1, 1), value=value))]
    q = torch.ones(1, 2, 3, 4)
    for kwargs in ({"is_causal": 1}, {"is_causal": torch.tensor(True)}, {"scale": "a"}, {"enable_gqa": 1}, {"attn_mask": 1}, {"bogus": 1}):
        yield f"attention {[*kwargs]} {type([*kwargs.values()][0]).__name__}", told(lambda kwargs=kwargs: f.scaled_dot_product_attention(q, q, q, **kwargs))
    for kwargs in ({"weight": 1}, {"bias": [1]}, {"eps": None}, {"eps": torch.tensor(0.1)}, {"num_groups": 2**63}, {"num_groups": 1.0}):
        yield f"group_norm {kwargs}", told(lambda kwargs=kwargs: f.group_norm(x, **{"num_groups": 1, **kwargs}))
    lengths = [torch.tensor([5]), torch.tensor([2])]
    for k, args in enumerate([({}, *lengths), (torch.tensor([[1, 2]]), *lengths, True), (torch.tensor([[1, 2]]), 5, 2), (torch.tensor([[1, 2]]), *lengths, 0, "sum", 1)]):
        yield f"ctc {k}", told(lambda args=args: f.ctc_loss(torch.zeros(5, 1, 3), *args))


@case("strange_arguments.outputs")
def _(torch):
    y = torch.ones(2, 3)
    calls = {"eq": (y, y), "add": (y, y), "pow": (y, y), "sum": (y, 0), "abs": (y,), "sort": (y,), "max": (y, 0), "clamp": (y, 0), "div": (y, y), "topk": (y, 1)}
    for name, args in calls.items():
        g = getattr(torch, name)
        yield name, *[told(lambda g=g, args=args, out=out: g(*args, out=out)) for out in (1, [y], "a", 1.5, True, ())]
    z = torch.ones(5, 3, dtype=torch.complex64)
    yield "istft", told(lambda: torch.istft(z)), told(lambda: z.istft("a")), told(lambda: torch.istft(z, 8.0)), told(lambda: torch.istft(z, 4, 1, 1, 1))
    yield "einsum", told(lambda: torch.einsum([y, y], "ij")), told(lambda: torch.einsum(1, y)), told(lambda: torch.einsum("ij", 1))
    yield "of rows", told(lambda: y.renorm(2, 1.0, 1)), told(lambda: torch.renorm(y, "a", 0, 1)), told(lambda: torch.tril_indices(3, True)), told(
        lambda: torch.triu_indices(3, 3, dtype=1.0)), told(lambda: torch.triu_indices(3, 2**63))
    yield "masked", told(lambda: torch.masked.amax(y, bogus=1)), told(lambda: torch.masked.softmax(y)), told(lambda: torch.masked.cumsum(y, 0, 1, 2)), told(
        lambda: torch.nn.functional.softmin(y, bogus=1))


@case("strange_arguments.lists_written")
def _(torch):
    """Lists of tensors, refused before any of them is written."""
    a, b = (torch.ones(3), torch.ones(2)), [torch.ones(3), torch.ones(2)]
    yield "kind", type(torch._foreach_add_(a, 1.0)).__name__, type(torch._foreach_add_([*a], 1.0)).__name__
    for k, args in enumerate([(b, 1.0, b), ([b[0], "a"],), ([b[0], None], 2.0), ([1.0, None],), ("a",), (b, None)]):
        for name in ("_foreach_add_", "_foreach_addcmul_", "_foreach_lerp_", "_foreach_sub_", "_foreach_norm", "_foreach_exp_"):
            yield f"{name} {k}", told(lambda name=name, args=args: getattr(torch, name)(a, *args))
    yield "versions", [t._version for t in a], torch.cat(a)


@case("strange_arguments.sizes_that_are_bools")
def _(torch):
    x = torch.ones(1, 1, 4, 4)
    try:
        torch.nn.functional.interpolate(x, True)
    except Exception as e:
        yield "size", type(e).__name__


@case("strange_arguments.no_dim")
def _(torch):
    x = torch.ones(1, 2)
    calls = {"squeeze": lambda: torch.squeeze(x, None), "method": lambda: x.squeeze(None), "by name": lambda: x.squeeze(dim=None), "unbind": lambda: x.unbind(None),
             "in place": lambda: x.squeeze_(dim=None), "unsqueeze": lambda: x.unsqueeze(None), "flip": lambda: x.flip(None), "cat": lambda: torch.cat([x], dim=None)}
    for name, call in calls.items():
        yield name, raises(call)
