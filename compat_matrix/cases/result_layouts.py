"""How results lie in memory: strides as those of the operands make them, what views of them are refused, and the order in which numbers are drawn."""

import copy
import io

from compat_matrix.case import attempt, case


def _given(torch):
    torch.manual_seed(0)
    return {"rows": torch.randn(2, 3, 4), "moved": torch.randn(2, 3, 4).transpose(1, 2), "channels last": torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),
            "turned": torch.randn(4, 3, 5, 6).permute(2, 0, 3, 1), "steps": torch.randn(6, 8, 4)[::2, 1::3].permute(2, 0, 1),
            "repeated": torch.randn(3, 1).expand(3, 4).unsqueeze(0).expand(2, 3, 4).transpose(0, 2), "row": torch.randn(2, 1).t(), "nothing": torch.randn(3, 0, 2).transpose(0, 2)}


def _lie(torch, fn):
    """The strides of the results."""
    def ask():
        out = fn()
        return [t.stride() for t in (out if isinstance(out, (tuple, list)) else (out,))]
    return attempt(ask)


def _asked(torch, calls, given=None):
    for name, fn in calls.items():
        yield name, {kind: _lie(torch, lambda t=t, fn=fn: fn(t)) for kind, t in (given or _given(torch)).items()}


@case("result_layouts.activations")
def _(torch):
    F = torch.nn.functional
    names = ("relu silu mish hardswish hardsigmoid elu leaky_relu hardtanh relu6 selu celu gelu softplus softsign tanhshrink hardshrink softshrink logsigmoid rrelu "
             "normalize instance_norm").split()
    calls = {n: getattr(F, n) for n in names}
    calls |= {n: lambda t, f=getattr(F, n): f(t, -1) for n in ("softmax", "log_softmax", "softmin", "glu")}
    calls |= {"threshold": lambda t: F.threshold(t, 0.0, 1.0), "prelu": lambda t: F.prelu(t, torch.tensor([0.2])), "slopes": lambda t: F.prelu(t, torch.full((t.shape[1],), 0.2)),
              "layer_norm": lambda t: F.layer_norm(t, t.shape[-1:]), "rms_norm": lambda t: F.rms_norm(t, t.shape[-1:]), "group_norm": lambda t: F.group_norm(t, 1),
              "batch_norm": lambda t: F.batch_norm(t, None, None, training=True),
              "evaluated": lambda t: F.batch_norm(t, torch.zeros(t.shape[1]), torch.ones(t.shape[1]))}
    yield from _asked(torch, calls, {kind: t for kind, t in _given(torch).items() if kind != "nothing"})


@case("result_layouts.arithmetic")
def _(torch):
    row = torch.arange(4.0)
    yield from _asked(torch, {
        "number": lambda t: t + 1, "number first": lambda t: 1 - t, "itself": lambda t: t * t, "rows second": lambda t: t * t.contiguous(),
        "rows first": lambda t: t.contiguous() - t, "rsub": lambda t: torch.rsub(t, t.contiguous()), "broadcast": lambda t: t + row[:t.shape[-1]],
        "broadcast first": lambda t: row[:t.shape[-1]] / t, "scalar tensor": lambda t: t * torch.tensor(2.0), "pow": lambda t: t ** 2, "base": lambda t: 2 ** t,
        "negative": lambda t: -t, "abs": abs, "clamp": lambda t: t.clamp(0, 1), "bounds": lambda t: t.clamp(min=torch.zeros(())), "lerp": lambda t: t.lerp(t * 2, 0.5),
        "addcmul": lambda t: torch.addcmul(t, t, t), "where": lambda t: torch.where(t > 0, t, -t), "where number": lambda t: torch.where(t > 0, t, 0.0),
        "masked_fill": lambda t: t.masked_fill(t > 0, 1.0), "compared": lambda t: t > 0, "isnan": torch.isnan, "logical": lambda t: torch.logical_not(t > 0),
        "complex": lambda t: torch.complex(t, t), "imag": lambda t: (t * 1j).imag, "frexp": torch.frexp,
        "cumsum": lambda t: t.cumsum(1), "sum": lambda t: t.sum(1), "max": lambda t: t.max(1) if t.numel() else t, "sort": lambda t: t.sort(1), "argsort": lambda t: t.argsort(0)})


