"""Views that as_strided_ makes larger: they show more of the memory behind them."""

from compat_matrix.case import case


@case("views.grown.as_strided_")
def _(torch):
    b = torch.arange(6.0)
    v = b[:2]
    v.as_strided_((4,), (1,), 1)
    yield "shape", tuple(v.shape), v.stride(), v.storage_offset(), v._version, b._version, v._is_view(), v._base is b
    v.mul_(10)
    yield "written", v, b, v._version, b._version
    rows = torch.arange(12.0).reshape(3, 4)
    w = rows[1]
    w.as_strided_((2, 2), (4, 1))
    yield "from its own place", w.detach().clone(), w.storage_offset(), rows[:, 0] + w.sum()
    b.add_(1)
    yield "read again", v
