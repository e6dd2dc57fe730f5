"""torch.save and torch.load: round trips, what is refused and in which words, where storages go."""

import collections
import copy
import io
import os
import pickle
import zipfile

import numpy as np

from compat_matrix.case import case, raises, warned


def saved(torch, obj, **options):
    f = io.BytesIO()
    torch.save(obj, f, **options)
    f.seek(0)
    return f


class Own:
    def __init__(self, x=1):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


@case("saving.shared")
def _(torch):
    for new in (True, False):
        base = torch.arange(6.0)
        f = saved(torch, {"base": base, "part": base[2:4], "turned": base.view(2, 3).t(), "alias": base.detach()}, _use_new_zipfile_serialization=new)
        got = torch.load(f)
        got["part"].fill_(-1.0)
        yield f"{new} values", [got[k] for k in sorted(got)]
        yield f"{new} strides", [(t.stride(), t.storage_offset(), t._base is None, t._version) for _, t in sorted(got.items())]


@case("saving.kinds")
def _(torch):
    x = {"none": None, "bool": True, "int": 2**70, "float": 1.5, "text": "a", "bytes": b"b", "list": [1, [2]], "tuple": (1, (2,)), "set": {1},
         "complex": 1j, "ordered": collections.OrderedDict(a=1), "dtype": torch.int64, "size": torch.Size([2]), "device": torch.device("cpu"),
         "counter": collections.Counter("aab"), "tensor": torch.tensor(3), "leaf": torch.ones(2, requires_grad=True)}
    for wo in (True, False):
        got = torch.load(saved(torch, x), weights_only=wo)
        yield f"weights only {wo}", [(k, type(v).__name__, repr(v) if k in ("bytes", "int") else v) for k, v in sorted(got.items())]
    y = torch.ones(2, requires_grad=True) * 2
    got = torch.load(saved(torch, y))
    yield "history is left behind", got, got.is_leaf, got.requires_grad
    p = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    p.mark = "m"
    got = torch.load(saved(torch, p))
    yield "parameter", type(got).__name__, got.requires_grad, got.mark


@case("saving.refused")
def _(torch):
    for label, x in {
        "class": Own(), "function": len, "frozenset": frozenset([1]), "range": range(3), "slice": slice(1, 2), "defaultdict": collections.defaultdict(int),
        "deque": collections.deque([1]), "numpy scalar": np.float64(3), "type": int, "numpy function": np.dot,
    }.items():
        yield label, raises(lambda x=x: torch.load(saved(torch, x)))
        yield f"{label} trusted", type(torch.load(saved(torch, x), weights_only=False)).__name__


@case("saving.allowed")
def _(torch):
    S = torch.serialization
    before = len(S.get_safe_globals())
    with S.safe_globals([Own]):
        yield "own class", torch.load(saved(torch, Own(4))).x
        yield "count", len(S.get_safe_globals()) - before
    yield "after", raises(lambda: torch.load(saved(torch, Own())))
    S.add_safe_globals([collections.defaultdict, int])
    yield "two", raises(lambda: torch.load(saved(torch, collections.defaultdict(int, a=1))))
    yield "two items", raises(lambda: torch.load(saved(torch, collections.defaultdict(int, a=1, b=2))))
    S.clear_safe_globals()
    yield "cleared", raises(lambda: torch.load(saved(torch, collections.defaultdict(int, a=1))))
    from numpy._core.multiarray import scalar
    with S.safe_globals([scalar]):
        yield "half allowed", raises(lambda: torch.load(saved(torch, np.float64(3))))
    with S.safe_globals([scalar, np.dtype]):
        yield "builds", raises(lambda: torch.load(saved(torch, np.float64(3))))
    with S.safe_globals([scalar, np.dtype, np.dtypes.Float64DType]):
        yield "numpy scalar", float(torch.load(saved(torch, np.float64(3))))
    with S.safe_globals([(Own, "some.where")]):
        yield "another name", raises(lambda: torch.load(saved(torch, Own())))
    with S.safe_globals([collections.deque]):
        yield "append", raises(lambda: torch.load(saved(torch, collections.deque([1]))))
        yield "appends", raises(lambda: torch.load(saved(torch, collections.deque([1, 2]))))
    yield "named", sorted(S.get_unsafe_globals_in_checkpoint(saved(torch, [len, collections.deque([1]), torch.ones(1)])))


