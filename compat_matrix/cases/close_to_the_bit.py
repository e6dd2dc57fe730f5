"""isclose, allclose and assert_close of integers beyond floats and of halves, make_tensor at the ends of types, batches of sparse tensors."""

from compat_matrix.case import attempt, case, warned

VALUES = {
    "int64": ([0, 5, -7, 2**62, 2**62, 16777217, 100], [0, 6, -7, 2**62 + 1, 2**62 + 2**40, 16777216, 101]),
    "int32": ([0, 2**31 - 1, 16777217, -2**31], [0, -2**31, 16777216, 2**31 - 1]),
    "uint8": ([0, 255, 3], [255, 0, 4]),
    "float16": ([1000.0, 1.0, 60000.0, 2.0], [1001.0, 1.001, -60000.0, 2.002]),
    "bfloat16": ([100.0, 1.0], [101.0, 1.01]),
    "float32": ([1.0, 3e38, 1e-8], [1.00001, -3e38, 2e-8]),
}
TOLERANCES = ((0.0, 0.0), (1e-5, 1e-8), (0.0, 2.0), (0.5, 0.0))


@case("close_to_the_bit.isclose")
def _(torch):
    for name, (a, b) in VALUES.items():
        x, y = (torch.tensor(v, dtype=getattr(torch, name)) for v in (a, b))
        for rtol, atol in TOLERANCES:
            yield f"{name} {rtol} {atol}", torch.isclose(x, y, rtol=rtol, atol=atol), torch.allclose(x, y, rtol=rtol, atol=atol)


@case("close_to_the_bit.assert_close")
def _(torch):
    for name, (a, b) in VALUES.items():
        x, y = (torch.tensor(v, dtype=getattr(torch, name)) for v in (a, b))
        yield name, attempt(lambda: torch.testing.assert_close(x, y)), [attempt(lambda i=i: torch.testing.assert_close(x[i], y[i])) for i in range(len(a))]
        yield f"{name} exact", attempt(lambda: torch.testing.assert_close(x, y, rtol=0, atol=0))


@case("close_to_the_bit.make_tensor")
def _(torch):
    for name, low, high in (("int16", -1e9, 1e9), ("int8", -1000, 1000), ("uint8", 255, 400), ("uint8", 256, 400), ("uint8", -10, -5), ("int64", 0.5, 2.5), ("int64", 1, 1),
                            ("bool", 1, 2), ("bool", 5, 7), ("float16", -1e9, 1e9), ("float32", -1e39, 1e39), ("float16", 7e4, 8e4), ("float32", 2, 1), ("complex64", -1, 1)):
        torch.manual_seed(0)
        yield f"{name} {low} {high}", attempt(lambda: torch.testing.make_tensor((4,), dtype=getattr(torch, name), device="cpu", low=low, high=high))
    for name in ("float32", "complex64"):
        yield f"one bound {name}", warned(lambda: torch.testing.make_tensor((2,), dtype=getattr(torch, name), device="cpu", low=1, high=1))


@case("close_to_the_bit.sparse batches")
def _(torch):
    yield "refused", attempt(lambda: torch.utils.data.default_collate([torch.ones(2).to_sparse()] * 2)), torch.utils.data.default_collate([torch.ones(2)] * 2)
