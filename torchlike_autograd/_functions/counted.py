"""Random numbers that a device draws itself (layer 7): recorded like any other operator, so that they are made inside the program that uses them.

    set_random("device"); torch.rand(3, device="cuda")   the generator gives a key and moves on; `_counted_uniform` is recorded

`by_device` asks first: the host draws for its own tensors, without that setting, and under `vmap`, where the draws of all examples are one.
What has no entry here (poisson, gamma, ...) is drawn on the host too, from such a key (`Generator.on_host`).
"""

from __future__ import annotations

import math

import numpy as np

from .._core import config, devices, levels, rng, rng_draws, rng_integers
from .._core.laying import keep_order
from .._core.record import number_kind, record_op
from .._core.spread import beside
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, from_array, wrap


def by_device(key) -> bool:
    """Whether a device draws the numbers of its tensors itself, here and now."""
    return config.get("random") == "device" and key.startswith(devices.ACCELERATORS) and not levels.mapping()


def own_generator(key):
    """The default generator of a device, or of the first of several."""
    return rng.of_device(devices.key_of_device(devices.members_of(key)[0]) if "@" in key else key)


def uniform(gen, key, shape, dtype, low=0.0, high=1.0):
    """`rand` and `uniform_`."""
    if not dtype.is_complex:
        rng_draws.check_uniform(dtype.np, low, high)
    return _drawn("uniform", gen, key, shape, dtype, float(low), float(high))


def normal(gen, key, shape, dtype, mean=0.0, std=1.0):
    """`randn` and `normal_`; std: a number, or a tensor on the device."""
    if isinstance(std, Tensor):
        if std.dtype.is_complex:
            raise RuntimeError("normal expects standard deviation to be non-complex")
        return _drawn_each("normal", std, gen, shape, dtype)
    rng_draws.check_normal(dtype.np, math.prod(shape), std)
    return _drawn("normal", gen, key, shape, dtype, float(mean), float(std))


def exponential(gen, key, shape, dtype, lambd=1.0):
    """`exponential_`."""
    rng_draws.check_exponential(dtype.np, math.prod(shape), lambd)
    return _drawn("exponential", gen, key, shape, dtype, float(lambd))


def bernoulli(gen, key, shape, dtype, p=0.5):
    """Zeros and ones; p: a number, or a tensor on the device."""
    if isinstance(p, Tensor):
        return _drawn_each("bernoulli", p, gen, shape, dtype)
    rng_draws.check_bernoulli(dtype.np, math.prod(shape), p)
    return _drawn("bernoulli", gen, key, shape, dtype, float(p))


def integers(gen, key, shape, dtype, low, high=None):
    """`randint` and `random_`; high None: up to the largest number of the type."""
    low, last = rng_integers.integer_bounds(low, high, dtype.np)
    span = last - low + 1
    if span >= 2**63:
        return _from_host(rng_integers.randint(gen.on_host(), low, high, shape, dtype.np), key, dtype)
    return _drawn("integers", gen, key, shape, dtype, low, span, wide=span >= 2**31)


def permutation(gen, key, n, dtype):
    """`randperm`."""
    return _drawn("permutation", gen, key, (n,), dtype)


def _from_host(array, key, dtype):
    return from_array(np.asarray(array), dtype).to(key)


def _drawn_each(kind, given, gen, shape, dtype):
    """One number for each of a tensor's, which say how."""
    spec = spec_of(OPS[f"_counted_{kind}_each"], (("size", tuple(shape)), ("dtype", dtype)), ("T", "i"))
    return wrap(record_op(spec, (Tensor.detach(given).expand(shape)._tl_value(), gen.take()))[0])


def _drawn(kind, gen, key, shape, dtype, *numbers, **statics):
    given = (*numbers, gen.take())
    spec = spec_of(OPS[f"_counted_{kind}"], (*statics.items(), ("size", tuple(shape)), ("dtype", dtype)), tuple(map(number_kind, given)))
    return wrap(record_op(spec, given)[0]).to(key) if "@" not in key else wrap(record_op(spec, given)[0])


def like(t, input):
    """Fresh numbers for `input`: spread as it is where it lies on several devices, in its order of dims."""
    if tuple(t.shape) == tuple(input.shape) and not input.is_contiguous():
        keep_order(t, input)
    return beside(t, input)
