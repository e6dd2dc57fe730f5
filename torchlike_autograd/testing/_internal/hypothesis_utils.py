"""torch.testing._internal.hypothesis_utils (layer 8): arrays and numbers drawn by Hypothesis; quantized ones are missing, as the types are."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from ..._core import publish as _publish


def floats(*args, width=32, **kwargs):
    """Numbers, of single precision unless `width` says otherwise."""
    return st.floats(*args, width=width, **kwargs)


def array_shapes(min_dims=1, max_dims=None, min_side=1, max_side=None, max_numel=None):
    """Shapes, of at most three dims more and of sides at most five longer unless told otherwise."""
    max_dims = min(min_dims + 2, 32) if max_dims is None else max_dims
    shapes = st.lists(st.integers(min_side, min_side + 5 if max_side is None else max_side), min_size=min_dims, max_size=max_dims).map(tuple)
    return shapes if max_numel is None else shapes.filter(lambda s: np.prod(s) <= max_numel)


@st.composite
def tensor(draw, shapes=None, elements=None, qparams=None, dtype=np.float32):
    """(an array of one of the shapes, of numbers up to a million unless `elements` says otherwise, and None: it is not quantized)."""
    if qparams is not None:
        raise NotImplementedError("torch.testing._internal.hypothesis_utils.tensor: there are no quantized tensors here")
    shape = draw(shapes if isinstance(shapes, st.SearchStrategy) else st.sampled_from(shapes))
    return draw(stnp.arrays(dtype=dtype, shape=shape, elements=floats(-1e6, 1e6, allow_nan=False) if elements is None else elements)), None


def assert_deadline_disabled():
    """Fails where Hypothesis gives each example a time limit."""
    if settings().deadline is not None:
        raise AssertionError("Expected settings().deadline to be None")


__getattr__ = _publish.missing("torch.testing._internal.hypothesis_utils")
