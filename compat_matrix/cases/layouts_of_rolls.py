"""Where the results of rolls and of places that are not zero lie; tolerances that fit no matrix; a number for every label."""

from ..case import case


def _told(call):
    try:
        return call()
    except (RuntimeError, ValueError, TypeError) as e:
        return type(e).__name__, str(e)


@case("layouts_of_rolls.strides")
def _(torch):
    for name, x in {"one image": torch.arange(24.0).reshape(1, 2, 3, 4), "two": torch.arange(48.0).reshape(2, 2, 3, 4)}.items():
        x = x.to(memory_format=torch.channels_last)
        for shifts, dims in ((1, None), (1, 0), (1, 1), ((1, 1), (0, 1)), (0, 1), (2, 1), (2, -1), ((1,), (-1,))):
            y = x.roll(shifts) if dims is None else x.roll(shifts, dims)
            yield f"{name} {shifts} {dims}", y.stride(), y.sum()
        yield f"{name} centred", torch.fft.fftshift(x).stride(), torch.fft.ifftshift(x, 1).stride()
    for value in (0.0, 1.0):
        yield f"of a number {value}", torch.nonzero(torch.tensor(value)).stride()


@case("layouts_of_rolls.mistakes")
def _(torch):
    a = torch.arange(24.0, dtype=torch.float64).reshape(4, 2, 3)
    for shape in ((2,), (3,)):
        tolerance = torch.full(shape, 0.5, dtype=torch.float64)
        yield f"{shape}", _told(lambda: torch.linalg.matrix_rank(a, tolerance)), _told(lambda: torch.linalg.matrix_rank(a, rtol=tolerance)), \
            _told(lambda: torch.linalg.pinv(a, rtol=tolerance))
    x = torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=torch.float64, requires_grad=True)
    for target in (1, 0.5, torch.ones(2, 2), torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.bool)):
        loss = _told(lambda: torch.nn.functional.multilabel_soft_margin_loss(x, target))
        yield f"{target}", loss, torch.autograd.grad(loss, x) if isinstance(loss, torch.Tensor) else None
