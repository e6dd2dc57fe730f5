"""Buffers without a shape: what conversions and copies of lazy modules make of them, and in which words they are refused."""

import copy

from compat_matrix.case import case


def words(f):
    try:
        f()
    except (ValueError, RuntimeError) as e:
        return type(e).__name__, str(e).partition(" at 0x")[0]
    return None


@case("lazy_buffers.converted")
def _(torch):
    nn = torch.nn
    for name, x in (("LazyBatchNorm1d", torch.ones(2, 3)), ("LazyBatchNorm2d", torch.ones(2, 3, 1, 1)), ("LazyInstanceNorm1d", torch.ones(2, 3, 4))):
        kind = getattr(nn, name)
        m = kind(track_running_stats=True).double()
        yield name, [type(b).__name__ for b in m.buffers()], [str(b.dtype) for b in m.buffers()]
        yield f"{name} copied", words(lambda m=m: copy.deepcopy(m))
        m.float()
        m(x)
        yield f"{name} used", type(m).__name__, [type(b).__name__ for b in m.buffers()], m.running_mean.dtype, list(m.running_mean.shape)
    p, b = nn.UninitializedParameter(), nn.UninitializedBuffer()
    yield "words", words(lambda: len(p)), words(lambda: p.numel()), words(lambda: b.numel()), words(lambda: p + 1), words(lambda: b.shape)
    yield "to", type(b.to(torch.float64)).__name__, b.to(torch.float64).dtype, b.half().dtype, b.to("meta").device.type


@case("lazy_buffers.timeouts")
def _(torch):
    for workers in (0,):
        loader = torch.utils.data.DataLoader([1, 2], timeout=1, num_workers=workers)
        try:
            yield "iter", list(loader)
        except AssertionError as e:
            yield "refused", str(e)
