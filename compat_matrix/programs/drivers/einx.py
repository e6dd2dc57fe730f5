"""Operations by named axes, compiled to calls of torch."""

import einx
import torch


def program():
    torch.set_default_dtype(torch.float64)
    x, w = torch.randn(2, 3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)
    yield "turned", einx.id("a b c -> c (a b)", x), einx.id("(a a2) b c -> a b (a2 c)", x, a2=2), einx.id("a b c -> a b 1 c", x)
    yield "joined", einx.id("a b c, a b d -> a b (c + d)", x, x[..., :2]), einx.id("a b (c + d) -> a b c, a b d", x, c=1)
    yield "reduced", einx.sum("a [b] c", x), einx.mean("[a] b [c]", x), einx.max("a b [c]", x), einx.logsumexp("a [b c]", x), einx.var("a [b] c", x)
    product = einx.dot("a b [c], [c] d -> a b d", x, w)
    yield "product", product, torch.autograd.grad(product.square().sum(), (x, w))
    yield "spread", einx.add("a b c, b", x, torch.arange(3.0)), einx.multiply("a b c, a c -> b a c", x, x[:, 0]), einx.where("a b c, a b c, ", x > 0, x, 0.0)
    yield "taken", einx.get_at("a [b] c, a i -> a i c", x, torch.tensor([[0, 2], [1, 1]]))
    yield "softmax", einx.softmax("a b [c]", x), einx.flip("a [b] c", x), einx.roll("a b [c]", x, shift=1), einx.sort("a b [c]", x), einx.argmax("a b [c]", x)
    centred = einx.subtract("a b c, a b", x, einx.mean("a b [c]", x))
    yield "gradient", torch.autograd.grad(einx.sum("[...]", centred.pow(3)), x)
