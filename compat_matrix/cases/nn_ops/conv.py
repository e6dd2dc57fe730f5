"""Convolutions: every rank, plain and transposed, with and without a batch; refusals; types."""

from compat_matrix.case import attempt, case
from compat_matrix.cases.nn_ops import reals
from compat_matrix.probes import fails, probe, table

X1, W1 = reals(2, 4, 6), reals(6, 4, 3)
X2, W2 = reals(2, 4, 5, 4), reals(6, 4, 3, 2)
X3, W3 = reals(1, 2, 3, 4, 3), reals(2, 2, 2, 3, 2)
B = reals(6)

table("nn_ops.conv", probe, [
    ("one", "F.conv1d(x, w, b)", {"x": X1, "w": W1, "b": B}), ("one stride", "F.conv1d(x, w, None, 2, 1)", {"x": X1, "w": W1}),
    ("one unbatched", "F.conv1d(x, w, b, padding=2, dilation=2)", {"x": X1[0], "w": W1, "b": B}),
    ("one same", "F.conv1d(x, w, b, padding='same', dilation=2)", {"x": X1, "w": W1, "b": B}),
    ("one same even", "F.conv1d(x, w[:, :, :2], b, padding='same')", {"x": X1, "w": W1, "b": B}),
    ("one groups", "F.conv1d(x, w[:, :2], b, groups=2)", {"x": X1, "w": W1, "b": B}),
    ("two", "F.conv2d(x, w, b)", {"x": X2, "w": W2, "b": B}), ("two fields", "F.conv2d(x, w, b, (2, 1), (1, 0), (1, 2))", {"x": X2, "w": W2, "b": B}),
    ("two same", "F.conv2d(x, w, padding='same')", {"x": X2, "w": W2}), ("two valid", "F.conv2d(x, w, b, padding='valid', stride=2)", {"x": X2, "w": W2, "b": B}),
    ("two depthwise", "F.conv2d(x, w[:4, :1], b[:4], groups=4)", {"x": X2, "w": W2, "b": B}), ("two unbatched", "torch.conv2d(x, w)", {"x": X2[0], "w": W2}),
    ("two unbatched same", "torch.conv2d(x, w, padding='same')", {"x": X2[0], "w": W2}),
    ("two shared", "F.conv2d(x, x[:, :, :2, :2])", {"x": X2}), ("two pointwise", "F.conv2d(x, w[:, :, :1, :1], b)", {"x": X2, "w": W2, "b": B}),
    ("two empty", "F.conv2d(x[:0], w, b)", {"x": X2, "w": W2, "b": B}),
    ("three", "F.conv3d(x, w, b[:2])", {"x": X3, "w": W3, "b": B}), ("three fields", "F.conv3d(x, w, None, (1, 2, 1), (1, 0, 1))", {"x": X3, "w": W3}),
    ("general", "torch.convolution(x, w, b, [1], [0], [1], False, [0], 1)", {"x": X2, "w": W2, "b": B}),
    ("tbc", "F.conv_tbc(x, w, b[:2], 1)", {"x": reals(4, 2, 3), "w": reals(2, 3, 2), "b": B}),
    ("transposed one", "F.conv_transpose1d(x, w[:4], b[:4])", {"x": X1, "w": W1, "b": B}),
    ("transposed one fields", "F.conv_transpose1d(x, w[:4], None, 2, 1, 1, 1, 2)", {"x": X1, "w": W1}),
    ("transposed groups", "F.conv_transpose1d(x, w[:4], groups=2)", {"x": X1, "w": W1}),
    ("transposed two", "F.conv_transpose2d(x, w[:4], b[:4], stride=2, padding=1, output_padding=1)", {"x": X2, "w": W2, "b": B}),
    ("transposed two unbatched", "F.conv_transpose2d(x, w[:4], stride=(1, 2))", {"x": X2[0], "w": W2}),
    ("transposed three", "F.conv_transpose3d(x, w, dilation=2, stride=2, output_padding=1)", {"x": X3, "w": W3}),
    ("complex", "F.conv1d(x.to(torch.complex128), torch.complex(w, 2 * w - 1), torch.complex(b, b))", {"x": X1, "w": W1, "b": B}),
    ("complex groups", "F.conv1d(torch.complex(x, x.sin()), torch.complex(w, 2 * w - 1)[:, :2], groups=2, padding='same')", {"x": X1, "w": W1}),
    ("complex transposed", "F.conv_transpose2d(torch.complex(x, x.sin()), torch.complex(w, 2 * w - 1)[:4], stride=2)", {"x": X2, "w": W2}),
    ("integers", "F.conv2d(x, w)", {"x": [[[[1, 2, 3], [4, 5, 6]]]], "w": [[[[1, -1]]], [[[2, 3]]]]}),
    ("float32", "F.conv2d(x.float(), w.float(), b.float(), padding=1)", {"order": 0, "x": X2, "w": W2, "b": B}),
    ("half", "F.conv2d(x.half(), w.half(), b.half(), padding=1)", {"order": 0, "x": reals(1, 1, 3, 3), "w": reals(1, 1, 2, 2), "b": [0.5]}),
])

