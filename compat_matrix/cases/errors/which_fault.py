"""Calls with more than one fault: which one is said, and in what words; arguments of a kind that torch does not take there."""

from compat_matrix.case import attempt, case


def _told(f):
    """The words of a refusal; of a result its type, shape, node and values."""
    def call():
        out = f()
        return [out.dtype, out.shape, type(out.grad_fn).__name__, out.detach()] if hasattr(out, "grad_fn") else out

    return attempt(call)


def _each(torch, texts, **names):
    for text in texts:
        yield text, _told(lambda text=text: eval(text, {"torch": torch, "F": torch.nn.functional, **names}))


def _given(torch):
    x, z = torch.tensor([1.0, 2.0]), torch.zeros(2, 3)
    return {"x": x, "h": x.half(), "i": torch.tensor([1, 2]), "c": torch.tensor([1j, 2]), "b": torch.tensor([True, False]), "z": z,
        "a": torch.arange(6.0).reshape(2, 3),
            "s": torch.tensor(2.0), "w": torch.tensor([3.0, 1.0], requires_grad=True)}


COMPARED = [f"{one}.clone().{name}_({other})" for one in "xhicb" for other in ("x", "h", "i", "c", "b", "0.5", "True",
    "torch.zeros(3, 2, 1)") for name in ("lt", "eq")] + [
    "c.clone().le_(torch.zeros(3))", "torch.fmax(c, torch.zeros(3))", "torch.maximum(c, torch.zeros(3))", "torch.fmin(x, c)",
        "torch.where(i, x, torch.zeros(3))",
    "torch.where(b, x, torch.zeros(3))"]
MASKED = [f"z.masked_{name}({mask}, {value})" for name, value in (("fill", "0"), ("fill_", "0"), ("fill", "torch.ones(2)"), ("scatter", "z"), ("scatter_",
    "z")) for mask in (
    "torch.ones(2, 2).bool()", "torch.ones(4, 2, 3).bool()", "torch.ones(2, 2)", "torch.ones(4, 2, 3)", "torch.ones(2, 3)")] + [
    "z.half().masked_fill(torch.ones(2, 2).long(), 1j)", "z.half().masked_fill(torch.ones(2, 3).bool(), 1j)"]
LISTED = [f"torch.{name}({given})" for name in ("broadcast_tensors", "cartesian_prod", "block_diag", "chain_matmul", "atleast_1d") for given in (
    "[z, z]", "(x, x)", "x, 3", "[]")] + [f"torch.meshgrid({given})" for given in ("x, x.double(), indexing='no'", "x, indexing='no'", "[], indexing='no'",
        "[]", "z, z, indexing='no'")]
SIZED = [f"torch.broadcast_shapes({given})" for given in ("(2,), (2, -1)", "(-1,)", "(2, -1), (2,)", "(2, 3), (2, 4)", "-1, 3", "0, 3")] + [
    "x.new_full([-1], 2)", "x.new_zeros([-1])", "torch.normal(0.0, 1.0, [-1])", "torch.full([-1], 2)", "torch.rand(-1)",
        "torch.normal(0.0, 1.0, [2, -3, -1])", "torch.randint(3, (-1,))",
    "torch.range(2, float('nan'))", "torch.range(3, 1)", "torch.range(1, 3, 0)", "torch.range(None, 2)", "torch.arange(0, float('inf'))"]
NUMBERS = ["torch.addcmul(x, x, x, value=None)", "torch.addcdiv(x, x, x, value=None)", "x.clone().addcmul_(x, x, value=None)", "torch.add(x, x, alpha=None)",
           "torch.sub(x, x, alpha=None)", "x.clone().add_(1, alpha=None)", "torch.rsub(x, 1, alpha=None)", "torch.addmm(z, z, z, beta=None)",
           "torch.index_add(x, 0, i, x, alpha=None)",
           "F.hardtanh(a, 2.0, 0.5)", "F.hardtanh_(a.clone(), 2.0, 0.5)", "F.hardtanh_(a.clone(), 1j)", "F.leaky_relu_(a.clone(), 1j)",
           "F.elu_(a.clone(), 1j)", "F.celu(a, 1j)", "F.rrelu(a, 1j)",
           "c.clone().clamp_()", "c.clamp()", "c.clamp(min=1)", "a.clamp()", "torch.renorm(a, -1, 0, -1.0)", "torch.renorm(a, 2, 0, -1.0)",
           "torch.renorm(a[0], -1, 0, -1.0)",
           "F.cosine_similarity(a, a, eps=-1.0)", "torch.Generator(seed=2)"]
