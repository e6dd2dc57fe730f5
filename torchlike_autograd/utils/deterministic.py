"""torch.utils.deterministic (layer 8): whether memory that nobody wrote is filled with values that stand out, under deterministic algorithms."""

import sys
import types

from .._core import config as _config


class _Module(types.ModuleType):
    @property
    def fill_uninitialized_memory(self):
        """True: `torch.empty` and its like give NaN, or the largest number of the type, under deterministic algorithms; zeros otherwise."""
        return _config.fills[0]

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode):
        _config.set_fills(mode)


sys.modules[__name__].__class__ = _Module
