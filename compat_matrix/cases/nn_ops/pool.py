"""Pooling: maxima with ties, NaN and infinities, averages, parts, powers, the way back; refusals."""

from compat_matrix.case import case
from compat_matrix.cases.nn_ops import reals
from compat_matrix.probes import fails, probe, table

ONE, TWO, THREE = reals(2, 3, 7), reals(2, 2, 6, 5), reals(1, 2, 4, 5, 4)
INF, NAN = float("inf"), float("nan")
TIES = [[[1.0, 2.0, 2.0, 0.0, 0.0, 0.0], [2.0, 2.0, 1.0, 0.0, 0.0, 0.0], [3.0, 3.0, 3.0, 3.0, -1.0, -1.0]]]
ODD = [[[1.0, NAN, 2.0, NAN, 5.0, -INF], [-INF, -INF, NAN, -INF, -INF, INF], [INF, INF, 3.0, -INF, -INF, -INF]]]

rows = [(f"max one {n}", f"F.max_pool1d(x, {a})", {"x": ONE}) for n, a in {
    "plain": "2", "fields": "3, 2, 1, 2, True, True", "one stride": "3, stride=1, padding=1", "indices": "kernel_size=(3,), return_indices=True",
    "ceil": "2, 3, 0, 1, True"}.items()]
rows += [(f"max two {n}", f"F.max_pool2d(x, {a})", {"x": TWO}) for n, a in {
    "plain": "2", "fields": "(3, 2), (2, 1), (1, 1), (1, 2)", "ceil": "3, 2, 1, ceil_mode=True", "indices": "2, return_indices=True",
    "overlap": "3, 1, return_indices=True", "dilated ceil": "2, 2, 1, 2, True, True", "large": "5, 3, 2"}.items()]
rows += [(f"max three {n}", f"F.max_pool3d(x, {a})", {"x": THREE}) for n, a in {
    "plain": "2", "fields": "(2, 3, 2), 2, 1, 1, True, True", "one stride": "2, 1, return_indices=True"}.items()]
for name, data in {"ties": TIES, "odd": ODD}.items():
    rows += [(f"{name} {n}", e, {"x": data, "order": 1 if name == "odd" else 2}) for n, e in {
        "one": "F.max_pool1d(x, 3, 1, 1, return_indices=True)", "two": "F.max_pool2d(x, 2, 1, 1, return_indices=True)",
        "three": "F.max_pool3d(x[None], (1, 2, 2), 1, return_indices=True)", "adaptive one": "F.adaptive_max_pool1d(x, 4, True)",
        "adaptive two": "F.adaptive_max_pool2d(x, (2, 4), True)", "average": "F.avg_pool2d(x, 2, 1)", "dilated": "F.max_pool2d(x, 2, 1, 1, 2, False, True)",
        "fractional": "F.fractional_max_pool2d(x, 2, (2, 3), return_indices=True, _random_samples=torch.full((1, 1, 2), 0.3).double())"}.items()]
rows += [(f"average {n}", e, {"x": data}) for n, e, data in [
    ("one", "F.avg_pool1d(x, 2)", ONE), ("one fields", "F.avg_pool1d(x, 3, 2, 1, True, False)", ONE), ("one unbatched", "torch.avg_pool1d(x, (3,), (1,))", ONE[0]),
    ("two", "F.avg_pool2d(x, 2)", TWO), ("two fields", "F.avg_pool2d(x, (3, 2), 2, 1, True, False)", TWO), ("two included", "F.avg_pool2d(x, 3, 2, 1, True)", TWO),
    ("two divisor", "F.avg_pool2d(x, 3, 1, 1, divisor_override=-2)", TWO), ("three", "F.avg_pool3d(x, 2)", THREE),
    ("three fields", "F.avg_pool3d(x, (2, 3, 2), 2, 1, True, False)", THREE), ("three divisor", "F.avg_pool3d(x, 2, divisor_override=3)", THREE),
    ("integers", "F.avg_pool1d((x * 10).long(), 3, 2, 1)", ONE), ("float32", "F.avg_pool2d(x.detach().float(), 3, 1, 1)", TWO),
    ("half", "F.avg_pool2d(x.detach().half(), 3, 1, 1)", TWO)]]
