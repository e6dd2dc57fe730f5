"""What storages say and give beyond their contents: conversions, places, bytes from buffers and files."""

import copy
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


def _refused(f):
    try:
        found = f()
    except (NotImplementedError, RuntimeError, TypeError) as refused:
        return type(refused).__name__, str(refused)
    return found


@case("storage_members.with_room_between")
def _(torch):
    """The memory of a tensor whose strides leave room between its elements, or show some of them several times."""
    for size, stride in (((2, 3, 4), (1, 4, 12)), ((10,), (0,)), ((3,), (100,)), ((2, 3), (1, 0))):
        t = torch.empty_strided(size, stride).fill_(2.0)
        yield f"{size} {stride}", (t.untyped_storage().nbytes(), t.storage().size(), t.data_ptr() == t.detach().data_ptr(), t.as_strided((2,), stride[-1:]))
        yield f"{size} {stride} all", _refused(lambda t=t: t.as_strided((t.storage().size() + 1,), (1,)))


@case("storage_members.as_tensors")
def _(torch):
    """A tensor made of a storage shows its memory, as the dtype asked for."""
    for name in ("float32", "int16", "float64"):
        held = torch.ones(3, dtype=getattr(torch, name))
        for storage in (held.storage(), held.untyped_storage()):
            for made in (torch.tensor, torch.as_tensor, torch.asarray):
                for dtype in (None, torch.float32, torch.int16, torch.float64, torch.uint8):
                    yield f"{name} {type(storage).__name__} {made.__name__} {dtype}", _refused(lambda s=storage, m=made, d=dtype: m(s, dtype=d))
    storage = torch.FloatStorage([1, 2, 3])
    torch.tensor(storage)[0] = 9
    torch.as_tensor(storage)[1] = 8
    yield "written", storage.tolist()
    yield "legacy", [_refused(lambda kind=kind: kind(storage)) for kind in (torch.Tensor, torch.FloatTensor, torch.IntTensor)]


@case("storage_members.bytes_written")
def _(torch):
    """Bytes of larger elements are written, exchanged and turned around; storages of device "meta" have none."""
    t = torch.arange(3, dtype=torch.int16)
    storage = t.untyped_storage()
    storage[0] = 7
    yield "one", t.clone()
    yield "all", (storage.fill_(1) is storage, t.clone())
    yield "copied", (storage.copy_(torch.UntypedStorage([1, 0, 2, 0, 3, 0])) is storage, t.clone())
    storage.byteswap(torch.int16)
    yield "turned", t.clone()
    other = torch.ones(3, dtype=torch.int16)
    storage._swap_data_ptr_(other.untyped_storage())
    yield "exchanged", (t, other)
    for name, wrong in {"size": torch.ones(8).untyped_storage(), "device": torch.ones(3, device="meta").untyped_storage(), "number": 3}.items():
        yield f"refused {name}", _refused(lambda wrong=wrong: storage._swap_data_ptr_(wrong))
    own = torch.FloatStorage([1, 2])
    own.resize_(3)
    own[2] = 5
    yield "grown", own.tolist()
    meta = torch.TypedStorage([1, 2, 3, 4], device="meta", dtype=torch.float32)
    for name, f in {"item": lambda: meta[0], "byte": lambda: meta.untyped()[0], "list": meta.tolist, "shared": meta.share_memory_, "host": meta.cpu,
                    "resized": lambda: (meta.resize_(10), meta.nbytes()), "filled": lambda: meta.fill_(1).size(), "set": lambda: meta.__setitem__(0, 1)}.items():
        yield f"meta {name}", _refused(f)
    with tempfile.TemporaryFile() as file:
        torch.FloatStorage([1, 2])._write_file(file, True, True, 4)
        file.seek(0)
        yield "written to a file", list(file.read())
    yield "same object", (t.untyped_storage() is storage, t.view(3, 1).untyped_storage() is storage, torch._C._storage_address(t) == storage._cdata)
    yield "classes", (sorted(c.__name__ for c in torch._tensor_classes if c.__module__ == "torch"), torch.FloatStorage in torch._storage_classes,
                      torch.storage._dtype_to_storage_type_map()[torch.float16])


@case("storage_members.numbers_with_gradients")
def _(torch):
    """A tensor that requires grad is no number for an argument without a gradient."""
    a, g = torch.ones(2), torch.tensor(1.0, requires_grad=True)
    for name, f in {"isclose": lambda: torch.isclose(a, a, g, 0.0), "allclose": lambda: torch.allclose(a, a, g), "celu": lambda: torch.celu(a, g),
                    "dropout": lambda: torch.dropout(a, g, True), "alpha": lambda: a.add(a, alpha=g), "normal_": lambda: a.clone().normal_(g, 1.0),
                    "threshold": lambda: torch.threshold(a, g, 0.0), "arange": lambda: torch.arange(g), "full": lambda: torch.full((2,), g),
                    "without": lambda: torch.isclose(a, a, torch.tensor(1), g.detach())}.items():
        yield name, _refused(f)
    i = torch.tensor([2, 1, 0])
    yield "index_fill_", [_refused(lambda f=f: f(i.clone())) for f in (lambda i: i.index_fill_(0, i, 0), lambda i: i.index_fill_(0, i.clone(), i[0]))]


@case("storage_members.copied_deeply")
def _(torch):
    """Storages are copied with what shows them, once."""
    t = torch.arange(4.0)
    for name, s in (("typed", t.storage()), ("bytes", t.untyped_storage()), ("of one that requires grad", torch.ones(2, requires_grad=True).mul(2).untyped_storage())):
        c = copy.deepcopy(s)
        yield name, type(c).__name__, c.tolist(), c.data_ptr() == s.data_ptr()
    for order in (("t", "u", "s"), ("s", "u", "t"), ("u", "t", "s")):
        c = copy.deepcopy({k: {"t": t, "u": t.untyped_storage(), "s": t.storage()}[k] for k in order})
        c["t"][0] = 9.0
        yield f"shared {order}", c["s"][0], c["u"].data_ptr() == c["t"].data_ptr() == c["s"].data_ptr(), t[0]
