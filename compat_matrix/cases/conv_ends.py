"""Transposed convolutions whose padding leaves nothing: an empty result where oneDNN computes, words about sizes elsewhere."""

from compat_matrix.case import attempt, case

SIZES = {1: ((2, 4, 4), (4, 3, 3), 3), 2: ((2, 4, 5, 4), (4, 3, 3, 3), (2, 3)), 3: ((2, 4, 7, 5, 4), (4, 3, 3, 3, 3), (3, 2, 3))}


def nothing_left(torch, n, dtype, groups, **changed):
    x_size, w_size, padding = SIZES[n]
    dtype = getattr(torch, dtype)
    x = torch.ones(x_size, dtype=dtype, requires_grad=True)
    w = torch.ones(w_size, dtype=dtype, requires_grad=True)
    b = torch.ones(3 * groups, dtype=dtype, requires_grad=True)
    y = getattr(torch.nn.functional, f"conv_transpose{n}d")(x, w, b, **{"padding": padding, "groups": groups, **changed})
    y.sum().backward()
    return tuple(y.shape), y.dtype, x.grad, w.grad, b.grad


def ends(torch, n, dtype):
    for groups in (1, 2):
        yield f"{groups} groups", attempt(lambda groups=groups: nothing_left(torch, n, dtype, groups))
        yield f"{groups} groups, dilated", attempt(lambda groups=groups: nothing_left(torch, n, dtype, groups, dilation=2, padding=4))
        yield f"{groups} groups, less than nothing", attempt(lambda groups=groups: nothing_left(torch, n, dtype, groups, padding=5))


for n in SIZES:
    for dtype in ("float32", "float64", "bfloat16"):
        case(f"conv_ends.transposed.{n}d.{dtype}", n=n, dtype=dtype)(ends)
