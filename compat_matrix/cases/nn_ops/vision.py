"""Resampling by size and by grid, blocks of images, pixels and channels moved; refusals and warnings."""

from compat_matrix.case import case, warned
from compat_matrix.cases.nn_ops import reals
from compat_matrix.probes import fails, probe, table

ONE, TWO, THREE = reals(2, 2, 5), reals(1, 2, 4, 5), reals(1, 1, 3, 4, 2)

rows = []
for data, modes, sizes in ((ONE, ("nearest", "nearest-exact", "linear", "area"), ("3", "8", "scale_factor=2", "scale_factor=1.7")),
                           (TWO, ("nearest", "nearest-exact", "bilinear", "bicubic", "area"), ("(3, 7)", "(8, 4)", "scale_factor=2", "scale_factor=(0.6, 1.7)")),
                           (THREE, ("nearest", "nearest-exact", "trilinear", "area"), ("(2, 7, 3)", "scale_factor=(1.4, 0.5, 2.0)"))):
    for mode in modes:
        rows += [(f"interpolate {mode} {len(data[0][0]) if data is not THREE else 'three'} {size}", f"F.interpolate(x, {size}, mode='{mode}')", {"x": data})
                 for size in sizes]
for mode in ("bilinear", "bicubic"):
    rows += [(f"corners {mode} {size}", f"F.interpolate(x, {size}, mode='{mode}', align_corners=True)", {"x": TWO})
             for size in ("(3, 7)", "(1, 5)", "scale_factor=1.7")]
rows += [("corners linear", "F.interpolate(x, 8, mode='linear', align_corners=True)", {"x": ONE}),
         ("corners trilinear", "F.interpolate(x, (2, 7, 3), mode='trilinear', align_corners=True)", {"x": THREE}),
         ("recomputed", "F.interpolate(x, scale_factor=1.7, mode='bilinear', recompute_scale_factor=True)", {"x": TWO})]
for mode in ("bilinear", "bicubic", "lanczos"):
    rows += [(f"antialias {mode} {size}", f"F.interpolate(x, {size}, mode='{mode}', antialias=True)", {"x": TWO})
             for size in ("(2, 3)", "(7, 2)", "scale_factor=0.6", "(4, 10)")]
rows += [("antialias corners", "F.interpolate(x, (2, 3), mode='bilinear', antialias=True, align_corners=True)", {"x": TWO}),
         ("bytes", "F.interpolate((x.abs() * 20).to(torch.uint8), (3, 7))", {"x": TWO}), ("float32", "F.interpolate(x.detach().float(), (3, 7), mode='bicubic')", {"x": TWO}),
         ("half", "F.interpolate(x.detach().half(), (3, 7), mode='bilinear')", {"x": TWO}), ("odd", "F.interpolate(x, (3, 7), mode='bilinear')",
         {"x": [[[[1.0, float("inf")], [float("nan"), 2.0]]]], "order": 1})]

G2, G3 = reals(1, 3, 2, 2, low=-1.6, high=1.6), reals(1, 2, 2, 3, 3, low=-1.6, high=1.6)
EDGE = [[[[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]], [[-1.5, 0.0], [1.25, -1.0], [0.2, 3.5]]]]
for padding in ("zeros", "border", "reflection"):
    for corners in (True, False):
        rows += [(f"grid {mode} {padding} {corners}", f"F.grid_sample(x, g, '{mode}', '{padding}', {corners})", {"x": TWO, "g": G2})
                 for mode in ("bilinear", "nearest", "bicubic")]
        rows += [(f"grid three {mode} {padding} {corners}", f"F.grid_sample(x, g, '{mode}', '{padding}', {corners})", {"x": THREE, "g": G3})
                 for mode in ("bilinear", "nearest")]
        rows += [(f"grid edge {mode} {padding} {corners}", f"F.grid_sample(x, g, '{mode}', '{padding}', {corners})", {"x": TWO, "g": EDGE})
                 for mode in ("bilinear", "bicubic")]
rows += [("affine two", "F.affine_grid(t, (2, 1, 3, 4), False)", {"t": reals(2, 2, 3)}), ("affine two corners", "F.affine_grid(t, (2, 1, 3, 4), True)", {"t": reals(2, 2, 3)}),
         ("affine three", "F.affine_grid(t, (1, 1, 2, 3, 2), True)", {"t": reals(1, 3, 4)}), ("affine one", "F.affine_grid(t, (2, 1, 1, 4), True)", {"t": reals(2, 2, 3)}),
         ("transformer", "F.grid_sample(x, F.affine_grid(t, (1, 2, 3, 3), False), align_corners=False)", {"x": TWO, "t": reals(1, 2, 3)}),
         ("unfold", "F.unfold(x, 2)", {"x": TWO}), ("unfold fields", "F.unfold(x, (2, 3), (1, 2), (1, 2), (2, 1))", {"x": TWO}), ("unfold one", "F.unfold(x[0], 2)", {"x": TWO}),
         ("unfold empty", "F.unfold(x[:0], 2)", {"x": TWO}), ("fold", "F.fold(x[:, :, 0, :4], (3, 3), 2)", {"x": reals(1, 8, 2, 5)}),
         ("fold of unfold", "F.fold(F.unfold(x, (2, 3), 1, 1, (2, 1)), (4, 5), (2, 3), 1, 1, (2, 1))", {"x": TWO}), ("fold one", "F.fold(x[0, :, 0, :4], (3, 3), 2)", {"x": reals(1, 8, 2, 5)}),
         ("unfold complex", "F.unfold(torch.complex(x, x * 2), 3)", {"x": TWO}),
         ("pixel_shuffle", "F.pixel_shuffle(x, 2)", {"x": reals(1, 8, 2, 5)}), ("pixel_unshuffle", "torch.pixel_unshuffle(x[..., :4], 2)", {"x": TWO}),
         ("channel_shuffle", "F.channel_shuffle(x, 4)", {"x": reals(1, 8, 2, 5)}), ("native_channel_shuffle", "F.native_channel_shuffle(x, 4)", {"x": reals(1, 8, 2, 5)})]