@case("saving.not_a_file_of_ours")
def _(torch):
    yield "empty", raises(lambda: torch.load(io.BytesIO(b"")))
    for protocol in (0, 2, 4):
        f = pickle.dumps({"a": 1}, protocol)
        yield f"pickle {protocol}", raises(lambda f=f: torch.load(io.BytesIO(f)))
        yield f"pickle {protocol} warned", warned(lambda f=f: raises(lambda: torch.load(io.BytesIO(f))))
        yield f"pickle {protocol} trusted", raises(lambda f=f: torch.load(io.BytesIO(f), weights_only=False))
    yield "missing", raises(lambda: torch.load("/nowhere/at/all.pt"))
    yield "number", raises(lambda: torch.load(3))
    yield "save to a number", raises(lambda: torch.save(1, 3))
    yield "no folder", raises(lambda: torch.save(1, "/nowhere/at/all.pt"))
    yield "two ways", raises(lambda: torch.load(saved(torch, 1), pickle_module=pickle, weights_only=True))
    yield "pickle module", torch.load(saved(torch, Own(3)), pickle_module=pickle).x
    yield "mmap", raises(lambda: torch.load(saved(torch, 1), mmap=True))


@case("saving.map_location")
def _(torch):
    x = torch.arange(3.0)
    for label, where in {"text": "cpu", "device": torch.device("cpu"), "dict": {"cpu": "cpu"}, "other dict": {"cuda:0": "cpu"}, "nothing": lambda s, at: None,
                         "storage": lambda s, at: s}.items():
        yield label, torch.load(saved(torch, x), map_location=where)
    seen = []
    torch.load(saved(torch, [x, x[1:], torch.ones(2)]), map_location=lambda s, at: seen.append((at, s.nbytes())))
    yield "asked", seen
    yield "cuda", raises(lambda: torch.load(saved(torch, x), map_location="cuda"))
    yield "unknown", raises(lambda: torch.load(saved(torch, x), map_location="blah"))
    yield "number", raises(lambda: torch.load(saved(torch, x), map_location=3))


@case("saving.state_dicts")
def _(torch):
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    o = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    s = torch.optim.lr_scheduler.StepLR(o, 2)
    for _i in range(3):
        p.grad = torch.ones(2)
        o.step()
        s.step()
    got = torch.load(saved(torch, {"o": o.state_dict(), "s": s.state_dict(), "epoch": 3}))
    yield "state", got["o"]["state"][0]["momentum_buffer"], got["o"]["param_groups"][0]["lr"], sorted(got["s"])
    q = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    other = torch.optim.SGD([q], lr=5.0, momentum=0.1)
    other.load_state_dict(got["o"])
    q.grad = torch.ones(2)
    other.step()
    yield "goes on", q.detach()
    whole = torch.load(saved(torch, o), weights_only=False)
    yield "an optimizer", type(whole).__name__, whole.param_groups[0]["lr"], list(whole.state.values())[0]["momentum_buffer"]


