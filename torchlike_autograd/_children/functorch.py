"""In the place of `functorch` (see `__init__.py`): what importing torch installs answers for both."""

import importlib
import sys

if "." not in __name__:
    del sys.modules[__name__]
    importlib.import_module("torch")
    importlib.import_module(__name__)
