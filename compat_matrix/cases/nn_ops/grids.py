"""Rounding to a grid and back, with and without gradients of the grid; resampling of uint8 images in fixed point."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import each

FAR = (float("nan"), float("inf"), -float("inf"), 0.25, 0.35, -0.25, 0.05, 0.15, 1e30, -0.85, 0.75, -0.8, 0.7, 0.749, -0.849)


@case("nn_ops.fake_quantize.tensor")
def _(torch):
    for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
        x = torch.tensor(FAR if kind != torch.float16 else [v for v in FAR if v != 1e30], dtype=torch.complex64 if kind == torch.complex64 else torch.float32)
        x = x.nan_to_num(1.0).to(kind) if not kind.is_floating_point and kind != torch.complex64 else x.to(kind)
        for args in ((0.1, 0, -8, 7), (0.1, 1, -8, 7), (0.25, -3, -8, 7), (-0.1, 0, -8, 7), (torch.tensor(0.1), torch.tensor(1), -8, 7),
                     (torch.tensor(0.1), torch.tensor(99), -8, 7), (torch.tensor(0.1), 1, -8, 7), (0.1, 99, -8, 7), (0.1, 0, 7, -8)):
            yield f"{kind} {args}", attempt(lambda x=x, args=args: torch.fake_quantize_per_tensor_affine(x, *args))
    x = torch.tensor(FAR, requires_grad=True)
    out = torch.fake_quantize_per_tensor_affine(x, 0.1, 1, -8, 7)
    g, = torch.autograd.grad(out.sum(), x, create_graph=True)
    yield "gradient", out.grad_fn.name(), out.grad_fn._saved_mask, g, g.requires_grad
    s = torch.tensor(0.1, requires_grad=True)
    yield "refused", [attempt(lambda f=f: f()) for f in (
        lambda: torch.fake_quantize_per_tensor_affine(x, s, torch.tensor(0), -8, 7),
        lambda: torch.fake_quantize_per_tensor_affine(x, torch.tensor([0.1, 0.2]), torch.tensor(0), -8, 7),
        lambda: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -8.0, 7))]


@case("nn_ops.fake_quantize.channels")
def _(torch):
    s, z = torch.tensor([0.1, 0.3]), torch.tensor([0, 2], dtype=torch.int32)
    for kind in (torch.float32, torch.float64, torch.float16):
        x = torch.linspace(-2, 2, 8).reshape(4, 2).to(kind).requires_grad_()
        for label, zeros in (("whole", z), ("float", torch.tensor([0.5, 2.25])), ("far", torch.tensor([0.5, 99.0]))):
            out = torch.fake_quantize_per_channel_affine(x, s, zeros, 1, -8, 7)
            yield f"{kind} {label}", out, out.grad_fn.name(), torch.autograd.grad(out.sum(), x)
    x = torch.tensor(FAR)[:, None].expand(-1, 2)
    yield "far", torch.fake_quantize_per_channel_affine(x, s, z, 1, -8, 7)
    f = torch.fake_quantize_per_channel_affine
    yield "refused", [attempt(lambda a=a: f(*a)) for a in (
        (x, s, z, 0, -8, 7), (x, s, z.long(), 1, -8, 7), (x, s, z + 9, 1, -8, 7), (x, s, z, -1, -8, 7), (x, s, z, 5, -8, 7), (x, s.double(), z, 1, -8, 7),
        (x, s, z, 1, 8, 7), (x, s[None], z, 1, -8, 7), (x, s, z[None], 1, -8, 7), (x, s[:1], z, 1, -8, 7), (x.int(), s, z, 1, -8, 7))]


@case("nn_ops.fake_quantize.learned")
def _(torch):
    values = [-2.0, -0.26, 0.0, 0.24, 0.5, 10.0, 0.65, 0.6, -0.9, -0.95]
    for zero in (1.0, 1.4, 99.0, 1.5, 2.5):
        for factor in (1.0, 0.5):
            x, s, z = (torch.tensor(v, requires_grad=True) for v in (values, [0.1], [zero]))
            out = torch._fake_quantize_learnable_per_tensor_affine(x, s, z, -8, 7, factor)
            grads = torch.autograd.grad((out * torch.arange(1.0, 11)).sum(), (x, s, z), create_graph=True)
            yield f"{zero} {factor}", out, out.grad_fn.name(), grads, attempt(lambda grads=grads, x=x: torch.autograd.grad(grads[0].sum(), x))
    for axis, scale, zero in ((1, [0.1, 0.3], [0.5, 1.0]), (1, [0.1, 0.3], [0.5, 99.0]), (0, [0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 1.0, 2.0, 3.0, -3.0])):
        x, s, z = (torch.tensor(v, requires_grad=True) for v in (values, scale, zero))
        out = torch._fake_quantize_learnable_per_channel_affine(x.reshape(5, 2), s, z, axis, -8, 7, 0.5)
        yield f"{axis} {zero}", out, out.grad_fn.name(), torch.autograd.grad((out * torch.arange(1.0, 11).reshape(5, 2)).sum(), (x, s, z))


def resampled(torch, mode):
    state = 1
    values = []
    for _ in range(63):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        values.append(state >> 16 & 255)
    for shape in ((1, 1, 7, 9), (1, 3, 3, 7)):
        x = torch.tensor(values, dtype=torch.uint8).reshape(shape)
        for size in ((3, 5), (8, 8), (2, 13), (7, 9)):
            for smooth in (False, True):
                yield f"{shape} {size} {smooth}", torch.nn.functional.interpolate(x, size=size, mode=mode, antialias=smooth)
            yield f"{shape} {size} corners", torch.nn.functional.interpolate(x, size=size, mode=mode, align_corners=True)
        yield f"{shape} factor", torch.nn.functional.interpolate(x, scale_factor=1.7, mode=mode)
    yield "half", attempt(lambda: torch.nn.functional.interpolate(torch.ones(1, 1, 4, 4, dtype=torch.float16), size=2, mode=mode, antialias=True))


for _mode in ("bilinear", "bicubic"):
    case(f"nn_ops.bytes.{_mode}", mode=_mode)(resampled)

ONES = "lambda *s: torch.ones(*s, dtype=kind)"
KERNELS = ("F.nll_loss(O(2, 2), t)", "F.nll_loss(O(1, 2, 1, 1), t[:1].reshape(1, 1, 1))", "F.multi_margin_loss(O(1, 2), t[:1])",
           "F.multilabel_margin_loss(O(1, 2), t[None])", "F.ctc_loss(O(2, 1, 2), torch.tensor([[1]]), (2,), (1,))",
           "F.max_unpool1d(O(1, 1, 2), torch.zeros(1, 1, 2, dtype=torch.int64), 2)", "F.gaussian_nll_loss(O(2), O(2), O(2))",
           "F.adaptive_avg_pool3d(O(1, 2, 2, 2), 1)", "F.adaptive_avg_pool3d(O(1, 2, 2, 2), 2)", "F.adaptive_avg_pool2d(O(1, 2, 2), 1)",
           "F.fold(O(1, 4, 1), (2, 2), (2, 2))", "torch.linalg.vander(O(2))", "torch.vander(O(2))", "torch.histc(O(3))", "torch.logdet(O(2, 2))",
           "torch.linalg.solve(O(2, 2), O(2))", "torch.linalg.lu_solve(O(2, 2), torch.tensor([1, 2], dtype=torch.int32), O(2, 1))",
           "F.embedding_bag(t[:1], O(2, 2), t[:1])", "F.rrelu(O(2), training=True)", "torch.baddbmm(O(1, 2, 2), O(1, 2, 2), torch.ones(1, 2, 2))",
           "F.layer_norm(O(2, 2), (2,), torch.ones(2))", "F.group_norm(O(2, 2), 1, torch.ones(2))", "O(2).lerp(O(2), torch.ones(2))",
           "O(2).lerp(torch.ones(2), 0.5)", "F.fractional_max_pool2d(O(1, 1, 4, 4), 2, (2, 2))")


def taken(torch, expression):
    for kind in ("uint8", "int64", "bool", "float16", "bfloat16", "complex64"):
        if kind == "complex64" and "logdet" in expression:
            continue
        names = {"torch": torch, "F": torch.nn.functional, "t": torch.tensor([0, 1])}
        names["O"] = eval(ONES, {"torch": torch, "kind": getattr(torch, kind)})
        torch.manual_seed(0)
        yield kind, attempt(lambda names=names: eval(expression, names))


each("nn_ops.kernels", taken, {e: e for e in KERNELS})