rows += [(f"adaptive {n}", e, {"x": data}) for n, e, data in [
    ("average one", "F.adaptive_avg_pool1d(x, 3)", ONE), ("average one unbatched", "torch.adaptive_avg_pool1d(x, (2,))", ONE[0]),
    ("average two", "F.adaptive_avg_pool2d(x, (4, 3))", TWO), ("average two whole", "F.adaptive_avg_pool2d(x, 1)", TWO),
    ("average two none", "F.adaptive_avg_pool2d(x, (None, 2))", TWO), ("average two more", "F.adaptive_avg_pool2d(x, 8)", TWO),
    ("average two empty", "F.adaptive_avg_pool2d(x, (0, 2))", TWO), ("average three", "F.adaptive_avg_pool3d(x, (3, 2, 5))", THREE),
    ("average three whole", "F.adaptive_avg_pool3d(x, (1, 1, 1))", THREE), ("max one", "F.adaptive_max_pool1d(x, 3)", ONE),
    ("max one indices", "torch.adaptive_max_pool1d(x, 2)", ONE), ("max two", "F.adaptive_max_pool2d(x, (4, 3), return_indices=True)", TWO),
    ("max two none", "F.adaptive_max_pool2d(x, (None, 2))", TWO), ("max three", "F.adaptive_max_pool3d(x, (3, 2, 5), True)", THREE)]]
rows += [(f"lp {n}", e, {"x": data}) for n, e, data in [
    ("one", "F.lp_pool1d(x, 2, 2)", ONE), ("one stride", "F.lp_pool1d(x.abs(), 3.0, 3, 1, True)", ONE), ("two", "F.lp_pool2d(x, 2, (2, 3), 1)", TWO),
    ("two odd", "F.lp_pool2d(x, 1, 2)", TWO), ("two inf", "F.lp_pool2d(x, float('inf'), 2)", TWO), ("three", "F.lp_pool3d(x, 2, 2)", THREE),
    ("zeros", "F.lp_pool1d(x * 0, 2, 2)", ONE)]]
rows += [(f"unpool {n}", e, {"x": data}) for n, e, data in [
    ("one", "F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2)", ONE),
    ("one size", "F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2, output_size=(7,))", ONE),
    ("two", "F.max_unpool2d(*F.max_pool2d(x[..., :4], 2, return_indices=True), 2)", TWO),
    ("two twice", "F.max_unpool2d(x[:, :, :2, :2], torch.tensor([[0, 1], [1, 3]]).expand(2, 2, 2, 2), 2)", TWO),
    ("two size", "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=x.size())", TWO),
    ("three", "F.max_unpool3d(*F.max_pool3d(x[..., :4, :], 2, return_indices=True), 2)", THREE)]]
S2, S3 = "torch.tensor([[[0.1, 0.9], [0.5, 0.3]]]).expand(2, 2, 2).double()", "torch.tensor([[[0.1, 0.9, 0.4], [0.5, 0.3, 0.7]]]).double()"
rows += [("fractional two", f"F.fractional_max_pool2d(x, 2, output_size=(3, 2), return_indices=True, _random_samples={S2})", {"x": TWO}),
         ("fractional two ratio", f"F.fractional_max_pool2d(x, (2, 3), output_ratio=(0.6, 0.5), _random_samples={S2})", {"x": TWO}),
         ("fractional three", f"F.fractional_max_pool3d(x, 2, output_size=(2, 3, 2), return_indices=True, _random_samples={S3})", {"x": THREE})]
table("nn_ops.pool", probe, rows)

