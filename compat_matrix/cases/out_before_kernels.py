"""Dtypes of ``out=``: reductions are computed in them, and torch looks at them before it asks for a kernel that is not there."""

from ..case import attempt, case

_X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]


def _told(torch, call, *dtypes):
    outs = [torch.empty(0, dtype=d) for d in dtypes]
    try:
        call(*outs)
    except (RuntimeError, TypeError) as e:
        return type(e).__name__, str(e)
    return outs


@case("out_before_kernels.deviations")
def _(torch):
    for name in ("var", "std", "nanmean"):
        for own in (torch.float16, torch.bfloat16, torch.float64):
            x = torch.tensor(_X, dtype=own)
            for to in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.int64):
                yield f"{name} {own} {to}", _told(torch, lambda o: getattr(torch, name)(x, 1, out=o), to)


@case("out_before_kernels.means")
def _(torch):
    for own in (torch.int64, torch.bool, torch.float16, torch.complex64):
        x = torch.tensor(_X).to(own)
        for to in (torch.float32, torch.int64, torch.bool):
            yield f"mean {own} {to}", _told(torch, lambda o: torch.mean(x, 1, out=o), to)
            yield f"nanmean {own} {to}", _told(torch, lambda o: torch.nanmean(x, 1, out=o), to)


@case("out_before_kernels.no_kernel")
def _(torch):
    calls = {
        "amax": lambda x, o: torch.amax(x, 1, out=o), "argmax": lambda x, o: torch.argmax(x, 1, out=o), "round": lambda x, o: torch.round(x, out=o),
        "abs": lambda x, o: torch.abs(x, out=o), "fmod": lambda x, o: torch.fmod(x, 2, out=o), "softmax": lambda x, o: torch.softmax(x, 1, out=o),
        "mm": lambda x, o: torch.mm(x, x.t(), out=o), "logaddexp": lambda x, o: torch.logaddexp(x, x, out=o), "logcumsumexp": lambda x, o: torch.logcumsumexp(x, 1, out=o),
    }
    for name, f in calls.items():
        for own in (torch.bool, torch.complex64, torch.int64):
            x = torch.tensor(_X).to(own)
            for to in (torch.float32, torch.bool, torch.int32):
                yield f"{name} {own} {to}", _told(torch, lambda o: f(x, o), to) if own is not torch.int64 or name in ("softmax", "logaddexp") else None


@case("out_before_kernels.medians")
def _(torch):
    for own in (torch.float32, torch.float16, torch.int64):
        x = torch.tensor(_X).to(own)
        for values in (torch.float32, torch.int64):
            for indices in (torch.int64, torch.int32, torch.bool):
                yield f"{own} {values} {indices}", _told(torch, lambda v, i: torch.median(x, 1, out=(v, i)), values, indices)


@case("out_before_kernels.given_what_is_no_tensor")
def _(torch):
    x, i = torch.tensor(_X), torch.tensor([1, 2])
    calls = {"eq": (x, 1), "gt": (x, x), "bitwise_and": (i, 1), "bucketize": (x, x[0]), "isin": (x, x), "add": (x, 1), "true_divide": (x, 2), "matmul": (x, x.T),
             "norm": (x,), "range": (0, 3), "tensordot": (x, x), "frobenius_norm": (x, [0, 1]), "nn.functional.linear": (x, x)}
    for path, args in calls.items():
        f = torch
        for name in path.split("."):
            f = getattr(f, name)
        for out in (1, "a", (x.clone(),), [1]):
            try:
                yield f"{path} {type(out).__name__}", type(f(*args, out=out)).__name__
            except (TypeError, RuntimeError) as e:
                yield f"{path} {type(out).__name__}", type(e).__name__


@case("out_before_kernels.given_none")
def _(torch):
    """`out=None` asks for an overload that takes it, as a tensor does."""
    x = torch.tensor(_X)
    for name, args, keywords in (("sum", (), {}), ("sum", (0,), {}), ("prod", (), {}), ("prod", (1,), {}), ("median", (), {}), ("median", (1,), {}),
                                 ("std", (), {"unbiased": False}), ("std", (1, False), {}), ("var_mean", (1,), {}), ("count_nonzero", (), {}), ("isinf", (), {}),
                                 ("max", (), {}), ("all", (), {}), ("mean", (), {}), ("sort", (), {})):
        try:
            yield f"{name} {args} {keywords}", getattr(torch, name)(x, *args, **keywords, out=None)
        except TypeError as e:
            yield f"{name} {args} {keywords}", type(e).__name__
    with torch.autocast("cpu", torch.bfloat16):
        yield "autocast", torch.mm(x, x.T, out=None), torch.prod(x.bfloat16(), 0, out=None)


@case("out_before_kernels.overlapping")
def _(torch):
    """A result that lies partly over what is read is refused."""
    for name in ("addcmul", "addcdiv", "lerp"):
        for i in range(3):
            for o in range(4):
                d = torch.tensor([1.0, 2, 3, 4, 5, 6])
                given = [torch.ones(3), torch.ones(3) * 2, torch.ones(3) * 3]
                given[i] = d[:3]
                try:
                    yield f"{name} {i} {o}", getattr(torch, name)(*given, out=d[o:o + 3])
                except RuntimeError as e:
                    yield f"{name} {i} {o}", str(e)[:60]
    d = torch.arange(6.0)
    yield "number", [attempt(lambda o=o: torch.lerp(d[:3], d[:3], 0.5, out=d[o:o + 3])) for o in (0, 1, 3)]
