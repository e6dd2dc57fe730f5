"""Draws that depend on tensors (layer 7): gamma, Dirichlet and binomial numbers, with their nodes (see `_ops/draws.py`)."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._core import rng_choices, shapes
from .._core.composite import composite
from .mapped_draws import per_example
from .random import _beside, _gen, following

_BINOMIAL = "binomial only supports floating-point dtypes for {}, got: {}"


@partial(per_example, flat=False)
def _numbers(first, *others, draw, generator):
    """What `draw` gives for the data of tensors: for each example of a map that wants that, and without history."""
    array = draw(_gen(generator, key=first._tl_v.aval.device), *(x._tl_numpy() for x in (first, *others)))
    return _beside(np.ascontiguousarray(array).reshape(array.shape), first.dtype, first)


def _from(name, draw, generator, *inputs):
    return following(_numbers(*(x.detach() for x in inputs), draw=draw, generator=generator), f"_drawn_{name}", *inputs)


@composite("torch._standard_gamma")
def _standard_gamma(input, generator=None):
    """Gamma numbers of the shapes `input` and rate one; their derivative in the shapes is the implicit one."""
    return _from("gamma", rng_choices.standard_gamma, generator, input)


@composite("torch._sample_dirichlet")
def _sample_dirichlet(input, generator=None):
    """Dirichlet numbers with the concentrations along the last dim; backward through them raises, as in torch."""
    return _from("dirichlet", rng_choices.dirichlet, generator, input)


@composite("torch.binomial")
def binomial(count, prob, generator=None):
    """Binomial numbers, of the broadcast shape; backward through them raises, as in torch."""
    for name, x in (("count", count), ("prob", prob)):
        if not x.dtype.is_floating_point:
            raise ValueError(_BINOMIAL.format(name, x.dtype.char_name))
    shapes.broadcast(tuple(count.shape), tuple(prob.shape))
    if count.dtype != prob.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype.char_name} but expected {count.dtype.char_name}")
    return _from("binomial", rng_choices.binomial, generator, count, prob)
