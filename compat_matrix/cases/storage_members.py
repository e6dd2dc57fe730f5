"""What storages say and give beyond their contents: conversions, places, bytes from buffers and files."""

import os
import tempfile

from compat_matrix.case import attempt, case, raises

WORDS = ("bool", "byte", "char", "short", "int", "long", "half", "float", "double", "bfloat16", "complex_float", "complex_double")


@case("storage_members.converted")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    for word in WORDS:
        made = getattr(x.untyped_storage(), word)()
        yield word, type(made).__name__, made.dtype, list(made)[4:12]
        yield f"typed {word}", getattr(x.storage(), word)().tolist()


@case("storage_members.places")
def _(torch):
    x = torch.arange(6.0)
    u, t = x.untyped_storage(), torch.arange(6.0).storage()
    for name, s in (("untyped", u), ("typed", t)):
        yield name, s.is_hpu, s.get_device(), s.is_shared(), s.is_pinned(), s.resizable(), s.filename, s.share_memory_() is s
        yield f"{name} refused", raises(s.hpu), raises(s.pin_memory), raises(lambda s=s: s.to("cpu"))
    yield "to", u.to(device="cpu") is u, t.to(device="cpu") is t
    yield "type", u.type(), t.type(), raises(u.mps)
    fresh = torch.arange(6.0).storage()
    yield "kept", fresh.resize_(6), len(fresh)


@case("storage_members.turned")
def _(torch):
    x = torch.tensor([1.0, 2.0])
    y = x[1:]
    yield "nothing", x.untyped_storage().byteswap(torch.float32)
    yield "turned", x.view(torch.int32), y.view(torch.int32)
    x.untyped_storage().byteswap(torch.float32)
    yield "back", x, y
    x.untyped_storage().byteswap(torch.int16)
    yield "halves", x.view(torch.int32)


@case("storage_members.buffers")
def _(torch):
    data = b"\x00\x00\x80?\x00\x00\x00@"
    for order in ("little", "big", "native"):
        yield order, torch.FloatStorage.from_buffer(data, byte_order=order).tolist(), torch.ShortStorage.from_buffer(data, order).tolist()
    yield "bytes", list(torch.UntypedStorage.from_buffer(data, byte_order="little", dtype=torch.uint8))
    yield "refused", raises(lambda: torch.FloatStorage.from_buffer(b"abcde", "native"))


@case("storage_members.files")
def _(torch):
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)  # the words of errors name the file
        try:
            torch.arange(1.0, 5.0).numpy().tofile("four.bin")
            yield "tensor", torch.from_file("four.bin", size=4), torch.from_file("four.bin", size=2, dtype=torch.int64), torch.from_file("four.bin")
            yield "asked", torch.from_file("four.bin", False, 3, requires_grad=True), torch.from_file("four.bin", shared=None, size=1, dtype=torch.float64)
            yield "storage", torch.FloatStorage.from_file("four.bin", False, 4).tolist(), list(torch.UntypedStorage.from_file("four.bin", False, 8))
            yield "short", raises(lambda: torch.from_file("four.bin", size=40))
            yield "none", attempt(lambda: torch.from_file("none.bin", size=4)), raises(lambda: torch.FloatStorage.from_file("none.bin", False, 4))
        finally:
            os.chdir(before)


@case("storage_members.events")
def _(torch):
    yield "handle", raises(lambda: torch.Event().ipc_handle())
    yield "from handle", raises(lambda: torch.Event.from_ipc_handle(torch.device("cpu"), b"x"))
