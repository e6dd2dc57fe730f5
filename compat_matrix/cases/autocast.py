"""torch.autocast on the CPU: which functions cast, the cache, nesting, custom functions; GradScaler."""

from compat_matrix.case import attempt, case, raises, warned

LOWER = ["mm(a, b)", "bmm(c, c)", "addmm(a, a, b)", "baddbmm(c, c, c)", "addbmm(a, c, c)", "matmul(a, b)", "matmul(c, b)", "matmul(a, v)", "matmul(v, a)",
         "matmul(v, v)", "linalg.matmul(a, b)", "linalg.multi_dot([a, b, b])", "linalg.vecdot(a, b)", "chain_matmul(a, b, b)", "inner(a, b)", "tensordot(a, b, 1)",
         "einsum('ij,jk->ik', a, b)", "einsum('ij,ij->', a, b)", "einsum('bij,bjk->bik', c, c)", "linalg.matrix_power(a, 3)", "cov(a)", "corrcoef(a)",
         "conv1d(c, c)", "conv2d(d, d)", "conv3d(e, e)", "conv1d(c, c, v)", "conv_tbc(c, c, v)", "conv1d(c, c, padding='same')", "conv_transpose1d(c, c)",
         "conv_transpose2d(d, d)", "conv_transpose3d(e, e[..., :1])", "prelu(a, v)", "nn.functional.linear(a, b)", "nn.functional.linear(c, b, v)",
         "nn.functional.scaled_dot_product_attention(c, c, c)", "nn.functional.scaled_dot_product_attention(d, d, d, is_causal=True)",
         "nn.functional.affine_grid(c[:, :2], (3, 1, 2, 2))"]
FULL = ["prod(a)", "prod(a, 0)", "trace(a)", "cdist(a, b)", "quantile(a, 0.4)", "nanquantile(a, v.clamp(0.1, 0.9), dim=1)", "view_as_complex(d[..., :1, :2].reshape(9, 2))", "polar(a, b)",
        "linalg.inv(a)", "inverse(a)", "linalg.inv_ex(a)", "linalg.cholesky(a @ a.mT + 3 * i)", "cholesky(a @ a.mT + 3 * i)", "linalg.eigvalsh(a)",
        "linalg.svdvals(a)", "linalg.solve(a, v)", "linalg.qr(a)", "pinverse(a)", "linalg.matrix_rank(a)", "linalg.cond(a)", "linalg.eigvals(a).abs().sum()",
        "linalg.tensorinv(d[:1, :, :, :].expand(3, 3, 3, 3).reshape(9, 9)[:3, :3] + i, ind=1)", "fft.fft(a)", "fft.rfft(a)", "fft.ifft2(a)", "fft.rfftn(a)", "fft.hfft(a)",
        "nn.functional.mse_loss(a, b)", "nn.functional.l1_loss(a, b)", "nn.functional.smooth_l1_loss(a, b)", "nn.functional.huber_loss(a, b)",
        "nn.functional.cross_entropy(a, t)", "nn.functional.cross_entropy(a, b, label_smoothing=0.1)", "nn.functional.nll_loss(a, t)",
        "nn.functional.binary_cross_entropy(a.sigmoid(), b.sigmoid())", "nn.functional.binary_cross_entropy_with_logits(a, b)", "nn.functional.kl_div(a, b.exp())",
        "nn.functional.poisson_nll_loss(a, b)", "nn.functional.hinge_embedding_loss(a, b.sign())", "nn.functional.cosine_embedding_loss(a, b, v.sign())",
        "nn.functional.soft_margin_loss(a, b.sign())", "nn.functional.margin_ranking_loss(a, b, v.sign())", "nn.functional.triplet_margin_loss(a, b, a * 2)",
        "nn.functional.multi_margin_loss(a, t)", "nn.functional.multilabel_margin_loss(a, t.expand(3, 3))",
        "nn.functional.ctc_loss(c.log_softmax(-1), t.clamp(1, 2).expand(3, 3)[:, :1], [3, 3, 3], [1, 1, 1])", "nn.functional.grid_sample(d, d[..., :2])",
        "nn.functional.pad(c, (1, 1), 'reflect')", "nn.functional.pad(d, (1, 1, 1, 1), 'reflect')", "nn.functional.pad(c, (1, 1), 'replicate')",
        "nn.functional.avg_pool3d(e, 2)", "nn.functional.max_pool3d(e, 2)", "nn.functional.adaptive_avg_pool3d(e, 2)", "stft(w, 4, return_complex=True)"]
