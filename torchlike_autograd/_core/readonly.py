"""What torch says when a read-only attribute of a tensor is assigned or deleted (layer 6)."""

from __future__ import annotations


def seal(cls):
    """Give every property of `cls` without a setter one that raises torch's error; reading stays as fast as it is."""
    for base in cls.__mro__[:-1]:
        for name, value in list(vars(base).items()):
            if type(value) is property and value.fset is None:
                setattr(base, name, _refusing(name, value))


def _refusing(name, old):
    def refuse(self, *value):
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return property(old.fget, refuse, old.fdel or refuse, old.__doc__)


__all__ = ["seal"]
