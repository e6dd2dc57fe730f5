"""Rows of half precision that are added up: where torch rounds, to the last bit, also in gradients."""

from compat_matrix.case import case

HALVES = ("bfloat16", "float16")
SHAPES = ((60,), (60, 4), (60, 4, 3), (60, 0))


def _bits(torch, x):
    return x.detach().view(torch.int16).tolist()


def _source(torch, name, shape, dim):
    """Numbers whose sum is another one where each addition rounds."""
    x = (torch.randint(1, 512, shape) / 512).to(getattr(torch, name))
    return x.transpose(0, dim) if dim < len(shape) else x


def _rows(torch):
    """(label, dim, index, what is added along it, what it is added to)."""
    for name in HALVES:
        for shape in SHAPES:
            for dim in range(min(len(shape), 2)):
                torch.manual_seed(len(shape))
                source, index = _source(torch, name, shape, dim), torch.randint(0, 3, (60,))
                yield f"{name} {shape} {dim}", dim, index, source, torch.ones(*source.shape[:dim], 3, *source.shape[dim + 1:], dtype=source.dtype)


@case("rows_of_halves.added")
def _(torch):
    for label, dim, index, source, x in _rows(torch):
        for alpha in (1, 1.0, 2, -0.375):
            yield f"{label} {alpha}", _bits(torch, x.index_add(dim, index, source, alpha=alpha))
        yield f"{label} in place", _bits(torch, x.clone().index_add_(dim, index, source))


@case("rows_of_halves.selected")
def _(torch):
    for label, dim, index, g, x in _rows(torch):
        out = x.requires_grad_().index_select(dim, index)
        yield label, [_bits(torch, t) for t in (out, *torch.autograd.grad(out, x, g))]
