"""Names that PyTorch's modules hold because they import them, and that programs take from there (layer 7):
`from torch.nn.modules.conv import _size_2_t, Union, Tensor`."""

from __future__ import annotations

import importlib
import sys
import typing

_ROOT = __name__.partition(".")[0]
_OF_TYPING = frozenset((
    "Any", "Callable", "Dict", "Final", "Generic", "Iterable", "Iterator", "List", "Literal", "Mapping", "NamedTuple", "NoReturn", "Optional", "Protocol",
    "Sequence", "Tuple", "Type", "TypeVar", "Union", "cast", "overload"))


def lend(package, *sources):
    """Let the modules of a package that are imported answer for names that are not theirs: with those of typing, and of the modules `sources` (below torch)."""
    for path, module in list(sys.modules.items()):
        if path.startswith(f"{_ROOT}.{package}.") and "__getattr__" not in vars(module):
            module.__getattr__ = _answering(f"torch{path[len(_ROOT):]}", sources)


def _answering(module, sources):
    def __getattr__(name):
        if not name.startswith("__"):
            for source in sources:
                found = vars(importlib.import_module(f"{_ROOT}.{source}")).get(name)
                if found is not None:
                    return found
            if name in _OF_TYPING:
                return getattr(typing, name)
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return __getattr__
