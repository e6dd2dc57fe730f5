"""The functions of `torch` by name, for the modules beside this one (layer 8): `from . import _names as torch`."""

import math as _math

from .._core import publish as _publish
from .._core.config import default_dtype as get_default_dtype
from .._core.devices import device
from .._core.dtypes import ALIASES as _ALIASES
from .._core.dtypes import DTYPES as _DTYPES
from .._core.dtypes import finfo
from .._core.layouts import contiguous_format
from .._tensor import Size, Tensor
from ..autograd.grad_mode import enable_grad, no_grad
from ..nn import functional

_publish.install(globals(), "torch")
_hidden = _publish.load_all()
_standard_gamma, _sample_dirichlet, _dirichlet_grad = (_hidden[f"torch.{_n}"] for _n in ("_standard_gamma", "_sample_dirichlet", "_dirichlet_grad"))
cholesky_ex, solve_triangular, safe_cholesky, eigvalsh = (_hidden[f"torch.linalg.{_n}"] for _n in ("cholesky_ex", "solve_triangular", "cholesky", "eigvalsh"))
globals().update(_DTYPES)
globals().update(_ALIASES)
inf, nan = _math.inf, _math.nan

__all__ = ["Size", "Tensor", "contiguous_format", "device", "enable_grad", "finfo", "functional", "get_default_dtype", "no_grad"]