AS_IS = ["mv(a, v)", "dot(v, v)", "outer(v, v)", "addmv(v, a, v)", "einsum('ij,ij->ij', a, b)", "einsum('ii->i', a)", "kron(a, b)", "softmax(a, -1)", "exp(a)", "norm(a)", "sum(a)",
         "cumprod(a, 0)", "nn.functional.layer_norm(a, (3,))", "nn.functional.gelu(a)", "nn.functional.pad(c, (1, 1), 'circular')", "nn.functional.max_pool2d(d, 2)",
         "nn.functional.cosine_similarity(a, b)", "nn.functional.gaussian_nll_loss(a, b, a.exp())", "matrix_exp(a)", "mm(a, b, out=torch.empty(3, 3, dtype=a.dtype))"]
WIDEST = ["cat([a, b])", "stack([a, b])", "cat([a, t.expand(1, 3)])", "index_copy(a, 0, t[:2], b[:2])", "vstack([a, b])", "hstack([a, b])"]


def tensors(torch, first, second):
    torch.manual_seed(3)
    shapes = {"a": (3, 3), "b": (3, 3), "c": (3, 3, 3), "d": (1, 3, 3, 3), "e": (1, 1, 3, 3, 3), "v": (3,), "w": (16,)}
    out = {k: torch.randn(*s).to(second if k == "b" else first) for k, s in shapes.items()}
    out["d"], out["e"] = out["d"].expand(3, 3, 3, 3), out["e"].clone()
    return {**out, "t": torch.tensor([2, 1, 0]), "i": torch.eye(3).to(first), "torch": torch}


def seen(torch, text, first, second, dtype):
    names = tensors(torch, first, second)
    leaf = names["a"] = names["a"].requires_grad_()
    with torch.autocast("cpu", dtype=dtype):
        out = eval(f"torch.{text}", names)
    one = out[0] if isinstance(out, tuple) else out
    if not one.requires_grad or one.is_complex():
        return out
    return out, torch.autograd.grad(one.double().sum(), leaf, allow_unused=True)


for _part, _texts in (("lower", LOWER), ("full", FULL), ("as_is", AS_IS), ("widest", WIDEST)):
    for _text in _texts:
        @case(f"autocast.{_part}.{_text}", text=_text)
        def _(torch, text):
            yield "float32", attempt(lambda: seen(torch, text, torch.float32, torch.float32, torch.bfloat16))
            yield "float64", attempt(lambda: seen(torch, text, torch.float64, torch.float64, torch.bfloat16))


@case("autocast.lower.given_half")
def _(torch):
    for text in ("mm(a, b)", "bmm(c, c)", "conv1d(c, c)", "einsum('ij,jk->ik', a, b)", "nn.functional.linear(a, b)", "addmm(a, a, b)"):
        yield text, attempt(lambda: seen(torch, text, torch.bfloat16, torch.float32, torch.bfloat16)), attempt(
            lambda: seen(torch, text, torch.float16, torch.float32, torch.bfloat16)), attempt(lambda: seen(torch, text, torch.float64, torch.float32, torch.bfloat16))


@case("autocast.full.given_half")
def _(torch):
    for text in ("prod(a)", "linalg.inv(a)", "nn.functional.mse_loss(a, b)", "nn.functional.cross_entropy(a, t)", "cdist(a, b)", "fft.fft(a)"):
        yield text, attempt(lambda: seen(torch, text, torch.bfloat16, torch.float32, torch.bfloat16)), attempt(
            lambda: seen(torch, text, torch.bfloat16, torch.bfloat16, torch.bfloat16))


