"""torch.hub without network: URLs of files, folders with a hubconf.py."""

import contextlib
import hashlib
import io
import os
import pathlib
import tempfile

from compat_matrix.case import attempt, case

HUBCONF = """
dependencies = ["math"]
from besides import scale

def linear(n, bias=True):
    import importlib
    return [n * scale, bias]

not_callable = 3
"""


@case("hub.state_dicts")
def _(torch):
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
        source = pathlib.Path(folder, "weights.pth")
        torch.save({"w": torch.arange(3.0), "n": 2}, source)
        url, models = source.as_uri(), os.path.join(folder, "models")
        first = torch.hub.load_state_dict_from_url(url, models, progress=False)
        source.unlink()
        again = torch.hub.load_state_dict_from_url(url, models, map_location="cpu", weights_only=True)
        yield "values", first, again, sorted(os.listdir(models))
        yield "said", said.getvalue().replace(folder, "FOLDER")
        torch.save({"w": torch.ones(1)}, source)
        named = torch.hub.load_state_dict_from_url(url, models, progress=False, file_name="other-abcdef.pth")
        yield "named", named, sorted(os.listdir(models))
        refused = attempt(lambda: torch.hub.load_state_dict_from_url(url, models, progress=False, check_hash=True, file_name="third-ffffffff.pth"))
        yield "hash", refused["error"]["class"], sorted(os.listdir(models))
        torch.hub.set_dir(folder)
        yield "dir", torch.hub.get_dir() == folder, sorted(torch.hub.load_state_dict_from_url(url, progress=False)), os.listdir(os.path.join(folder, "checkpoints"))
        torch.hub.set_dir("~/.cache/torch/hub")


@case("hub.files")
def _(torch):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "a.bin"), os.path.join(folder, "b.bin")
        source.write_bytes(bytes(range(256)) * 3)
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        yield "written", torch.hub.download_url_to_file(source.as_uri(), target, digest[:8], progress=False), pathlib.Path(target).read_bytes() == source.read_bytes()
        os.remove(target)
        yield "hash", attempt(lambda: torch.hub.download_url_to_file(source.as_uri(), target, "00", progress=False)), sorted(os.listdir(folder))


@case("hub.local")
def _(torch):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "hubconf.py").write_text(HUBCONF)
        pathlib.Path(folder, "besides.py").write_text("scale = 10")
        yield "made", torch.hub.load(folder, "linear", 3, source="local", bias=False)
        yield "refused", [attempt(lambda m=m: torch.hub.load(folder, m, source="local")) for m in ("nowhere", "not_callable", 3)]
        yield "source", attempt(lambda: torch.hub.load(folder, "linear", source="elsewhere"))
        pathlib.Path(folder, "hubconf.py").write_text('dependencies = ["no_such_module_1", "math", "no_such_module_2"]')
        yield "lacking", attempt(lambda: torch.hub.load(folder, "linear", source="local"))
