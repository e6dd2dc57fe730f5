"""Sizes whose elements or bytes cannot be counted, sizes that are none, and strides that a wider dtype does not fit."""

from compat_matrix.case import attempt, case

_LARGE = {"empty": lambda torch: torch.empty(2, 4, 2**29, 2**29), "zeros": lambda torch: torch.zeros(2**40, 2**40), "repeat": lambda torch: torch.ones(1).repeat(2**40, 2**40),
          "expand": lambda torch: torch.ones(1).expand(2**40, 2**40), "new_empty": lambda torch: torch.ones(1).new_empty(2**33, 2**33),
          "resize_ bytes": lambda torch: torch.ones(()).resize_([2, 4, 2**29, 2**29]), "resize_ elements": lambda torch: torch.ones(()).resize_([8, 8, 2**29, 2**29]),
          "empty_strided": lambda torch: torch.empty_strided((2, 2**40), (2**40, 2**40))}


@case("sizes_beyond_counting.made")
def _(torch):
    for name, make in _LARGE.items():
        yield name, attempt(lambda make=make: make(torch))
    yield "meta, counted", tuple(torch.empty(2**20, 2**20, 2**20, device="meta").shape)


@case("sizes_beyond_counting.broadcast_shapes")
def _(torch):
    for shapes in ((1.1,), (2, 1.1), ((1.1,),), (None,), (True,), ((True, 2),), (torch.Size([1]), 2), ([1, 2],), (torch.tensor(3),), ((),), ()):
        yield f"{shapes}", attempt(lambda shapes=shapes: torch.broadcast_shapes(*shapes))


@case("sizes_beyond_counting.a wider dtype")
def _(torch):
    for narrow, wide, times in ((torch.uint8, torch.int16, 2), (torch.float32, torch.float64, 2), (torch.int16, torch.int64, 4), (torch.float32, torch.complex64, 2)):
        x = torch.arange(16 * times).reshape(4, 4, times).to(narrow)
        for name, y in (("fitting", x), ("steps of one", x.as_strided((4, 4, times), (times, 1, 1))), ("first dim", x.as_strided((4, 4, times), (1, times, 1))),
                        ("sizes", x[:, :, 1:]), ("starts", x.view(-1)[1:-1])):
            yield f"{narrow}, {wide}, {name}", attempt(lambda y=y, wide=wide: y.view(wide).stride())