OPERANDS = {"x": X2, "w": W2, "b": B}
table("nn_ops.conv.refused", fails, [(n, e, OPERANDS) for n, e in {
    "same strided": "F.conv2d(x, w, padding='same', stride=2)", "padding word": "F.conv2d(x, w, padding='half')",
    "channels": "F.conv2d(x, w, groups=2)", "groups zero": "F.conv2d(x, w, groups=0)", "groups": "F.conv2d(x, w, groups=4)",
    "stride": "F.conv2d(x, w, stride=0)", "padding": "F.conv2d(x, w, padding=-1)", "dilation": "F.conv2d(x, w, dilation=0)",
    "small": "F.conv2d(x, w, dilation=4)", "rank": "F.conv2d(x[0, 0], w)", "weight rank": "F.conv2d(x, w[0])", "weight rank three": "F.conv3d(x, w)",
    "bias": "F.conv2d(x, w, b[:3])", "bias rank": "F.conv2d(x, w, b[None])", "bias dtype": "F.conv2d(x.float(), w.float(), b)",
    "dtype": "F.conv2d(x.float(), w)", "complex dtype": "F.conv2d(x + 0j, w)", "stride count": "F.conv2d(x, w, stride=(1, 2, 3))",
    "outputs": "F.conv2d(x, w[:0])", "not a tensor": "F.conv2d(1, w)", "bias number": "F.conv2d(x, w, 1)", "missing": "F.conv2d(x)",
    "padding float": "F.conv2d(x, w, padding=1.5)", "transposed channels": "F.conv_transpose2d(x, w)",
    "output padding": "F.conv_transpose2d(x, w[:4], output_padding=1)", "output padding negative": "F.conv_transpose2d(x, w[:4], output_padding=-1)",
    "output padding strided": "F.conv_transpose1d(x[0, :1], w[:1, 0], output_padding=2)",
    "output padding three": "F.conv_transpose3d(x[None], w[None, :2], output_padding=2)",
    "transposed bias": "F.conv_transpose2d(x, w[:4], b)", "transposed groups": "F.conv_transpose2d(x, w[:4], groups=3)",
    "transposed word": "F.conv_transpose2d(x, w[:4], padding='same')", "tbc": "F.conv_tbc(x[0], w[0], b)",
    "tbc bias": "F.conv_tbc(x[0], x[0, :2, :4].transpose(1, 2), b)", "bool": "F.conv2d(x > 0, w > 0)",
}.items()])


@case("nn_ops.conv.saved")
def _(torch):
    F = torch.nn.functional
    for written in ("x", "w", "b"):
        for wanted in ("x", "w", "b"):
            held = {"x": torch.ones(1, 1, 3), "w": torch.ones(1, 1, 2), "b": torch.ones(1)}
            if wanted == written:
                continue
            held[wanted].requires_grad_()
            out = F.conv1d(held["x"], held["w"], held["b"])
            held[written].mul_(2)
            yield f"{written} {wanted}", attempt(lambda out=out, held=held, wanted=wanted: torch.autograd.grad(out.sum(), held[wanted]))


@case("nn_ops.conv.training")
def _(torch):
    F = torch.nn.functional
    torch.manual_seed(0)
    w1, w2 = (torch.randn(*s).mul_(0.3).requires_grad_() for s in ((3, 1, 3, 3), (4, 3 * 4 * 4)))
    x, t = torch.randn(5, 1, 8, 8), torch.tensor([0, 1, 2, 3, 0])
    for k in range(3):
        h = F.max_pool2d(F.relu(F.conv2d(x, w1, padding=1)), 2)
        loss = F.cross_entropy(h.flatten(1) @ w2.t(), t)
        gradients = torch.autograd.grad(loss, [w1, w2])
        with torch.no_grad():
            for w, g in zip((w1, w2), gradients, strict=True):
                w -= 0.1 * g
        yield f"loss {k}", loss.detach()
    yield "weights", w1.detach(), w2.detach()
