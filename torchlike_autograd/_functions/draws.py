"""Draws that depend on tensors (layer 7): gamma, Dirichlet and binomial numbers, with their nodes (see `_ops/draws.py`)."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._core import rng_choices, shapes
from .._core.composite import composite
from .mapped_draws import per_example
from .random import _beside, _gen, following

_BINOMIAL = "binomial only supports floating-point dtypes for {}, got: {}"


def _from(name, inputs, array):
    return following(_beside(np.ascontiguousarray(array).reshape(array.shape), inputs[0].dtype, inputs[0]), f"_drawn_{name}", *inputs)


@composite("torch._standard_gamma")
@partial(per_example, flat=False)
def _standard_gamma(input, generator=None):
    """Gamma numbers of the shapes `input` and rate one; their derivative in the shapes is the implicit one."""
    return _from("gamma", (input,), rng_choices.standard_gamma(_gen(generator, key=input._tl_v.aval.device), input._tl_numpy()))


@composite("torch._sample_dirichlet")
@partial(per_example, flat=False)
def _sample_dirichlet(input, generator=None):
    """Dirichlet numbers with the concentrations along the last dim; backward through them raises, as in torch."""
    return _from("dirichlet", (input,), rng_choices.dirichlet(_gen(generator, key=input._tl_v.aval.device), input._tl_numpy()))


@composite("torch.binomial")
@partial(per_example, flat=False)
def binomial(count, prob, generator=None):
    """Binomial numbers, of the broadcast shape; backward through them raises, as in torch."""
    for name, x in (("count", count), ("prob", prob)):
        if not x.dtype.is_floating_point:
            raise ValueError(_BINOMIAL.format(name, x.dtype.char_name))
    shapes.broadcast(tuple(count.shape), tuple(prob.shape))
    if count.dtype != prob.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype.char_name} but expected {count.dtype.char_name}")
    return _from("binomial", (count, prob), rng_choices.binomial(_gen(generator, key=count._tl_v.aval.device), count._tl_numpy(), prob._tl_numpy()))