PRODUCTS = ["torch.inner(a, a.T)", "torch.inner(a, a.double())", "torch.inner(a, a.T.double())", "torch.addmm(torch.zeros(2, 2).double(), a, a)",
    "torch.addmm(z, a, a.T.double())",
            "F.linear(a, a.T, torch.ones(2).double())", "F.linear(a[0], torch.ones(3))", "F.linear(a[0], torch.ones(3), torch.ones(2))",
            "F.linear(a, torch.ones(3), s)",
            "F.linear(s, torch.ones(2, 2, 3))", "torch.linalg.vecdot(h, x)", "torch.linalg.vecdot(h.bfloat16(), x)", "torch.linalg.eigvals(a)",
            "torch.linalg.eigvals(a.clone().requires_grad_())",
            *(f"torch.tensordot(a, a.T, {dims})" for dims in ("[1, 0]", "[1]", "[[1], [0]]", "(1, 0)", "-1", "7", "'x'", "None", "1.0", "[[1, 1], [0, 0]]"))]
LAYERS = ["F.rms_norm(a, [1, 2, 3])", "F.rms_norm(a, [1, 2, 3], torch.ones(3))", "F.rms_norm(a, [2])",
    "torch.instance_norm(a[0], None, None, None, None, True, 0.1, 1e-5, False)",
          "torch.group_norm(a[0], 1)", "F.group_norm(torch.ones(1, 2, 3, 3), 2, bias=torch.ones(3))", "F.scaled_dot_product_attention(a, a, a, 0.5)",
          "F.nll_loss(a, i, 5)", "F.cross_entropy(a, i, 5)", "F.binary_cross_entropy(a / 6, a / 6, 5)", "F.ctc_loss(a, a.long(), [3], [1])[0]",
          "F.conv2d(a, torch.ones(1, 1, 2, 2), torch.ones(1).double())", "F.embedding(b, a)", "F.embedding(c, a)",
          "torch.feature_alpha_dropout(x, 1.0, True)",
          *(f"F.conv2d(torch.ones({n}, 2, 8, 8), torch.ones(4, {2 // g}, {k}, {k}).{kind}(), groups={g})" for n, k, g in ((1, 3, 1), (2, 3, 1), (1, 5, 1),
          (1, 3, 2))
            for kind in ("double", "bfloat16", "cfloat")),
          *(f"F.{name}(torch.ones({shape}), {kernel})" for name, shape in (("max_pool1d", "1, 2, 3"), ("avg_pool2d", "1, 2, 3"), ("avg_pool3d",
          "1, 1, 2, 3"), ("max_pool2d", "1, 2, 3")) for kernel in (
              "[1, 1, 1, 1]", "-1", "1, padding=-1", "1, stride=0", "1, padding=[]"))]
DIMS = [f"torch.fft.{name}({given}).shape" for name in ("fft2", "irfft2", "fftn", "hfftn") for given in ("a, dim=None", "a, None, None", "a, 2",
    "a, 2, (-1,)", "a, (2, 2), (0, 0)")] + [
    "torch.mean(i, 5)", "torch.mean(a, 5)", "torch.cummin(c, 5)", "torch.cummax(c, 0)", "torch.tensor_split(a, a)", "torch.tensor_split(s, a)",
        "torch.tensor_split(s, 2)",
    "torch.tensor_split(a, torch.tensor([[1]]))", "torch.repeat_interleave(a, 2, output_size=1)", "torch.repeat_interleave(a, 2, 0, output_size=5)",
        "torch.repeat_interleave(a, 2, 0, output_size=4)",
    "torch.take_along_dim(a.T, torch.tensor([1]))", "torch.gradient(a, spacing=[a, a])",
        "F.grid_sample(torch.ones(1, 1, 2), torch.ones(1, 2, 1), align_corners=False)",
    "F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 2).double(), align_corners=False)", "torch.linalg.pinv(torch.zeros(2, 0), hermitian=True)"]
PLACES = [f"torch.zeros({own}).{name}(0, torch.zeros({index}, dtype=torch.long), torch.ones({src}){more})" for name, more in (
    ("scatter_add", ""), ("scatter_", ""), ("scatter_reduce", ", 'sum'")) for own, index, src in (
        ("(3, 3)", "(3, 3)", "(1,)"), ("(3, 3)", "(3, 3)", "()"), ("(3, 3)", "(2, 3)", "(3,)"), ("(3, 3)", "(3, 3)", "(1, 1, 1)"),
        ("(2, 3, 3)", "(2, 3, 3)", "(3, 3)"),
        ("(3,)", "(3, 3)", "(3, 3)"), ("(3, 3)", "(0, 3)", "(1,)"), ("(3, 3)", "(3, 3)", "(0,)"), ("(3, 3)", "(4, 3)", "(4, 3)"))]
