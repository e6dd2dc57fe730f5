"""torch._utils_internal (layer 8): where files of an installation lie."""

from __future__ import annotations

import functools
import os
import sys

from ._core import publish as _publish
from ._core.saying import warn

_HERE = os.path.dirname(__file__)


def get_file_path(*path_components):
    """The path of a file of this package."""
    return os.path.join(_HERE, *path_components)


def get_file_path_2(*path_components):
    """The path made of its parts."""
    return os.path.join(*path_components)


def deprecated():
    """Decorates a private function `_f`: `f` in the same module is the same function with a warning."""
    def decorator(func):
        if not func.__name__.startswith("_"):
            raise ValueError("@deprecate must decorate a function whose name starts with a single leading underscore (e.g. '_foo') as the api should be "
                             "considered internal for deprecation.")
        name, module = func.__name__[1:], sys.modules[func.__module__]
        if hasattr(module, name):
            raise RuntimeError(f"Cannot create alias '{name}' -> symbol already exists in {module.__name__}. {' ' * 16}Please rename it or consult a pytorch "
                               "developer on what to do")

        @functools.wraps(func)
        def alias(*args, **kwargs):
            warn(f"{name} is DEPRECATED, please consider using an alternative API(s). ", UserWarning)
            return func(*args, **kwargs)

        alias.__name__, alias.__qualname__ = name, ".".join([*func.__qualname__.split(".")[:-1], name])
        setattr(module, name, alias)
        return func

    return decorator


__getattr__ = _publish.missing("torch._utils_internal")
