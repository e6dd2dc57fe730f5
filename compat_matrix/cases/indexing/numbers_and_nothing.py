"""Numbers that are assigned are looked at before the index; indices that read nothing are not looked at."""

from compat_matrix.case import attempt, case

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64")
NUMBERS = {"1j": 1j, "1+0j": 1 + 0j, "nan": float("nan"), "inf": float("inf"), "300": 300, "-1": -1, "2.5": 2.5, "2**70": 2 ** 70, "True": True}


def _assign(t, index, value):
    t[index] = value
    return t


for name in DTYPES:
    @case(f"indexing.numbers assigned.{name}")
    def _(torch, name=name):
        dtype = getattr(torch, name)
        for shown, value in NUMBERS.items():
            for index in (0, slice(None), None, Ellipsis, [0], 7, False, True, ([0, 2],), torch.tensor([True, False, True]), slice(0, 0), torch.tensor([], dtype=torch.long)):
                yield f"{shown} {index}", attempt(lambda: _assign(torch.zeros(3, dtype=dtype), index, value))


PLACES = {
    "beyond the first, nothing of the last": (([0, 1], slice(0, 0)), (1, 3)), "beyond, of rows without elements": (([5],), (3, 0)), "of no rows": (([0],), (0, 3)),
    "nothing of no rows": (([],), (0, 3)), "beyond, of columns without rows": ((slice(None), [9]), (0, 3)), "nothing beside something": (([0], []), (2, 0)),
    "no places broadcast": (([7], []), (2, 3)), "far below": (([-9], slice(1, 1)), (3, 3)), "new dim": ((None, [0]), (0,)), "two": (([0, 1], slice(0, 0), [0, 1]), (1, 2, 3)),
}


@case("indexing.nothing read")
def _(torch):
    for name, (index, shape) in PLACES.items():
        for tensors in (False, True):
            at = tuple(torch.tensor(i, dtype=torch.long) if tensors and isinstance(i, list) else i for i in index)
            t = torch.ones(shape, requires_grad=True)
            yield f"{name} {tensors}", attempt(lambda: t[at].shape), attempt(lambda: torch.autograd.grad(t[at].sum(), t)[0].shape)
            yield f"{name} {tensors} written", attempt(lambda: _assign(torch.ones(shape), at, 2.0).shape), attempt(
                lambda: torch.ones(shape).index_put_(tuple(i for i in at if not isinstance(i, slice) and i is not None), torch.tensor(1.0)).shape) if all(
                    not isinstance(i, slice) and i is not None for i in at) and tensors else None


@case("indexing.steps and dots")
def _(torch):
    for shape in ((), (3,), (2, 3)):
        for name, index in {"backwards": slice(None, None, -1), "in place": slice(None, None, 0), "dots, dots, slice": (..., ..., slice(-1, None)),
                            "dots, dots, number": (..., ..., 0), "dots, dots": (..., ...)}.items():
            yield f"{name} {shape}", attempt(lambda: torch.ones(shape)[index]), attempt(lambda: _assign(torch.ones(shape), index, 2.0))