PADDED = [f"F.pad(torch.ones(1, 2, 3), {pad}, {mode!r}, {value}).shape" for mode in ("constant", "reflect", "circular", "x") for pad in (
    (1,), (1, 1), (1,) * 4, (1,) * 8, (9, 9), (), (-1, -1), (-5, 0)) for value in (None, 1.5)] + ["torch.min(c, c)", "torch.max(c, torch.ones(3))"]
GROUPS = {"places": PLACES, "padded": PADDED,
    "compared in place": COMPARED, "masked": MASKED, "listed": LISTED, "sizes": SIZED, "numbers": NUMBERS, "products": PRODUCTS, "layers": LAYERS,
    "dims": DIMS}

for _name, _texts in GROUPS.items():
    @case(f"errors.which fault.{_name}")
    def _(torch, texts=_texts):
        yield from _each(torch, texts, **_given(torch))


@case("errors.which fault.compared values")
def _(torch):
    kinds = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.uint8]
    for one in kinds:
        for other in kinds:
            x, y = (torch.tensor([1.6, 0.6, 3.0, 1.0], dtype=torch.float64).to(d) for d in (one, other))
            yield f"{one} {other}", [getattr(x.clone(), f"{name}_")(to) for name in ("lt", "le", "gt", "ge", "eq", "ne") for to in (y, y[1], 0.6)]


@case("errors.which fault.padded sequences")
def _(torch):
    pad, real = torch.nn.utils.rnn.pad_sequence, lambda *shape: torch.ones(*shape, requires_grad=True)
    given = {"two": [real(3), real(2)], "left": [real(2, 3), real(1, 3)], "rows differ": [real(2, 3), real(1, 2)], "one row for two": [real(2, 2), real(1,
        1)], "ranks": [real(2, 2), real(3)],
             "no dim": [torch.tensor(1.0)], "first is whole": [torch.ones(2, dtype=torch.long), real(3)], "second is whole": [real(2), torch.ones(3,
             dtype=torch.long)],
             "nothing": [real(0), real(3)], "no tensor": [real(2), 3], "none": []}
    for name, sequences in given.items():
        for first in (False, True):
            yield f"{name} {first}", _told(lambda: pad(sequences, first, 1.5, "left" if name == "left" else "right"))
    rows = given["two"]
    out = pad(rows)
    (out * torch.arange(6.0).reshape(3, 2)).sum().backward()
    yield "gradients", [r.grad for r in rows], out.grad_fn.next_functions[0][0].name(), [f is not None for f, _ in out.grad_fn.next_functions]


@case("errors.which fault.zeros and ones by probabilities")
def _(torch):
    p = torch.tensor([0.0, 1.0, 1.0], requires_grad=True)
    x = torch.full((3,), 5.0)
    y = x.bernoulli_(p)
    y.sum().backward()
    yield "written", y.detach(), type(y.grad_fn).__name__, p.grad
    w = torch.ones(3, requires_grad=True)
    z = (w * 2).bernoulli_(p)
    yield "both", torch.autograd.grad(z.sum(), [w, p]), type(z.grad_fn).__name__
    with torch.no_grad():
        yield "without", torch.full((3,), 5.0).bernoulli_(p).requires_grad


@case("errors.which fault.losses by number")
def _(torch):
    nn, a, t = torch._C._nn, torch.tensor([[0.1, 0.7], [0.6, 0.2]]), torch.tensor([0, 1])
    for name, given in {"mse_loss": (a, a.T), "l1_loss": (a, a.T), "smooth_l1_loss": (a, a.T), "huber_loss": (a, a.T), "soft_margin_loss": (a, a.T),
        "binary_cross_entropy": (a, a.T, None),
                        "nll_loss": (a, t, None), "nll_loss_nd": (a, t, None), "cross_entropy_loss": (a, t, None), "multilabel_margin_loss": (a, t.expand(2,
                        2))}.items():
        for more in ((), (0,), (1,), (2,)):
            yield f"{name} {more}", getattr(nn, name)(*given, *more)
    yield "in place", nn.gelu_(a.clone()), nn.gelu_(a.clone(), approximate="tanh")
    yield "dense", nn.flatten_dense_tensors([a, t.float()]), list(nn.unflatten_dense_tensors(torch.arange(6.0), [a, a[0]]))
