"""Rearranging, reducing, repeating, packing and einsum of einops, with gradients; its layers in a network."""

import torch
from einops import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce


def program():
    x = torch.randn(2, 6, 4, 3, dtype=torch.float64, requires_grad=True)
    y = rearrange(x, "b (h p) w c -> b h w (p c)", p=2)
    yield "rearrange", y, torch.autograd.grad(y.pow(2).sum(), x)
    for how in ("mean", "sum", "max", "min", "prod"):
        z = reduce(x, "b (h 2) (w 2) c -> b h w c", how)
        yield how, z, torch.autograd.grad(z.sum(), x)
    yield "logsumexp", reduce(x, "b h w c -> b c", torch.logsumexp)
    r = repeat(x, "b h w c -> (2 b) c h (w k)", k=2)
    yield "repeat", r.shape, torch.autograd.grad((r * r).sum(), x)
    packed, shapes = pack([x, x[:, 0]], "b * c")
    yield "pack", packed, shapes, [t.shape for t in unpack(packed, shapes, "b * c")]
    yield "einsum", einsum(x, x, "b h w c, b h v c -> b w v")
    yield "shapes", parse_shape(x, "b _ w c"), asnumpy(x.detach()[0, 0]), rearrange([x, x], "k b ... -> b k ...").shape
    torch.set_default_dtype(torch.float64)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), Reduce("b c (h 2) (w 2) -> b c h w", "max"), Rearrange("b c h w -> b h (w c)"),
        EinMix("b h d -> b e", "e h d", bias_shape="e", h=3, d=12, e=5)
    )
    out = net(torch.randn(2, 3, 8, 8))
    out.pow(2).sum().backward()
    yield "layers", out, [p.grad for p in net.parameters()], str(net)