@case("saving.shallow_copies")
def _(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    c = copy.copy(y)
    yield "no leaf", c, c.is_leaf, c.requires_grad, c.data_ptr() == y.data_ptr()
    with torch.no_grad():
        c.add_(1)
    yield "shared", y, c
    part = copy.copy(x.detach()[1:])
    part.add_(1)
    yield "part", x, part, part._base is None
    p = copy.copy(torch.nn.Parameter(torch.ones(2)))
    (p * 3).sum().backward()
    yield "parameter", type(p).__name__, p.requires_grad, p.grad


@case("saving.one_memory_of_two_dtypes")
def _(torch):
    b, c = torch.arange(4.0), torch.zeros(2, dtype=torch.complex64)
    pairs = {"bytes": [b, b.untyped_storage()], "numbers": [b, b.view(torch.int32)], "parts": [c, c.imag], "one part": [c.imag],
             "bytes of bytes": [b.view(torch.uint8), b.untyped_storage()]}
    for new in (True, False):
        for label, x in pairs.items():
            if new or "bytes" not in label:  # the old format of PyTorch fails at bytes
                yield f"{label} {new}", raises(lambda x=x: torch.load(saved(torch, x, _use_new_zipfile_serialization=new))[0])
    a = torch.tensor([], dtype=torch.float64)
    got = torch.load(saved(torch, [a, torch.TypedStorage(wrap_storage=a.untyped_storage(), dtype=torch.float32)]))
    yield "none", [x.dtype for x in got]


@case("saving.byte_orders_assumed")
def _(torch):
    s, f = torch.serialization, io.BytesIO()
    with zipfile.ZipFile(f, "w") as out, zipfile.ZipFile(saved(torch, torch.tensor([1, 2], dtype=torch.int16))) as z:
        for name in z.namelist():
            if not name.endswith("/byteorder"):
                out.writestr(name, z.read(name))
    for order in (None, *s.LoadEndianness):
        s.set_default_load_endianness(order)
        try:
            f.seek(0)
            yield str(order), torch.load(f)
        finally:
            s.set_default_load_endianness(None)
    yield "no order", raises(lambda: s.set_default_load_endianness("little"))
    yield "no option", raises(lambda: s.set_default_mmap_options(7))
    with s.set_default_mmap_options(1):
        yield "within", s.get_default_mmap_options()
    yield "after", s.get_default_mmap_options()


class Wrapper:
    """Makes a class of tensors that hold another in a slot."""

    @staticmethod
    def of(torch):
        class Held(torch.Tensor):
            __slots__ = ["elem"]

            def __new__(cls, elem):
                out = torch.Tensor._make_subclass(cls, elem.to("meta"), False)
                out.elem = elem
                return out

            def clone(self):
                return Held(self.elem.clone())

        Held.__qualname__, globals()["Held"] = "Held", Held
        return Held


@case("saving.held_in_slots")
def _(torch):
    kind = Wrapper.of(torch)
    x = kind(torch.arange(2.0))
    x.mark = "m"
    with torch.serialization.safe_globals([kind]):
        got = torch.load(saved(torch, x))
    for label, t in (("loaded", got), ("copied", copy.deepcopy(x))):
        yield label, type(t).__name__, t.elem, t.mark, t.device


@case("saving.told_by_the_process")
def _(torch):
    s = torch.serialization
    net = torch.nn.Linear(2, 2)
    for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"):
        os.environ[name] = "1"
        try:
            for told in (None, True, False):
                yield f"{name} {told}", warned(lambda told=told: raises(lambda: str(torch.load(saved(torch, net), weights_only=told))))
        finally:
            del os.environ[name]
    with s.safe_globals([torch.nn.ReLU, set]):
        yield "allowed", str(torch.load(saved(torch, torch.nn.ReLU())))
    f = saved(torch, net)
    yield "asked", s._is_zipfile(f), f.tell(), sorted(s.get_unsafe_globals_in_checkpoint(f))


@case("saving.records")
def _(torch):
    f = io.BytesIO()
    with torch.serialization._open_zipfile_writer(f) as out:
        out.write_record("a", b"123", 3)
        out.write_record("b/c", b"45", 2)
    f.seek(0)
    with torch.serialization._open_zipfile_reader(f) as z:
        yield "read", z.get_record("a").decode(), z.get_record("b/c").decode(), z.has_record("c"), z.get_record_size("a")
    f = saved(torch, torch.nn.Linear(2, 2).state_dict())
    with torch.serialization._open_file_like(f, "rb") as file, torch.serialization._open_zipfile_reader(file) as z:
        yield "places", [z.get_record_offset(f"data/{i}") % 64 for i in (0, 1)], z.get_record("byteorder").decode()
    data = bytearray(f.getvalue())
    at = data.find(b"PK\x03\x04", 1)
    data[at:at + 2] = bytes(2)
    yield "damaged", raises(lambda: torch.load(io.BytesIO(data)))
    with torch.serialization.skip_data():
        yield "skipped", torch.load(f := saved(torch, torch.ones(2))).shape
    f.seek(0)
    yield "sizes alone", str(torch.load(f, map_location="meta"))