SCOPE = {"x": TWO, "y": ONE, "z": THREE}
table("nn_ops.pool.refused", fails, [(n, e, SCOPE) for n, e in {
    "max one rank": "F.max_pool1d(y[0, 0], 2)", "max two rank": "F.max_pool2d(x[0, 0], 2)", "max three rank": "F.max_pool3d(z[0, 0], 2)",
    "max one padding": "F.max_pool1d(y, 2, padding=2)", "max two padding": "F.max_pool2d(x, 2, padding=2)", "max two negative": "F.max_pool2d(x, 2, padding=-1)",
    "max three padding": "F.max_pool3d(z, 2, padding=2)", "max two large": "F.max_pool2d(x, 8)", "max one large": "F.max_pool1d(y, 9)",
    "max three large": "F.max_pool3d(z, 8)", "max two zero": "F.max_pool2d(x, 0)", "max two kernel": "F.max_pool2d(x, 0, 1)", "max one zero": "F.max_pool1d(y, 0)",
    "max three zero": "F.max_pool3d(z, 0, 1)", "max two stride": "F.max_pool2d(x, 2, -1)", "max three stride": "F.max_pool3d(z, 2, -1)",
    "max one stride": "F.max_pool1d(y, 2, 0)", "max two dilation": "F.max_pool2d(x, 2, dilation=0)", "max three dilation": "F.max_pool3d(z, 2, dilation=0)",
    "max one dilation": "F.max_pool1d(y, 2, dilation=0)", "max two counts": "F.max_pool2d(x, (1, 2, 3))", "max two stride counts": "F.max_pool2d(x, 2, (1, 2, 3))",
    "max two padding counts": "F.max_pool2d(x, 2, 2, (1, 2, 3))", "max two dilation counts": "F.max_pool2d(x, 2, 2, 0, (1, 2, 3))",
    "max three counts": "F.max_pool3d(z, (1, 2))", "max one counts": "F.max_pool1d(y, (2, 2))", "max two bool": "F.max_pool2d(x > 0, 2)",
    "max one integers": "F.max_pool1d(y.detach().long(), 2)", "max two complex": "F.max_pool2d(x + 0j, 2)", "max two empty": "F.max_pool2d(x[:, :0], 2)",
    "max two missing": "F.max_pool2d(x)", "max two float": "F.max_pool2d(x, 2.5)", "max two number": "F.max_pool2d(1, 2)",
    "average one rank": "F.avg_pool1d(y[0, 0], 2)", "average two rank": "F.avg_pool2d(x[0, 0], 2)", "average three rank": "F.avg_pool3d(z[0, 0], 2)",
    "average divisor": "F.avg_pool2d(x, 2, divisor_override=0)", "average large": "F.avg_pool1d(y, 9)", "average zero": "F.avg_pool2d(x, 0)",
    "average stride": "F.avg_pool2d(x, 2, 0)", "average ints": "F.avg_pool2d(x.int(), 2)", "average complex": "F.avg_pool2d(x + 0j, 2)",
    "average counts": "F.avg_pool2d(x, (2, 2, 2))", "average one counts": "F.avg_pool1d(y, (2, 2))", "adaptive counts": "F.adaptive_avg_pool2d(x, (4,))",
    "adaptive negative": "F.adaptive_avg_pool2d(x, -1)", "adaptive rank": "F.adaptive_avg_pool2d(x[0, 0], 4)", "adaptive one rank": "F.adaptive_avg_pool1d(y[0, 0], 4)",
    "adaptive one counts": "F.adaptive_avg_pool1d(y, (4, 3))", "adaptive three rank": "F.adaptive_avg_pool3d(z[0, 0], (1, 2, 3))",
    "adaptive ints": "F.adaptive_avg_pool2d(x.long(), 4)", "adaptive empty": "F.adaptive_avg_pool2d(x[:, :, :0], 4)",
    "adaptive max rank": "F.adaptive_max_pool2d(x[0, 0], (None, 3))", "adaptive max counts": "F.adaptive_max_pool2d(x, (1, 2, 3))",
    "adaptive max bool": "F.adaptive_max_pool2d(x > 0, 3)", "adaptive max one": "F.adaptive_max_pool1d(y[0, 0], 3)",
    "unpool size": "F.max_unpool2d(x, x.long(), 2, output_size=(30, 7))", "unpool counts": "F.max_unpool2d(x, x.long(), 2, output_size=(9, 7, 1))",
    "unpool index": "F.max_unpool2d(x, x.long() * 0 + 400, 2)", "unpool dtype": "F.max_unpool2d(x, x.int(), 2)", "unpool shape": "F.max_unpool2d(x, x.long()[:1], 2)",
    "unpool rank": "F.max_unpool2d(x[0, 0], x[0, 0].long(), 2)", "unpool three index": "F.max_unpool3d(z, z.long() * 0 + 9000, 2)",
    "unpool three stride": "F.max_unpool3d(z, z.long(), 2, 0)", "fractional nothing": "F.fractional_max_pool2d(x, 2)",
    "fractional large": "F.fractional_max_pool2d(x, 2, output_size=6)", "fractional three large": "F.fractional_max_pool3d(z, 2, output_size=4)",
    "fractional ratio": "F.fractional_max_pool2d(x, 2, output_ratio=0.5)", "fractional kernel": "F.fractional_max_pool2d(x, (2, 2, 2), output_size=3)",
    "fractional samples": "F.fractional_max_pool2d(x, 2, output_size=3, _random_samples=torch.rand(1, 2, 2).double())",
}.items()])


@case("nn_ops.pool.drawn")
def _(torch):
    F = torch.nn.functional
    torch.manual_seed(3)
    x = torch.arange(144.0).view(2, 2, 6, 6).sin()
    yield "two", F.fractional_max_pool2d(x, 2, output_size=(4, 3), return_indices=True)
    yield "unbatched", F.fractional_max_pool2d(torch.arange(72.0).double().view(2, 6, 6).sin(), 2, output_size=(4, 3), return_indices=True)
    yield "three", F.fractional_max_pool3d(x[None], (1, 2, 2), output_ratio=(0.5, 0.5, 0.4))
    yield "next", torch.rand(2)


@case("nn_ops.pool.requires_grad_of_gradients")
def _(torch):
    F = torch.nn.functional
    x = torch.arange(16.0).view(1, 1, 4, 4).requires_grad_()
    for name, f in {"max": lambda x: F.max_pool2d(x, 2), "average": lambda x: F.avg_pool2d(x, 2), "adaptive": lambda x: F.adaptive_max_pool2d(x, 2),
                    "adaptive average": lambda x: F.adaptive_avg_pool2d(x, 3)}.items():
        g, = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        h, = torch.autograd.grad((f(x) ** 2).sum(), x, create_graph=True)
        yield name, g.requires_grad, h.requires_grad, h.grad_fn.name()