@case("autocast.widest.given_half")
def _(torch):
    for text in WIDEST:
        yield text, [attempt(lambda: seen(torch, text, first, second, torch.bfloat16)) for first, second in (
            (torch.bfloat16, torch.float32), (torch.bfloat16, torch.bfloat16), (torch.float16, torch.bfloat16), (torch.float64, torch.bfloat16))]


@case("autocast.half")
def _(torch):
    for text in ("mm(a, b)", "matmul(c, b)", "nn.functional.linear(a, b)", "prod(a)"):
        yield text, seen(torch, text, torch.float32, torch.float32, torch.float16)


@case("autocast.methods")
def _(torch):
    names = tensors(torch, torch.float32, torch.float32)
    a, b, c = names["a"], names["b"], names["c"]
    with torch.autocast("cpu"):
        yield "spelled", a @ b, a.mm(b), a.matmul(b), c.bmm(c), a.__rmatmul__(b), torch.Tensor.matmul(a, b), a.prod(), a.addmm(a, b), a.inverse()
        x = a.clone()
        x @= b
        yield "in place", x, a.clone().addmm_(a, b)
    yield "after", a @ b, a.mm(b)


@case("autocast.modules")
def _(torch):
    nn = torch.nn
    torch.manual_seed(0)
    x, s = torch.randn(4, 3), torch.randn(5, 2, 4)
    for module, args in ((nn.Linear(3, 2), (x,)), (nn.LayerNorm(3), (x,)), (nn.GRU(4, 3, num_layers=2, bidirectional=True), (s,)), (nn.RNN(4, 3), (s,)),
                         (nn.GRUCell(3, 3), (x, x)), (nn.LSTMCell(3, 3), (x,)), (nn.RNNCell(3, 3), (x, x)), (nn.MultiheadAttention(4, 2), (s, s, s)),
                         (nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (s,)), (nn.LSTM(4, 3, proj_size=2), (s,)), (nn.BatchNorm1d(3), (x,)), (nn.PReLU(), (x,)),
                         (nn.Bilinear(3, 3, 2), (x, x)), (nn.EmbeddingBag(4, 2), (torch.tensor([[1, 2]]),))):
        with torch.autocast("cpu"):
            out = module(*args)
        one = out[0] if isinstance(out, tuple) else out
        one.float().sum().backward()
        yield f"{type(module).__name__} dtypes", [t.dtype for t in (out if isinstance(out, tuple) else (out,)) if isinstance(t, torch.Tensor)]
        yield type(module).__name__, one.bfloat16(), [p.grad.bfloat16() for p in module.parameters()]


@case("autocast.packed")
def _(torch):
    torch.manual_seed(0)
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.randn(4, 3, 2), [4, 2, 1])
    for module in (torch.nn.GRU(2, 3, bidirectional=True), torch.nn.RNN(2, 3)):
        with torch.autocast("cpu"):
            out, h = module(packed)
        yield type(module).__name__, out.data.dtype, h.dtype, out.data.bfloat16(), h.bfloat16()


@case("autocast.cache")
def _(torch):
    torch.manual_seed(0)
    x, w = torch.randn(2, 3), torch.randn(3, 3, requires_grad=True)
    with torch.autocast("cpu"):
        a, b = x @ w, x @ w
        yield "one cast", a.grad_fn.next_functions[1][0] is b.grad_fn.next_functions[1][0], a.grad_fn.next_functions[1][0].name()
        with torch.no_grad():
            w.mul_(2)
        yield "stale", x @ w
        torch.clear_autocast_cache()
        yield "cleared", x @ w
        with torch.autocast("cpu", enabled=False):
            yield "off", x @ w
        with torch.autocast("cpu", dtype=torch.float16):
            yield "another dtype", attempt(lambda: (x @ w).dtype)
    with torch.autocast("cpu", cache_enabled=False):
        a, b = x @ w, x @ w
        yield "without", a.grad_fn.next_functions[1][0] is b.grad_fn.next_functions[1][0], torch.is_autocast_cache_enabled()
        with torch.autocast("cpu"):
            yield "within", torch.is_autocast_cache_enabled()
    yield "after", torch.is_autocast_cache_enabled(), x @ w