@case("result_layouts.copies")
def _(torch):
    yield from _asked(torch, {
        "double": lambda t: t.to(torch.float64), "half": lambda t: t.half(), "type": lambda t: t.type(torch.int32), "copy": lambda t: t.to(torch.float64, copy=True),
        "rows": lambda t: t.to(torch.float64, memory_format=torch.contiguous_format), "clone": lambda t: t.clone(), "contiguous": lambda t: t.contiguous(),
        **{n: lambda t, f=getattr(torch, n): f(t) for n in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like")},
        "full_like": lambda t: torch.full_like(t, 2.0), "by rows": lambda t: torch.zeros_like(t, memory_format=torch.contiguous_format),
        "randint_like": lambda t: torch.randint_like(t, 5), "bernoulli": lambda t: torch.bernoulli(t.sigmoid())})


@case("result_layouts.rearranged")
def _(torch):
    yield from _asked(torch, {
        "cat": lambda t: torch.cat([t, t], 1), "cat of kinds": lambda t: torch.cat([t, t.contiguous()], 1), "stack": lambda t: torch.stack([t, t], 1),
        "stack first": lambda t: torch.stack([t, t * 2]), "flip": lambda t: t.flip(0), "roll": lambda t: t.roll(1, 0), "tril": lambda t: t.tril(),
        "pad": lambda t: torch.nn.functional.pad(t, (1, 1)), "indexed": lambda t: t[torch.tensor([0, 1])], "second dim": lambda t: t[:, torch.tensor([0])],
        "rows of rows": lambda t: t[torch.tensor([[0, 1], [1, 0]])], "two dims": lambda t: t[torch.tensor([0, 1]), torch.tensor([0, 0])],
        "apart": lambda t: t[torch.tensor([0, 1]), :, torch.tensor([0, 1])], "repeat": lambda t: t.repeat(2, *[1] * (t.dim() - 1)),
        "index_select": lambda t: t.index_select(1, torch.tensor([0])), "rot90": torch.rot90, "half turn": lambda t: torch.rot90(t, 2), "back": lambda t: torch.rot90(t, 3, (1, 2)),
        "index_fill": lambda t: t.index_fill(0, torch.tensor([0]), 1.0), "quantiles": lambda t: torch.quantile(t, torch.tensor([0.1, 0.7]), dim=1)})


def _images(torch, dtype):
    F, torch_last = torch.nn.functional, {4: torch.channels_last, 5: torch.channels_last_3d}
    for rank in (4, 5):
        x = torch.randn(2, 4, *(4,) * (rank - 2), dtype=dtype).to(memory_format=torch_last[rank])
        w, d = torch.randn(5, 4, *(2,) * (rank - 2), dtype=dtype), rank - 2
        conv, back = getattr(F, f"conv{d}d"), getattr(F, f"conv_transpose{d}d")
        yield f"convolutions {d}d", _lie(torch, lambda x=x, w=w, conv=conv, back=back, d=d, rank=rank: (
            conv(x, w), conv(x, w, stride=2, padding=1), conv(x, w, dilation=2), conv(x, w, padding="same"), conv(x, w[:, :1].repeat(4, *(1,) * (d + 1)), groups=4),
            conv(x.contiguous(), w), conv(x.contiguous(), w.to(memory_format=torch_last[rank])), conv(x[:, :1], w[:, :1]), conv(x[0], w), back(x, w.transpose(0, 1))))
        yield f"pools {d}d", {n: _lie(torch, lambda n=n, x=x, d=d: getattr(F, f"{n}{d}d")(x, 2)) for n in ("max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool")}
        modes = ("nearest", "nearest-exact", *(("bilinear", "bicubic") if d == 2 else ("trilinear",)))
        yield f"resized {d}d", {m: _lie(torch, lambda m=m, x=x: F.interpolate(x, scale_factor=2.0, mode=m)) for m in modes}
        yield f"padded {d}d", {m: _lie(torch, lambda m=m, x=x, d=d: F.pad(x, (1, 1) * d, mode=m)) for m in ("constant", "reflect", "replicate", "circular")}
        yield f"normalized {d}d", _lie(torch, lambda x=x: (F.batch_norm(x, None, None, training=True), F.group_norm(x, 2), F.instance_norm(x)))
        yield f"joined {d}d", _lie(torch, lambda x=x: (torch.cat([x] * 2), torch.cat([x] * 5, 1), torch.cat([x, x.contiguous()]), torch.stack([x, x]), F.glu(x, 1), x.chunk(2, 1)[1] * 2))
    x = torch.randn(2, 4, 4, 4, dtype=dtype).to(memory_format=torch.channels_last)
    yield "shuffled", _lie(torch, lambda: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2), F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)))
    line, w = torch.randn(2, 6, 3, dtype=dtype).transpose(1, 2), torch.randn(5, 3, 2, dtype=dtype)
    yield "lines", _lie(torch, lambda: (F.conv1d(line, w), F.conv1d(line, w.transpose(1, 2).contiguous().transpose(1, 2)), F.linear(line.mT, w[0, :, :1].mT)))


@case("result_layouts.images")
def _(torch):
    yield from _images(torch, torch.float32)


@case("result_layouts.images in double precision")
def _(torch):
    yield from _images(torch, torch.float64)


