"""torch._dynamo.eval_frame (layer 8)."""

from __future__ import annotations

from ..nn.modules.module import Module

__all__ = ["OptimizedModule"]


def is_dynamo_supported() -> bool:
    """False."""
    return False


class OptimizedModule(Module):
    """What torch.compile makes of a module: one around it that calls it, named `_orig_mod` in state dicts; attributes are those of the module inside."""

    def __init__(self, mod, dynamo_ctx=None):
        super().__init__()
        self._modules["_orig_mod"] = mod

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    @property
    def training(self):
        """Whether the module inside is in training mode."""
        return self._orig_mod.training

    @training.setter
    def training(self, mode):
        if "_orig_mod" in self.__dict__.get("_modules", ()):  # `Module.__init__` sets it before there is a module inside
            self._orig_mod.training = mode

    def __getattr__(self, name):
        if name == "_orig_mod":
            try:
                return self.__dict__["_modules"]["_orig_mod"]
            except KeyError:
                raise AttributeError(name) from None
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name == "_orig_mod" or hasattr(type(self), name) or "_orig_mod" not in self.__dict__.get("_modules", ()):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        if hasattr(type(self), name):
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __len__(self):
        if hasattr(self._orig_mod, "__len__"):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __bool__(self):
        return True

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