@case("autocast.cache.no_grad_first")
def _(torch):
    x, w = torch.ones(2, 3), torch.ones(3, 3, requires_grad=True)
    with torch.autocast("cpu"):
        with torch.no_grad():
            yield "first", (x @ w).requires_grad
        out = x @ w
        with torch.inference_mode():
            yield "inference", (x @ w).requires_grad
    out.sum().backward()
    yield "second", out.requires_grad, w.grad


@case("autocast.cache.what")
def _(torch):
    x, w = torch.ones(2, 3), torch.ones(3, 3, requires_grad=True)
    with torch.autocast("cpu"):
        for name, k in (("view", w[:]), ("product", w * 1), ("transpose", w.t()), ("leaf", w)):
            a, b = x @ k, x @ k
            yield name, a.grad_fn.next_functions[1][0] is b.grad_fn.next_functions[1][0]


@case("autocast.nested")
def _(torch):
    a = torch.ones(2, 2)

    def state():
        return (a @ a).dtype, torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_enabled()

    yield "out", state()
    with torch.autocast("cpu", dtype=torch.float16):
        yield "half", state()
        with torch.autocast("cpu"):
            yield "inherits the dtype", state()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            yield "other", state()
            with torch.autocast("cpu", enabled=False):
                yield "off", state()
            yield "on again", state()
            yield "half again", state()
    yield "out again", state()


@case("autocast.decorator")
def _(torch):
    @torch.autocast("cpu")
    def f(x):
        """Doc."""
        return x @ x

    yield "called", f(torch.ones(2, 2)).dtype, f.__name__, f.__doc__, torch.is_autocast_enabled("cpu")


