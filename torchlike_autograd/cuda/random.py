"""torch.cuda.random (layer 8): the numbers of a CUDA device are drawn by the generator of the host, whose state and seed these are.

What differs beside a device: seeding it alone changes nothing (`torch.manual_seed` seeds the one generator).
"""

from __future__ import annotations

from .._core import devices as _devices
from .._core import publish as _publish
from .._functions.random import default_generator
from ._need import is_available, with_device

__all__ = ["get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state", "set_rng_state_all"]


@with_device
def get_rng_state(device="cuda"):
    """The state of the host's generator."""
    return default_generator.get_state()


def get_rng_state_all() -> list:
    """A state for every device."""
    return [get_rng_state() for _ in _devices.devices_of("cuda")]


def set_rng_state(new_state, device="cuda") -> None:
    """Set the state of the host's generator; nothing without devices, where torch keeps it for later."""
    if is_available():
        default_generator.set_state(new_state)


def set_rng_state_all(new_states) -> None:
    """The first state is that of the one generator."""
    for state in list(new_states)[:1]:
        set_rng_state(state)


def manual_seed(seed) -> None:
    """Nothing beyond a look at the number: see the module's docstring."""
    int(seed)


def manual_seed_all(seed) -> None:
    """As `manual_seed`."""
    int(seed)


def seed() -> None:
    """Nothing: see the module's docstring."""


def seed_all() -> None:
    """As `seed`."""


@with_device
def initial_seed() -> int:
    """The seed of the host's generator."""
    return default_generator.initial_seed()


__getattr__ = _publish.missing("torch.cuda.random")
