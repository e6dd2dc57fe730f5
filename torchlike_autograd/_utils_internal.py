"""torch._utils_internal (layer 8): where files of an installation lie."""

from __future__ import annotations

import os

from ._core import publish as _publish

_HERE = os.path.dirname(__file__)


def get_file_path(*path_components):
    """The path of a file of this package."""
    return os.path.join(_HERE, *path_components)


def get_file_path_2(*path_components):
    """The path made of its parts."""
    return os.path.join(*path_components)


__getattr__ = _publish.missing("torch._utils_internal")
