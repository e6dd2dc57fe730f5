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


def manual_seed(seed) -> Generator:
    """Seed the default generator with ``int(seed)`` and return it."""
    return default_generator.manual_seed(int(seed))


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def seed() -> int:
    """Seed the default generator from the operating system and return the seed."""
    return default_generator.seed()


def get_rng_state() -> np.ndarray:
    """The state of the default generator."""
    return default_generator.get_state()


def set_rng_state(state: np.ndarray) -> None:
    """Set the state of the default generator."""
    default_generator.set_state(state)
