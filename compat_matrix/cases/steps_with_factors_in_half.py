"""Steps in half precision whose operators have a factor (`add_(x, alpha=...)`): torch's kernel rounds the factor and the sum, and the
product too in what is left over at the end of whole blocks."""

from compat_matrix.case import case

_OPTIONS = {
    "plain": ("SGD", {"lr": 0.1}),
    "momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "dampened": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    "nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "decay": ("SGD", {"lr": 0.1, "weight_decay": 0.07}),
    "rmsprop": ("RMSprop", {"lr": 0.03, "momentum": 0.9}),
    "centered": ("RMSprop", {"lr": 0.03, "momentum": 0.9, "centered": True, "weight_decay": 0.07}),
    "adadelta": ("Adadelta", {"lr": 0.7}),
    "adagrad": ("Adagrad", {"lr": 0.07, "weight_decay": 0.03}),
}


def _stepped(torch, dtype, name, options, n=23):
    p = torch.linspace(-2, 3, n).to(dtype).requires_grad_()
    o = getattr(torch.optim, name)([p], **options)
    for _ in range(4):
        o.zero_grad()
        (p * p * 0.5 + p).sum().backward()
        o.step()
    return p.tolist()


for _name, _given in _OPTIONS.items():
    @case(f"steps_with_factors_in_half.{_name}")
    def _(torch, given=_given):
        for dtype in (torch.float16, torch.bfloat16):
            yield str(dtype), _stepped(torch, dtype, *given)

    @case(f"steps_with_factors_in_half.{_name}_of_sizes")
    def _(torch, given=_given):
        for dtype in (torch.float16, torch.bfloat16):
            for n in (32, 77, 256):
                yield f"{dtype} {n}", _stepped(torch, dtype, *given, n=n)
