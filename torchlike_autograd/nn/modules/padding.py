"""torch.nn.modules.padding (layer 8)."""

from __future__ import annotations

from .. import functional as F
from .module import Module
from .utils import _ntuple, _pair, _quadruple

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
           "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
           "ZeroPad3d"]


_sextuple = _ntuple(6)


class _ConstantPadNd(Module):
    """Padding with one value."""

    __constants__ = ["padding", "value"]

    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _CircularPadNd(Module):
    """Padding with the other end."""

    __constants__ = ["padding"]

    def _check_input_dim(self, input):
        raise NotImplementedError

    def forward(self, input):
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")

    def extra_repr(self):
        return f"{self.padding}"


class _ReflectionPadNd(Module):
    """Padding with what lies inside, mirrored."""

    __constants__ = ["padding"]

    def forward(self, input):
        return F.pad(input, self.padding, "reflect")

    def extra_repr(self):
        return f"{self.padding}"


class _ReplicationPadNd(Module):
    """Padding with the outermost element."""

    __constants__ = ["padding"]

    def forward(self, input):
        return F.pad(input, self.padding, "replicate")

    def extra_repr(self):
        return f"{self.padding}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last 1 dim with one value."""

    def __init__(self, padding, value):
        super().__init__(value)
        self.padding = _pair(padding)


class ZeroPad1d(ConstantPad1d):
    """Pads the last 1 dim with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """Pads the last 1 dim."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _pair(padding)

    def _check_input_dim(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last 1 dim."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _pair(padding)


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last 1 dim."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _pair(padding)


class ConstantPad2d(_ConstantPadNd):
    """Pads the last 2 dims with one value."""

    def __init__(self, padding, value):
        super().__init__(value)
        self.padding = _quadruple(padding)


class ZeroPad2d(ConstantPad2d):
    """Pads the last 2 dims with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class CircularPad2d(_CircularPadNd):
    """Pads the last 2 dims."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _quadruple(padding)

    def _check_input_dim(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last 2 dims."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _quadruple(padding)


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last 2 dims."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _quadruple(padding)


class ConstantPad3d(_ConstantPadNd):
    """Pads the last 3 dims with one value."""

    def __init__(self, padding, value):
        super().__init__(value)
        self.padding = _sextuple(padding)


class ZeroPad3d(ConstantPad3d):
    """Pads the last 3 dims with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class CircularPad3d(_CircularPadNd):
    """Pads the last 3 dims."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _sextuple(padding)

    def _check_input_dim(self, input):
        if input.dim() not in (4, 5):
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last 3 dims."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _sextuple(padding)


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last 3 dims."""

    def __init__(self, padding):
        super().__init__()
        self.padding = _sextuple(padding)
