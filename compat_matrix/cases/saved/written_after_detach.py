"""What shares the memory of a tensor without its history is saved, and written before anybody looks: the pass is refused, and no writer is named."""

from compat_matrix.case import case


class _Saving:
    """`a * b` by a custom Function that saves b."""

    def __init__(self, torch):
        class Product(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                ctx.save_for_backward(b)
                return a * b

            @staticmethod
            def backward(ctx, g):
                return g * ctx.saved_tensors[0], None

        self.apply = Product.apply


MADE = {"leaf": lambda w: w, "computed": lambda w: w.exp(), "view": lambda w: (w * 1)[:2]}
SHARED = {
    "detach": lambda w: w.detach(), "detach twice": lambda w: w.detach().detach(), "view of detach": lambda w: w.detach().view(-1).view(w.shape),
    "detach of view": lambda w: w[:].detach(), "data": lambda w: w.data, "asked to require grad": lambda w: w.detach().requires_grad_(),
}
WRITES = {"itself": lambda torch, w, d: d.mul_(2), "the tensor": lambda torch, w, d: w.add_(1), "a part": lambda torch, w, d: d[0].zero_(),
          "out=": lambda torch, w, d: torch.exp(torch.zeros(w.shape), out=d), "nothing": lambda torch, w, d: w.add(1)}


def _outcome(torch, made, shared, used, write):
    x, w = torch.full((3, 2), 0.5, requires_grad=True), made(torch.ones(3, 2, requires_grad=True))
    d = shared(w)
    y = used(x[:len(w)] * 1, d)
    with torch.no_grad():
        write(torch, w, d)
    try:
        y.sum().backward()
    except RuntimeError as e:
        return str(e).partition("Hint")[0]
    return x.grad


for _name, _made in MADE.items():
    @case(f"saved.written_after_detach.{_name}")
    def _(torch, made=_made):
        for shared, share in SHARED.items():
            for write, written in WRITES.items():
                if (shared, write) != ("data", "the tensor"):  # read from memory there, which nobody counts
                    yield f"{shared}: {write}", _outcome(torch, made, share, torch.mul, written)
            yield f"{shared}: saved by a Function", _outcome(torch, made, share, _Saving(torch).apply, WRITES["itself"])


@case("saved.written_after_detach.no_grad_view")
def _no_grad_view(torch):
    """A view made under no_grad is a leaf that leads nowhere."""
    for name, make in MADE.items():
        x, w = torch.ones(3, 2, requires_grad=True), make(torch.ones(3, 2, requires_grad=True))
        with torch.no_grad():
            d = w.view(-1)
        y = x.view(-1)[:d.numel()] * d
        with torch.no_grad():
            w.add_(1)
        try:
            y.sum().backward()
            yield name, x.grad
        except RuntimeError as e:
            yield name, type(e).__name__


@case("saved.written_after_detach.written_with_history")
def _written_with_history(torch):
    """Who wrote what is saved itself is named."""
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True).exp()
    d = w.detach()
    y = x * d
    d.mul_(x)
    try:
        y.sum().backward()
        yield "gradient", x.grad
    except RuntimeError as e:
        yield "words", str(e).partition("Hint")[0]
