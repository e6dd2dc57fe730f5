"""Names with an underscore and dropout with its mask: the dtypes that they take and give."""

from compat_matrix.case import attempt, case


@case("internal_dtypes.learned quantization")
def _(torch):
    x = torch.tensor([0.33, 0.71, -3.0])
    for own in (torch.float32, torch.float64, torch.float16):
        for scales in (torch.float32, torch.float64, torch.float16):
            given = x.to(own), torch.tensor([0.1], dtype=scales), torch.tensor([0.0], dtype=scales)
            yield f"{own} {scales} tensor", attempt(lambda: torch._fake_quantize_learnable_per_tensor_affine(*given, -8, 7, 1.0))
    for scales in (torch.float64, torch.float16, torch.int64):
        yield f"{scales} channel", attempt(lambda: torch._fake_quantize_learnable_per_channel_affine(x, torch.ones(3, dtype=scales), torch.zeros(3), 0, -8, 7, 1.0))


@case("internal_dtypes.transforms")
def _(torch):
    for dtype in (torch.float32, torch.float16, torch.int64, torch.bool):
        yield f"{dtype} c2c", attempt(lambda: torch._fft_c2c(torch.ones(4, dtype=dtype), [0], 0, True))
        yield f"{dtype} c2r", attempt(lambda: torch._fft_c2r(torch.ones(4, dtype=dtype), [0], 0, 4))


@case("internal_dtypes.dropout with its mask")
def _(torch):
    for dtype in (torch.complex64, torch.complex128, torch.float16, torch.int64):
        for p, train in ((0.5, True), (1.0, True), (0.0, True), (0.3, False)):
            torch.manual_seed(0)
            yield f"{dtype} {p} {train}", attempt(lambda: torch.native_dropout(torch.ones(5, dtype=dtype), p, train)), torch.rand(1)
    yield "leaf", attempt(lambda: torch.native_dropout(torch.ones(2, dtype=torch.complex64, requires_grad=True), 0.5, True))


@case("internal_dtypes.limits of a byte")
def _(torch):
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"):
        yield name, repr(torch.finfo(getattr(torch, name)))
