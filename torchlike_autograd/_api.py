"""The public names of `torch` (layer 10)."""

from __future__ import annotations

import numpy as np

from ._core import bind as _bind
from ._core import config as _config
from ._core import devices as _devices
from ._core import dtypes as _dtypes
from ._core import execute as _execute
from ._ops import pointwise as _p, create as _c, reduce as _r, shape as _s  # noqa: E401
from . import _tensor as _t
from ._tensor import Size, Tensor
from . import autograd

for _path, _ops in _bind.public_names().items():
    _where, _, _name = _path.rpartition(".")
    if _where == "torch":
        globals()[_name] = _bind.make_function(_name, _ops)
    elif _where == "Tensor":
        setattr(Tensor, _name, _bind.make_function(_name, _ops, True))
        if any(o.inplace for o in _ops):
            setattr(Tensor, _name + "_", _bind.make_inplace(_name, _ops))
Tensor.__mul__ = Tensor.__rmul__ = Tensor.mul
Tensor.__add__ = Tensor.__radd__ = Tensor.add

def tensor(data, dtype=None, requires_grad=False):
    a = np.array(data)
    if dtype is None and a.dtype == np.float64: a = a.astype(np.float32)
    return _t.from_array(a, _dtypes.from_numpy_dtype(a.dtype), requires_grad)

def stats(): return _execute.Stats(_execute.stats)
