"""Elements of half precision at a threshold that half precision cannot say."""

from compat_matrix.case import case


@case("thresholds_of_halves.equal but for rounding")
def _(torch):
    functional = torch.nn.functional
    for name in ("bfloat16", "float16", "float32"):
        x = torch.tensor([0.1, 0.3, 0.2, 0.7, -0.1, float("nan")], dtype=torch.float64).to(getattr(torch, name))
        for limit in (0.1, 0.3, 0.2, 0.7):
            leaf = x.clone().requires_grad_()
            out = functional.threshold(leaf, limit, 9.1)
            out.sum().backward()
            yield f"{name} {limit}", [out.tolist(), leaf.grad.tolist(), functional.threshold_(x.clone(), limit, 9.1).tolist()]
            yield f"{name} {limit}, others", [functional.hardshrink(x, limit).tolist(), functional.softshrink(x, limit).tolist(), functional.hardtanh(x, -limit, limit).tolist()]
