"""The gradient of an operand of half precision that is spread: of each element rounded, then added up in float32 and rounded once."""

from compat_matrix.probes import each


def spread(torch, expression):
    for dtype in (torch.bfloat16, torch.float16):
        for n in (5, 40, 700):
            wide = torch.arange(3.0 * n).mul(1.3).cos().to(dtype).reshape(n, 3)
            g = torch.arange(3.0 * n).mul(0.7).add(0.3).cos().to(dtype).reshape(n, 3)
            for shape in ((3,), (n, 1), (1,), ()):
                x = torch.linspace(0.6, 1.4, max(torch.Size(shape).numel(), 1)).to(dtype).reshape(shape).requires_grad_()
                yield f"{dtype} {n} {shape}", torch.autograd.grad(expression(torch, x, wide), x, g)[0]


each("halves_spread.gradient of", spread, {
    "expand": lambda torch, x, wide: x.expand_as(wide),
    "broadcast_tensors": lambda torch, x, wide: torch.broadcast_tensors(x, wide)[0],
    "mul": lambda torch, x, wide: x * wide,
    "mul from the right": lambda torch, x, wide: wide * x,
    "add": lambda torch, x, wide: x + wide,
    "sub": lambda torch, x, wide: wide - x,
    "rsub": lambda torch, x, wide: torch.rsub(wide, x),
    "where": lambda torch, x, wide: torch.where(wide > 0, x, wide),
    "maximum": lambda torch, x, wide: torch.maximum(x, wide),
    "addcmul": lambda torch, x, wide: torch.addcmul(wide, x, wide),
    "clamp": lambda torch, x, wide: torch.clamp(wide, max=x),
    "masked_fill": lambda torch, x, wide: x.masked_fill(wide > 0, 0.0),
    "copysign": lambda torch, x, wide: torch.copysign(x, wide),
    "addmm": lambda torch, x, wide: torch.addmm(x, wide, torch.eye(3, dtype=x.dtype)),
    "repeat": lambda torch, x, wide: x.reshape(1, -1).repeat(wide.shape[0], 3)[:, :3] if x.numel() < 4 else x.expand_as(wide),
})


def sorted_out(torch, expression):
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.arange(300.0).mul(1.3).cos().reshape(3, 100).to(dtype).requires_grad_()
        yield str(dtype), torch.autograd.grad(expression(torch, x), x, torch.arange(300.0).mul(0.7).sin().reshape(3, 100).to(dtype))[0]


each("halves_spread.gradient of the greatest so far", sorted_out, {
    "cummax": lambda torch, x: x.cummax(1)[0],
    "cummin": lambda torch, x: x.cummin(1)[0],
})


def logits(torch, expression):
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.arange(60.0).mul(1.3).cos().mul(3).to(dtype)
        y, p = torch.arange(60.0).mul(0.7).sin().abs().to(dtype), torch.arange(60.0).mul(0.3).cos().add(1.5).to(dtype)
        yield str(dtype), expression(torch.nn.functional.binary_cross_entropy_with_logits, x, y, p)


each("halves_spread.loss of logits", logits, {
    "plain": lambda f, x, y, p: (f(x, y, reduction="none"), f(x, y)),
    "by chance": lambda f, x, y, p: (f(x, y, pos_weight=p, reduction="none"), f(x, y, pos_weight=p, reduction="sum")),
    "by weight": lambda f, x, y, p: f(x, y, p, pos_weight=p, reduction="none"),
})


def products(torch, expression):
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.arange(300.0).mul(1.3).cos().reshape(3, 100).to(dtype).requires_grad_()
        out = expression(torch, x, torch.arange(1.0, 4.0).to(dtype))
        yield str(dtype), out, torch.autograd.grad(out, x, torch.ones_like(out))[0]


each("halves_spread.sums of products", products, {
    "of one alone": lambda torch, x, y: torch.einsum("ij,i->i", x, y),
    "of both alone": lambda torch, x, y: torch.einsum("ij,ik->i", x, x.detach()),
    "of a row": lambda torch, x, y: torch.einsum("ij,k->i", x, y),
    "tensordot": lambda torch, x, y: torch.tensordot(x, y[:, None], ([1], [1])),
    "vecdot": lambda torch, x, y: torch.linalg.vecdot(x, x.detach()),
})