table("nn_ops.vision", probe, rows)

SCOPE = {"x": TWO, "y": ONE, "z": THREE, "g": G2}
table("nn_ops.vision.refused", fails, [(n, e, SCOPE) for n, e in {
    "nothing": "F.interpolate(x)", "both": "F.interpolate(x, 3, 2)", "size": "F.interpolate(x, (3,))", "factor": "F.interpolate(x, scale_factor=(3,))",
    "mode": "F.interpolate(x, (3, 7), mode='foo')", "linear four": "F.interpolate(x, (3, 7), mode='linear')", "bilinear three": "F.interpolate(y, 7, mode='bilinear')",
    "bicubic three": "F.interpolate(y, 7, mode='bicubic')", "rank": "F.interpolate(x[0, 0], 7)", "corners nearest": "F.interpolate(x, 7, align_corners=True)",
    "antialias nearest": "F.interpolate(x, 7, antialias=True)", "antialias linear": "F.interpolate(y, 7, mode='linear', antialias=True)", "zero": "F.interpolate(x, 0)",
    "zero one": "F.interpolate(y, 0)", "zero three": "F.interpolate(z, 0)", "empty": "F.interpolate(x[:, :0], 3)", "long": "F.interpolate(x.long(), 3)",
    "long linear": "F.interpolate(y.long(), 3, mode='linear')", "long bicubic": "F.interpolate(x.long(), 3, mode='bicubic')",
    "lanczos": "F.interpolate(x, 3, mode='lanczos')", "lanczos corners": "F.interpolate(x, 3, mode='lanczos', antialias=True, align_corners=True)",
    "recompute": "F.interpolate(x, 3, recompute_scale_factor=True)", "grid mode": "F.grid_sample(x, g, 'foo')", "grid padding": "F.grid_sample(x, g, padding_mode='foo')",
    "grid batch": "F.grid_sample(x, g[:0], align_corners=False)", "grid last": "F.grid_sample(x, g[..., :1], align_corners=False)",
    "grid type": "F.grid_sample(x, g.float(), align_corners=False)", "grid long": "F.grid_sample(x.long(), g.long(), align_corners=False)",
    "grid empty": "F.grid_sample(x[:, :, :0], g, align_corners=False)", "grid bicubic three": "F.grid_sample(z, z[:, 0, ..., None].expand(1, 3, 4, 2, 3), 'bicubic')",
    "affine rank": "F.affine_grid(x[0], (2, 1, 3))", "affine shape": "F.affine_grid(x[0], (2, 1, 3, 4))", "affine batch": "F.affine_grid(x[0, :, :2, :3], (3, 1, 3, 4))",
    "affine long": "F.affine_grid(x.long(), (2, 1, 3, 4))", "affine zero": "F.affine_grid(x[0, :, :2, :3], (2, 1, 0, 4))",
    "unfold rank": "F.unfold(x[0, 0], 2)", "unfold large": "F.unfold(x, 7)", "unfold kernel": "F.unfold(x, 0)", "unfold stride": "F.unfold(x, 2, stride=0)",
    "unfold dilation": "F.unfold(x, 2, dilation=0)", "unfold padding": "F.unfold(x, 2, padding=-1)", "unfold long": "F.unfold(x.long(), 2)",
    "unfold counts": "F.unfold(x, (1, 2, 3))", "fold blocks": "F.fold(y[:, :1].expand(2, 4, 5), (4, 5), 2)", "fold rank": "F.fold(x, (4, 5), 2)",
    "fold planes": "F.fold(y, (4, 5), 2)", "fold kernel": "F.fold(y, (4, 5), 0)", "shuffle channels": "F.pixel_shuffle(x, 2)", "shuffle rank": "F.pixel_shuffle(x[0, 0], 2)",
    "shuffle factor": "F.pixel_shuffle(x, 0)", "unshuffle width": "F.pixel_unshuffle(x, 2)", "unshuffle factor": "F.pixel_unshuffle(x, 0)",
    "channels": "F.channel_shuffle(x, 3)", "channels zero": "F.channel_shuffle(x, 0)", "channels rank": "F.channel_shuffle(x[0, 0], 2)",
}.items()])


@case("nn_ops.vision.warned")
def _(torch):
    F = torch.nn.functional
    x, t = torch.ones(1, 1, 2, 2), torch.ones(1, 2, 3)
    yield "upsample", warned(lambda: F.upsample(x, 3))
    yield "nearest", warned(lambda: F.upsample_nearest(x, 3))
    yield "bilinear", warned(lambda: F.upsample_bilinear(x, 3))
    yield "grid", warned(lambda: F.grid_sample(x, torch.zeros(1, 2, 2, 2)))
    yield "affine", warned(lambda: F.affine_grid(t, (1, 1, 2, 2)))
    yield "affine one", warned(lambda: F.affine_grid(t, (1, 1, 1, 2), True))
    yield "plain", warned(lambda: F.interpolate(x, scale_factor=2.5, mode="bilinear"))
    yield "values", F.upsample(x, 3), F.upsample_bilinear(torch.arange(4.0).view(1, 1, 2, 2), scale_factor=2)
