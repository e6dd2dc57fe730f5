"""In the place of `functorch` (see `__init__.py`)."""

import importlib
import os
import sys

if "." not in __name__:  # found by its folder, not as a part of this package
    del sys.modules[__name__]  # the import that runs this takes what lies there in the end
    try:
        from torchlike_autograd import dropin
    except ImportError:  # another interpreter, with packages of its own
        sys.path[:] = [p for p in sys.path if os.path.abspath(p) != os.path.dirname(os.path.abspath(__file__))]
    else:
        dropin.install_as_torch()
    importlib.import_module(__name__)