@case("result_layouts.drawn")
def _(torch):
    F, x = torch.nn.functional, torch.arange(24.0).reshape(2, 3, 4)
    made = {"relu": F.relu(x.transpose(1, 2)), "sum": x.transpose(1, 2) + 1, "channels last": torch.ones(1, 2, 2, 3).to(memory_format=torch.channels_last) * 2,
            "indexed": x.transpose(0, 2)[torch.tensor([0, 2])], "inverse": torch.linalg.inv(torch.eye(3) + 1), "compared": (x.permute(2, 0, 1) > 3).float()}
    for name, t in made.items():
        for what, draw in {"dropout": lambda t: F.dropout(t, 0.5), "alpha": lambda t: F.alpha_dropout(t, 0.4, True), "rand_like": torch.rand_like, "normal": torch.randn_like,
                           "bernoulli": lambda t: torch.bernoulli(t.clamp(0, 1) * 0.5), "in place": lambda t: t.clone().uniform_()}.items():
            torch.manual_seed(3)
            yield f"{name}, {what}", draw(t), torch.rand(1)
    torch.manual_seed(3)
    yield "volumes of a row", F.dropout3d(x, 0.5), torch.rand(1)


@case("result_layouts.views of them")
def _(torch):
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    y = torch.relu(x.t())
    yield "lies", y.stride(), y.is_contiguous(), y._is_view(), y.t().is_contiguous()
    yield "view", attempt(lambda: y.view(-1)), y.t().view(-1), y.reshape(-1), y.reshape(-1).grad_fn.name(), y.t().reshape(-1).grad_fn.name(), y.flatten().stride()
    yield "parts", y[1], y[1].stride(), y[:, 1].stride(), y.unsqueeze(0).stride(), y.contiguous() is y, y.t().contiguous().stride(), y.unflatten(0, (2, 2)).stride()
    yield "strided", torch.as_strided(y, (3,), (2,), 1), y.as_strided((2, 2), (1, 3)), attempt(lambda: y.detach().view(torch.int32).stride()), y.storage_offset()
    (y.reshape(-1) * torch.arange(12.0)).sum().backward()
    yield "grad", x.grad, x.grad.stride()
    z = (x.detach().t() * 2)
    z[1] = -1
    z.t()[0, 0] = 7
    z.as_strided((3,), (1,)).mul_(10)
    yield "written", z, z.stride(), z.untyped_storage().nbytes(), list(z.storage()), z._version
    again = torch.load(io.BytesIO(_saved(torch, z)))
    yield "kept", [t.stride() for t in (copy.deepcopy(z), copy.copy(z), z.detach(), z.data, again, torch.nn.Parameter(z), z.cpu(), z.requires_grad_())], again
    yield "numpy", z.detach().numpy().strides, z.detach().numpy()
    w = x.detach().t() + 1j
    yield "complex", torch.view_as_real(w).stride(), w.real.stride(), w.imag, torch.view_as_complex(torch.view_as_real(w)).stride(), w.conj().stride()


def _saved(torch, t):
    file = io.BytesIO()
    torch.save(t, file)
    return file.getvalue()


@case("result_layouts.written into")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    y = x.t().exp()
    yield "twins", y.add_(1).stride(), y.mul_(x.t()).stride(), y.copy_(x.t().contiguous()).stride(), y
    out = torch.empty(0)
    yield "out", torch.add(x.t(), 1, out=out).stride(), torch.add(x.t(), 1, out=torch.empty(3, 2)).stride()
    y = x.t() * 1
    y.resize_(2, 2)
    yield "resized", y, y.stride()
    y = x.t() * 1
    yield "set", y.set_(x.t() * 3), y.stride(), (x.t() * 1).unsqueeze_(0).stride(), (x.t() * 1).t_().stride(), (x.t() * 1).squeeze_().stride()
    base = torch.zeros(3, 2)
    base.data = x.t() * 4
    yield "data", base, base.stride()
    a, b = (x.t() * 1).chunk(2, 1)
    a.mul_(3)
    yield "chunks", a, b, a.stride(), b.storage_offset()


@case("result_layouts.under maps")
def _(torch):
    x = torch.arange(24.0).reshape(2, 3, 4)
    f = torch.func
    yield "grad", f.grad(lambda t: (t.t() * 2).reshape(-1)[1:].sum())(x[0]), attempt(lambda: f.grad(lambda t: (t.t() * 2).view(-1).sum())(x[0]))
    yield "vmap", f.vmap(lambda t: (t.t() * 2).reshape(-1))(x), f.vmap(lambda t: t.t() * 2)(x).shape
    yield "jvp", f.jvp(lambda t: torch.relu(t.t()).flatten(), (x[0],), (x[0],))


@case("result_layouts.copied before groups are normalized")
def _(torch):
    for name, t in _given(torch).items():
        if t.ndim > 2 and t.numel():
            t.requires_grad_()
            out = torch.nn.functional.group_norm(t, 1)
            yield name, out.grad_fn.next_functions[0][0].name(), _lie(torch, lambda t=t: torch.native_group_norm(t, None, None, len(t), t.shape[1], t[0, 0].numel(), 1, 1e-5))
