"""Devices that a build for the CPU has not: tensors, generators and modules that ask for them."""

from compat_matrix.case import case, raises

ABSENT = ("cuda", "cuda:1", "mps", "xpu", "mtia", "hpu", "privateuseone", "ipu", "maia", "opengl", "fpga", "vulkan")


@case("absent_devices.tensors")
def _(torch):
    for name in ABSENT:
        yield name, raises(lambda name=name: torch.ones(2).to(name))
    yield "words", raises(lambda: torch.device()), raises(lambda: torch.device(None)), raises(lambda: torch.device("cpu", -1))


@case("absent_devices.modules")
def _(torch):
    for name in ABSENT[:4]:
        yield name, raises(lambda name=name: torch.nn.Linear(2, 2).to(name))


@case("absent_devices.generators")
def _(torch):
    for name in ("cuda", "cuda:1", "meta", "mps", "xpu", "mtia", "hpu", "xla", "vulkan"):
        yield name, raises(lambda name=name: torch.Generator(name))
    yield "host", str(torch.Generator("cpu:3").device), str(torch.Generator(torch.device("cpu")).device), str(torch.Generator(device="cpu").device)
    yield "wrong", raises(lambda: torch.Generator("nothing"))
