"""torch.cuda.random (layer 8): every CUDA device has a generator of its own, which draws on the host (for a seed the numbers of PyTorch's CPU generator) or,
after `set_random("device")`, counts.

`torch.manual_seed` seeds all of them.
"""

from __future__ import annotations

from .._core import devices as _devices
from .._core import publish as _publish
from .._functions.random import device_generator as _of_key
from ._need import is_available, number, with_device

__all__ = ["get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state", "set_rng_state_all"]


def _all() -> list:
    return [_of_key(f"cuda:{i}") for i in range(len(_devices.devices_of("cuda")))]


def _of(device):
    return _of_key(f"cuda:{number(device)}")


@with_device
def get_rng_state(device="cuda"):
    """The state of a device's generator: bytes as the host's, or seed and offset where it counts."""
    return _of(device).get_state()


def get_rng_state_all() -> list:
    """A state for every device."""
    return [g.get_state() for g in _all()]


def set_rng_state(new_state, device="cuda") -> None:
    """Set the state of a device's generator; nothing without devices, where torch keeps it for later."""
    if is_available():
        _of(device).set_state(new_state)


def set_rng_state_all(new_states) -> None:
    """Set the states of all devices' generators."""
    for g, state in zip(_all(), new_states):
        g.set_state(state)


def manual_seed(seed) -> None:
    """Seed the generator of the current device; without devices nothing beyond a look at the number."""
    seed = int(seed)
    if is_available():
        _of(None).manual_seed(seed)


def manual_seed_all(seed) -> None:
    """Seed the generators of all devices."""
    seed = int(seed)
    for g in _all():
        g.manual_seed(seed)


def seed() -> None:
    """Seed the generator of the current device from the operating system."""
    if is_available():
        _of(None).seed()


def seed_all() -> None:
    """Seed the generators of all devices, alike, from the operating system."""
    first, *others = _all() or (None,)
    found = None if first is None else first.seed()
    for g in others:
        g.manual_seed(found)


@with_device
def initial_seed() -> int:
    """The seed of the current device's generator."""
    return _of(None).initial_seed()


__getattr__ = _publish.missing("torch.cuda.random")
