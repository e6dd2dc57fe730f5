"""Recurrent layers and cells as functions: directions, layers, packed input, dropout; refusals."""

from compat_matrix.case import attempt, case

MODES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}


def fill(torch, *shape, k=1.0, dtype=None):
    n = torch.Size(shape).numel()
    return (torch.arange(1.0, 1.0 + n, dtype=torch.float64) * k).sin().reshape(shape).to(dtype or torch.float64).requires_grad_()


def weights(torch, mode, size, hidden, k=1.0, bias=True, projected=0, dtype=None):
    """The parameters of one direction of one layer."""
    rows = MODES[mode] * hidden
    made = [fill(torch, rows, size, k=0.3 * k, dtype=dtype), fill(torch, rows, projected or hidden, k=0.7 * k, dtype=dtype)]
    made += [fill(torch, rows, k=0.9 * k, dtype=dtype), fill(torch, rows, k=1.1 * k, dtype=dtype)] if bias else []
    return [w.detach().mul(0.5).requires_grad_() for w in made + ([fill(torch, projected, hidden, k=0.2 * k, dtype=dtype)] if projected else [])]


def look(torch, outs, leaves, second=False):
    """Values, nodes, gradients, and the gradient of the sum of their squares."""
    outs = outs if isinstance(outs, tuple) else (outs,)
    first = torch.autograd.grad(sum((o * o).sum() for o in outs), leaves, create_graph=second)
    seen = [[o.detach() for o in outs], [o.grad_fn.name() for o in outs], [g.detach() for g in first]]
    if second:
        seen.append([g.detach() for g in torch.autograd.grad(sum((g * g).sum() for g in first), leaves)])
    return seen


for mode in MODES:
    @case(f"nn_ops.recurrent.{mode}", mode=mode)
    def _(torch, mode):
        f, x = getattr(torch, mode), fill(torch, 5, 2, 3)
        state = (lambda h: (h, fill(torch, *h.shape[:2], 4, k=0.6))) if mode == "lstm" else (lambda h: h)
        h = fill(torch, 1, 2, 4, k=0.5)
        w = weights(torch, mode, 3, 4)
        yield "plain", look(torch, f(x, state(h), w, True, 1, 0.0, False, False, False), [x, h, *w], True)
        b = fill(torch, 1, 5, 4)
        yield "batch first", look(torch, f(x, state(b), w, True, 1, 0.0, True, False, True), [x, b])
        n = weights(torch, mode, 3, 4, bias=False)
        yield "no biases", look(torch, f(x, state(h), n, False, 1, 0.0, False, False, False), [x, *n])
        deep = w + weights(torch, mode, 3, 4, 2.0) + weights(torch, mode, 8, 4, 3.0) + weights(torch, mode, 8, 4, 4.0)
        four = fill(torch, 4, 2, 4)
        yield "deep", look(torch, f(x, state(four), deep, True, 2, 0.0, False, True, False), [x, four, *deep])
        torch.manual_seed(1)
        two, stacked = fill(torch, 2, 2, 4), w + weights(torch, mode, 4, 4, 3.0)
        yield "dropout", look(torch, f(x, state(two), stacked, True, 2, 0.5, True, False, False), [x, two])
        data, sizes = x.detach().reshape(10, 3)[:7].requires_grad_(), torch.tensor([2, 2, 2, 1])
        yield "packed", look(torch, f(data, sizes, state(h), w, True, 1, 0.0, False, False), [data, h, *w])
        yield "packed both", look(torch, f(data, sizes, state(two), w + weights(torch, mode, 3, 4, 2.0), True, 1, 0.0, False, True), [data, two])
        if mode == "lstm":
            p, start = weights(torch, mode, 3, 4, projected=2), fill(torch, 1, 2, 2)
            yield "projected", look(torch, f(x, state(start), p, True, 1, 0.0, False, False, False), [x, start, *p])

    @case(f"nn_ops.recurrent.{mode}_cell", mode=mode)
    def _(torch, mode):
        f, x, h = getattr(torch, f"{mode}_cell"), fill(torch, 2, 3), fill(torch, 2, 4, k=0.5)
        hx = (h, fill(torch, 2, 4, k=0.6)) if mode == "lstm" else h
        w = weights(torch, mode, 3, 4)
        yield "plain", look(torch, f(x, hx, *w), [x, h, *w], True)
        yield "no biases", look(torch, f(x, hx, *w[:2]), [x, h])


@case("nn_ops.recurrent.refused")
def _(torch):
    x, h, w = fill(torch, 5, 2, 3), fill(torch, 1, 2, 4), weights(torch, "gru", 3, 4)
    rest = True, 1, 0.0, False, False, False
    yield "parameters", attempt(lambda: torch.gru(x, h, w[:3], *rest))
    yield "size", attempt(lambda: torch.gru(x[..., :2], h, w, *rest))
    yield "states", attempt(lambda: torch.lstm(x, (h,), weights(torch, "lstm", 3, 4), *rest))
    yield "layers", attempt(lambda: torch.gru(x, fill(torch, 2, 2, 4), w, *rest))
    yield "types", attempt(lambda: torch.gru(x, h.float(), w, *rest))
    yield "cell size", attempt(lambda: torch.gru_cell(x[0, :, :2], h[0], *w))
    yield "cell hidden", attempt(lambda: torch.gru_cell(x[0], h[0, :, :2], *w))
    yield "cell batch", attempt(lambda: torch.gru_cell(x[0], h[0, :1], *w))
    yield "cell rank", attempt(lambda: torch.gru_cell(x[0, 0], h[0, 0], *w))
    yield "cell states", attempt(lambda: torch.lstm_cell(x[0], (h[0],), *weights(torch, "lstm", 3, 4)))
