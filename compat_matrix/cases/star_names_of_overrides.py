"""What a star import of `torch.overrides` brings along: the functions, not the modes."""

from compat_matrix.case import case


@case("star_names_of_overrides.modes")
def _(torch):
    named = torch.overrides.__all__
    yield "modes", [name for name in ("BaseTorchFunctionMode", "TorchFunctionMode") if name in named]
    yield "still there", [hasattr(torch.overrides, name) for name in ("BaseTorchFunctionMode", "TorchFunctionMode")]
