"""torch._classes (layer 8): `torch.classes`, the classes of C++ extensions, of which there are none."""

import types

from . import ops as _operators


class _ClassNamespace(types.ModuleType):
    """The classes of one library: RuntimeError for every name, as for one that is not registered."""

    def __init__(self, name):
        super().__init__("torch.classes" + name)
        self.name = name

    def __getattr__(self, attr):
        raise RuntimeError(f"Tried to instantiate class '{self.name}.{attr}', but it does not exist! Ensure that it is registered via torch::class_")


class _Classes(types.ModuleType):
    """Namespaces, made when they are asked for."""

    __file__ = "_classes.py"

    def __init__(self):
        super().__init__("torch.classes")

    def __getattr__(self, name):
        namespace = _ClassNamespace(name)
        setattr(self, name, namespace)
        return namespace

    @property
    def loaded_libraries(self):
        """Those of extensions: none."""
        return set()

    def load_library(self, path):
        """`torch.ops.load_library`."""
        _operators.load_library(path)


classes = _Classes()
