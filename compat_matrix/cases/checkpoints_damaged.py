"""torch.load of checkpoints that are cut, changed or not whole, of what no file may name, and files that hold no numbers."""

import io
import os
import sys
import tempfile
import zipfile

from compat_matrix.case import attempt, case, warned


def _saved(torch, **options):
    f = io.BytesIO()
    torch.save(torch.arange(12.0), f, **options)
    return f.getvalue()


def _again(torch, drop="", change=("", b""), compression=zipfile.ZIP_STORED):
    """A checkpoint without a record, or with another in the place of one."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_saved(torch))) as z, zipfile.ZipFile(out, "w", compression) as o:
        for name in z.namelist():
            if not drop or not name.endswith(drop):
                o.writestr(name, change[1] if change[0] and name.endswith(change[0]) else z.read(name))
    return out.getvalue()


def _loaded(torch, data, **options):
    return attempt(lambda: torch.load(io.BytesIO(data), **options))


@case("checkpoints_damaged.cut")
def _(torch):
    whole = _saved(torch)
    for n in (0, 4, 10, 21, 22, 23, 100, -1, -22, -23):
        yield str(n), _loaded(torch, whole[:n]), _loaded(torch, whole[:n], weights_only=False)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.pt")
        with open(path, "wb") as f:
            f.write(whole[:300])
        yield "of a path", attempt(lambda: torch.load(path))
    at = whole.find(torch.arange(12.0).numpy().tobytes()[8:20])
    yield "another number", _loaded(torch, whole[:at] + b"\x01" + whole[at + 1:])


@case("checkpoints_damaged.records")
def _(torch):
    for name in ("data.pkl", "data/0", "version", "byteorder"):
        yield f"without {name}", _loaded(torch, _again(torch, drop=name)), _loaded(torch, _again(torch, drop=name), weights_only=False)
    for name, data in (("data/0", b"abcd"), ("byteorder", b"big"), ("byteorder", b"foo"), ("version", b"99\n"), ("version", b"0\n"), ("version", b"x")):
        yield f"{name} of {data}", _loaded(torch, _again(torch, change=(name, data)))
    yield "compressed", _loaded(torch, _again(torch, compression=zipfile.ZIP_DEFLATED))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("hello.txt", "a")
    yield "no checkpoint", _loaded(torch, out.getvalue())


@case("checkpoints_damaged.modules that no file may name")
def _(torch):
    for name in ("os\nsystem", "nt\nsystem", "posix\nx", "sys\nexit", "sys\nmodules", "os.path\njoin", "__builtin__\neval", "subprocess\nrun", "foo\nbar"):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as z:
            z.writestr("archive/data.pkl", b"\x80\x02c" + name.encode() + b"\n)R.")
            z.writestr("archive/version", b"3\n")
            z.writestr("archive/byteorder", sys.byteorder)
        yield name.replace("\n", "."), _loaded(torch, out.getvalue())


@case("checkpoints_damaged.options")
def _(torch):
    for old in (False, True):
        data = _saved(torch, _use_new_zipfile_serialization=not old)
        for options in ({"encoding": "ascii"}, {"foo": 1}, {"errors": "strict"}):
            yield f"{options} {old}", warned(lambda: _loaded(torch, data, **options)), options.get("foo") or _loaded(torch, data, weights_only=False, **options)
        yield f"mapped {old}", _loaded(torch, data, mmap=True)


@case("checkpoints_damaged.without numbers")
def _(torch):
    f = io.BytesIO()
    with torch.serialization.skip_data():
        torch.save({"a": torch.ones(3), "b": torch.ones(2, requires_grad=True)}, f)
        yield "old", attempt(lambda: torch.save(torch.ones(1), io.BytesIO(), _use_new_zipfile_serialization=False))
    whole = io.BytesIO()
    torch.save({"a": torch.ones(3), "b": torch.ones(2, requires_grad=True)}, whole)
    f.seek(0)
    yield "read", torch.load(f), len(f.getvalue()) == len(whole.getvalue())
    yield "its option", torch.serialization.skip_data().materialize_fake_tensors, torch.serialization.skip_data(True).materialize_fake_tensors
