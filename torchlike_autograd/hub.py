"""torch.hub (layer 8): code from elsewhere is not fetched here."""

from __future__ import annotations

import os
import re

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the hash in the name of a downloaded file
_dir = [None]


def _get_torch_home():
    return os.path.expanduser(os.getenv("TORCH_HOME") or os.path.join(os.getenv("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "torch"))


def get_dir():
    """Where downloads would go."""
    return _dir[0] or os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    """Remember another place."""
    _dir[0] = os.path.expanduser(d)


def _refuse(name):
    def f(*args, **kwargs):
        raise NotImplementedError(f"torch.hub.{name}: nothing is downloaded here; fetch the file yourself and use torch.load")

    f.__name__ = name
    return f


load, list, help = _refuse("load"), _refuse("list"), _refuse("help")
download_url_to_file, load_state_dict_from_url = _refuse("download_url_to_file"), _refuse("load_state_dict_from_url")
