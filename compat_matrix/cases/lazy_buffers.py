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


@case("lazy_buffers.functions refuse what has no shape")
def _(torch):
    nn, F = torch.nn, torch.nn.functional
    p, b = nn.UninitializedParameter(), nn.UninitializedBuffer()
    for name, f in {
        "sin": lambda t: torch.sin(t), "cat": lambda t: torch.cat([t, t]), "empty_like": lambda t: torch.empty_like(t), "linear": lambda t: F.linear(t, t),
        "numel": lambda t: torch.numel(t), "add": lambda t: torch.add(1, t), "==": lambda t: t == 1, "[0]": lambda t: t[0], "detach": lambda t: t.detach(),
        "hook": lambda t: t.register_hook(print), "layer": lambda t: nn.Linear(2, 2)(t), "bfloat16": lambda t: t.bfloat16(), "sum": lambda t: t.sum(),
    }.items():
        for t in (p, b):
            try:
                yield f"{name} of {type(t).__name__}", type(f(t)).__name__
            except ValueError as e:
                yield f"{name} of {type(t).__name__}", type(e).__name__, "Attempted to use an uninitialized parameter in" in str(e)
    p.materialize(10)
    b.materialize((2, 3))
    yield "sizes", p.shape, b.shape, torch.sin(p).shape, type(p).__name__, type(b).__name__


@case("lazy_buffers.timeouts")
def _(torch):
    for workers in (0,):
        loader = torch.utils.data.DataLoader([1, 2], timeout=1, num_workers=workers)
        try:
            yield "iter", list(loader)
        except AssertionError as e:
            yield "refused", str(e)
