"""torch.hub (layer 8): files of URLs, and models of a local folder; repositories are not fetched."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import uuid
from urllib.parse import urlparse

from .serialization import load as _load

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the hash in the name of a downloaded file
READ_DATA_CHUNK = 128 * 1024
_dir = [None]


def _get_torch_home():
    return os.path.expanduser(os.getenv("TORCH_HOME") or os.path.join(os.getenv("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "torch"))


def get_dir():
    """Where downloads would go."""
    return _dir[0] or os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    """Remember another place."""
    _dir[0] = os.path.expanduser(d)


def _refuse(name, why="nothing is fetched from GitHub here; clone the repository and use torch.hub.load(folder, name, source='local')"):
    raise NotImplementedError(f"torch.hub.{name}: {why}")


def list(github, force_reload=False, skip_validation=False, trust_repo="check", verbose=True):
    """NotImplementedError."""
    _refuse("list")


def help(github, model, force_reload=False, skip_validation=False, trust_repo="check"):
    """NotImplementedError."""
    _refuse("help")


def load(repo_or_dir, model, *args, source="github", trust_repo="check", force_reload=False, verbose=True, skip_validation=False, **kwargs):
    """What the function `model` of a folder's `hubconf.py` returns, for source="local"; NotImplementedError for "github"."""
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        _refuse("load")
    return _entry(os.path.expanduser(repo_or_dir), model)(*args, **kwargs)


def _entry(folder, model):
    """A function of a folder's hubconf.py, whose folder is searched for modules while it is read."""
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("hubconf.py", os.path.join(folder, "hubconf.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    missing = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Write what a URL holds into the file `dst`, whole or not at all; RuntimeError where its SHA-256 does not begin with `hash_prefix`."""
    dst = os.path.expanduser(dst)
    part, sha = f"{dst}.{uuid.uuid4().hex}.partial", hashlib.sha256()
    try:
        from urllib.request import Request, urlopen  # seldom needed, long to import

        with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as source, open(part, "wb") as out, _shown(source, progress) as bar:
            while chunk := source.read(READ_DATA_CHUNK):
                out.write(chunk)
                sha.update(chunk)
                bar.update(len(chunk))
        digest = sha.hexdigest()
        if hash_prefix is not None and digest[:len(hash_prefix)] != hash_prefix:
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest}")')
        shutil.move(part, dst)
    finally:
        if os.path.exists(part):
            os.remove(part)


class _Quiet:
    """In the place of a progress bar."""

    def update(self, n):
        """Nothing."""


def _shown(source, progress):
    """A context with `update(n)`: tqdm's bar where it is installed and asked for."""
    if tqdm is None or not progress:
        return contextlib.nullcontext(_Quiet())
    size = source.headers.get("Content-Length")
    return tqdm(total=int(size) if size else None, unit="B", unit_scale=True, unit_divisor=1024)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False):
    """`torch.load` of a URL's file, which is kept in `model_dir` (default: `checkpoints` below `get_dir()`) and fetched once.

    check_hash: the name holds the beginning of its SHA-256, as `name-0123abcd.pth`.  Differs from torch: archives of torch's first format are not unpacked.
    """
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name if file_name is not None else os.path.basename(urlparse(url).path)
    kept = os.path.join(folder, name)
    if not os.path.exists(kept):
        (sys.__stderr__ or sys.stderr).write(f'Downloading: "{url}" to {kept}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, kept, found.group(1) if found else None, progress=progress)
    return _load(kept, map_location=map_location, weights_only=weights_only)
