"""Random generators with the streams of PyTorch's CPU generator, bit for bit, in NumPy.

A :class:`Generator` is a Mersenne Twister (MT19937) seeded with the low 32 bits of the seed, as
``numpy.random.MT19937()._legacy_seeding`` does it, plus one *pending normal*: small normal draws
are made in pairs and the second waits for the next call. Everything random in the package draws
from one; the default generator stands here, the rest is re-exported:

* :mod:`rng_stream`: the generator, its words and its state;
* :mod:`rng_draws`: distributions with a fixed number of draws per value;
* :mod:`rng_integers`: ``randint``, ``random_`` and ``randperm``;
* :mod:`rng_choices`: multinomial, and what is made by rejection;
* :mod:`rng_math`: the floating-point arithmetic of torch's kernels.

    gen = Generator().manual_seed(0)
    normal(gen, (2, 3), np.float32)        # torch.manual_seed(0); torch.randn(2, 3)

"Bit-equal" in a docstring means to torch 2.13 on Linux, x86 with AVX2 (machines with AVX-512 run
the same kernels). Without AVX2 torch itself computes float32 normals differently in the last bits.
"""

from __future__ import annotations

import numpy as np

from .devices import is_accelerator
from .rng_choices import binomial, multinomial, poisson, standard_gamma
from .rng_draws import (
    bernoulli,
    cauchy,
    exponential,
    geometric,
    log_normal,
    normal,
    normal_tensor,
    uniform,
)
from .rng_integers import randint, random_full, randperm
from .rng_stream import Generator

__all__ = [
    "Generator",
    "bernoulli",
    "binomial",
    "cauchy",
    "default_generator",
    "exponential",
    "geometric",
    "get_rng_state",
    "initial_seed",
    "log_normal",
    "manual_seed",
    "multinomial",
    "normal",
    "normal_tensor",
    "poisson",
    "randint",
    "random_full",
    "randperm",
    "seed",
    "set_rng_state",
    "standard_gamma",
    "uniform",
]

default_generator = Generator()
default_generator.seed()  # as in torch, a process that does not seed is not repeatable


_accelerators: dict = {}  # key of a device -> its default generator
_last: list = []  # the seed that `manual_seed` or `seed` gave to all


def of_device(key) -> Generator:
    """The default generator of a device's key: the host's, and for an accelerator one of its own, on the host too, which is seeded with it."""
    if not is_accelerator(key):
        return default_generator
    found = _accelerators.get(key)
    if found is None:
        found = _accelerators[key] = Generator(key)
        found.manual_seed(_last[0] if _last else default_generator.initial_seed())
    return found


def states() -> dict:
    """The states of all default generators, by the key of the device."""
    return {key: g.get_state() for key, g in (("cpu", default_generator), *_accelerators.items())}


def put_back(kept) -> None:
    """Continue all default generators from `states`."""
    for key, state in kept.items():
        of_device(key).set_state(state)


def _seeded(seed):
    _last[:] = [seed]
    for g in _accelerators.values():
        g.manual_seed(seed)


def manual_seed(seed) -> Generator:
    """Seed the default generators with ``int(seed)`` and return the host's."""
    default_generator.manual_seed(int(seed))
    _seeded(int(seed))
    return default_generator


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def seed() -> int:
    """Seed the default generators from the operating system and return the seed."""
    found = default_generator.seed()
    _seeded(found)
    return found


def get_rng_state() -> np.ndarray:
    """The state of the default generator."""
    return default_generator.get_state()


def set_rng_state(state: np.ndarray) -> None:
    """Set the state of the default generator."""
    default_generator.set_state(state)
