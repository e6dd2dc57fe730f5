"""torch._subclasses.fake_tensor (layer 8)."""

from __future__ import annotations

import contextlib

from .._core.overriding import disabled_impl
from .._tensor import Tensor

__all__ = ["FakeTensor", "FakeTensorMode"]


class FakeTensor(Tensor):
    """A tensor without data that says it is elsewhere: none is ever made here."""

    __torch_function__ = disabled_impl

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError('torch._subclasses.fake_tensor.FakeTensor: tensors without data are those of device="meta" here')


class FakeTensorMode:
    """A context that would make such tensors."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError('torch._subclasses.fake_tensor.FakeTensorMode: tensors without data are those of device="meta" here')


@contextlib.contextmanager
def unset_fake_temporarily():
    """A context without such a mode; none is ever on here."""
    yield None


def is_fake(x):
    """Whether something is such a tensor."""
    return isinstance(x, FakeTensor)


class FakeTensorConverter:
    """What would make such tensors of others."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError('torch._subclasses.fake_tensor.FakeTensorConverter: tensors without data are those of device="meta" here')


class DynamicOutputShapeException(RuntimeError):
    """What such a mode would raise where a shape depends on data; `func` is the operator."""

    def __init__(self, func):
        super().__init__()
        self.func = func
