"""The state of a generator that counts: the seed, and how far it has come (layer 0).

A device that draws its numbers itself (setting "random", see `config.py`) needs no more; the numbers are made in the program that uses them
(`_ops/counted.py`).  State bytes and offsets are laid out as those of PyTorch's CUDA generator, the numbers are not its.
"""

from __future__ import annotations

import numpy as np

from . import config

STEP = 4  # what one draw adds to the offset: PyTorch's are multiples of it
_STATE = np.dtype([("seed", "<u8"), ("offset", "<u8")])


def counts(device) -> bool:
    """Whether the generators of a device count: an accelerator's, where the setting says so."""
    return device != "cpu" and config.get("random") == "device"


def packed(seed, offset) -> np.ndarray:
    """The state as bytes."""
    return np.frombuffer(np.array((seed, offset), _STATE).tobytes(), np.uint8).copy()


def unpacked(state) -> tuple[int, int]:
    """Seed and offset of state bytes; torch's errors."""
    state = np.asarray(state)
    if state.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if state.size != _STATE.itemsize:
        raise RuntimeError("RNG state is wrong size")
    blob = np.frombuffer(state.tobytes(), _STATE)[0]
    return int(blob["seed"]), checked(int(blob["offset"]))


def checked(offset) -> int:
    """An offset, or torch's error."""
    if offset % STEP:
        raise RuntimeError("offset must be a multiple of 4")
    return offset


def key_at(seed, offset) -> int:
    """The key of the draw at a place, as a signed integer of 64 bits: for one seed another at each place (SplitMix64's mixing, twice)."""
    key = _mixed(_mixed(seed) + offset)
    return key - 2**64 if key >= 2**63 else key


def _mixed(n):
    n = (n + 0x9E3779B97F4A7C15) % 2**64
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    n = (n ^ n >> 27) * 0x94D049BB133111EB % 2**64
    return n ^ n >> 31
