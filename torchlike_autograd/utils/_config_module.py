"""torch.utils._config_module (layer 7): a module of settings that remembers what it is told and knows no other names."""

from __future__ import annotations

import contextlib
import sys
import types

__all__ = ["ConfigModule", "install_config_module"]


class Settings:
    """Settings below a module's own, as ``config.triton``."""

    def __init__(self, **values):
        vars(self).update(values)


class ConfigModule(types.ModuleType):
    """A module whose public names are settings: read, set and patched; AttributeError for a name that is none of them."""

    def __getattr__(self, name):
        raise AttributeError(f"{self.__name__.replace(_HOME, 'torch', 1)}.{name} does not exist")

    def __setattr__(self, name, value):
        if name not in vars(self) and name[:2] != "__":
            self.__getattr__(name)
        super().__setattr__(name, value)

    @contextlib.contextmanager
    def patch(self, arg1=None, arg2=None, **kwargs):
        """A context (or decorator) with other values: ``patch("name", value)``, ``patch({"name": value})`` or ``patch(name=value)``."""
        changes = dict(arg1) if isinstance(arg1, dict) else {arg1: arg2} if arg1 is not None else kwargs
        before = {name: getattr(self, name) for name in changes}
        try:
            for name, value in changes.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def is_dynamic(self, name):
        """Whether a setting may be set: all may."""
        return name in vars(self)


_HOME = __name__.partition(".")[0]


def install_config_module(module) -> None:
    """Make a module one of settings; `module` is it, or its name."""
    (module if isinstance(module, types.ModuleType) else sys.modules[module]).__class__ = ConfigModule