@case("autocast.raised_within")
def _(torch):
    def f():
        with torch.autocast("cpu"):
            raise ValueError("x")

    yield "error", attempt(f)
    yield "after", torch.is_autocast_enabled("cpu"), (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


@case("autocast.threads")
def _(torch):
    import threading
    out = []
    with torch.autocast("cpu"):
        t = threading.Thread(target=lambda: out.append((torch.is_autocast_enabled("cpu"), (torch.ones(2, 2) @ torch.ones(2, 2)).dtype)))
        t.start()
        t.join()
        yield "here", (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    yield "there", out


@case("autocast.switches")
def _(torch):
    torch.set_autocast_enabled("cpu", True)
    yield "on", (torch.ones(2, 2) @ torch.ones(2, 2)).dtype, torch.is_autocast_enabled("cpu")
    torch.set_autocast_dtype("cpu", torch.float16)
    yield "half", (torch.ones(2, 2) @ torch.ones(2, 2)).dtype, torch.get_autocast_dtype("cpu")
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    torch.set_autocast_enabled("cpu", False)
    yield "off", (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    yield "nesting", torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    yield "older", warned(torch.is_autocast_cpu_enabled), warned(torch.get_autocast_cpu_dtype), warned(lambda: torch.set_autocast_cpu_enabled(False))


@case("autocast.refused")
def _(torch):
    yield "device", raises(lambda: torch.autocast("foo")), raises(lambda: torch.autocast(torch.device("cpu"))), raises(lambda: torch.autocast("meta"))
    yield "dtype", warned(lambda: torch.autocast("cpu", dtype=torch.float32)._enabled), warned(lambda: torch.autocast("cpu", dtype=torch.float64)._enabled)
    yield "asked", raises(lambda: torch.is_autocast_enabled("foo")), raises(lambda: torch.is_autocast_enabled("meta")), raises(lambda: torch.get_autocast_dtype("meta"))
    yield "types", raises(lambda: torch.is_autocast_enabled(torch.device("cpu"))), raises(lambda: torch.amp.custom_fwd(device_type=1))
    yield "available", [torch.amp.is_autocast_available(d) for d in ("cpu", "cuda", "mps", "meta", "xla")]


def function(torch, cast_inputs):
    said = []

    class F(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx, a, b):
            said.append((torch.is_autocast_enabled("cpu"), ctx._dtype, ctx._fwd_used_autocast, a.dtype, b.dtype))
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            said.append((torch.is_autocast_enabled("cpu"), g.dtype))
            return g @ b.t(), a.t() @ g

    return F, said


@case("autocast.custom_function")
def _(torch):
    for cast_inputs in (None, torch.float32, torch.bfloat16):
        torch.manual_seed(0)
        a, b = torch.randn(2, 2).bfloat16().requires_grad_(), torch.randn(2, 2, requires_grad=True)
        f, said = function(torch, cast_inputs)
        with torch.autocast("cpu"):
            out = f.apply(a, b)
        out.float().sum().backward()
        yield f"within {cast_inputs}", out, a.grad, b.grad, said
        f, said = function(torch, cast_inputs)
        c = torch.randn(2, 2, requires_grad=True)
        out = f.apply(c, b)
        with torch.autocast("cpu"):
            out.sum().backward()
        yield f"without {cast_inputs}", out, c.grad, said


@case("autocast.training")
def _(torch):
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3))
    opt = torch.optim.AdamW(model.parameters(), lr=0.01)
    x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
    for _ in range(5):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    yield "dtypes", loss.dtype, model[0].weight.grad.dtype
    yield "loss is near", round(loss.item(), 2)


@case("autocast.backward_within")
def _(torch):
    torch.manual_seed(0)
    x, w = torch.randn(2, 3), torch.randn(3, 3, requires_grad=True)
    with torch.autocast("cpu"):
        (x @ w).pow(2).sum().backward()
    yield "gradient", w.grad


@case("autocast.checkpoint")
def _(torch):
    checkpoint = torch.utils.checkpoint.checkpoint
    torch.manual_seed(0)
    x, w = torch.randn(2, 3), torch.randn(3, 3, requires_grad=True)
    for reentrant in (False, True):
        with torch.autocast("cpu"):
            out = checkpoint(lambda w: x @ w, w, use_reentrant=reentrant)
        w.grad = None
        out.float().sum().backward()
        yield f"reentrant {reentrant}", out, w.grad


@case("autocast.overridden")
def _(torch):
    class T(torch.Tensor):
        pass

    with torch.autocast("cpu"):
        yield "subclass", (torch.ones(2, 2).as_subclass(T) @ torch.ones(2, 2)).dtype, type(torch.ones(2, 2).as_subclass(T) @ torch.ones(2, 2)) is T

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func.__name__, [a.dtype for a in args if isinstance(a, torch.Tensor)]))
            return func(*args, **(kwargs or {}))

    seen, a = [], torch.ones(2, 2)
    with torch.autocast("cpu"), Mode():
        out = torch.mm(a, a), torch.matmul(a, a)
    yield "mode", seen, [x.dtype for x in out]


@case("autocast.scaler")
def _(torch):
    torch.manual_seed(0)
    p = torch.randn(3, requires_grad=True)
    opt = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for k in range(5):
        opt.zero_grad()
        loss = (p * (float("inf") if k == 2 else k + 1)).sum()
        scaler.scale(loss).backward()
        if k % 2:
            scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_([p], 1.0)
        yield f"step {k}", scaler.step(opt), p.detach().clone(), p.grad.clone(), scaler.get_scale()
        scaler.update()
        yield f"updated {k}", scaler.get_scale(), scaler._get_growth_tracker()
    yield "state", scaler.state_dict()
    again = torch.amp.GradScaler("cpu")
    again.load_state_dict(scaler.state_dict())
    yield "again", again.get_scale(), again.state_dict(), again.is_enabled()
    yield "errors", raises(lambda: torch.amp.GradScaler("cpu").step(opt)), raises(lambda: scaler.scale(3)), raises(lambda: torch.amp.GradScaler("cpu", growth_factor=1.0))
