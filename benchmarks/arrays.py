"""Starting values: NumPy arrays from a fixed seed, the same for every contestant."""

import itertools

import numpy as np


def generator() -> np.random.Generator:
    """Return the source that a step draws all of its arrays from."""
    return np.random.default_rng(0)


def normal(source: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Draw a float32 array of normal numbers."""
    return (scale * source.standard_normal(shape)).astype(np.float32)


def layers(source: np.random.Generator, sizes: tuple[int, ...], gain: float = 1.0) -> list:
    """Draw weight and bias of every layer between neighbours in `sizes`."""
    arrays = []
    for inputs, outputs in itertools.pairwise(sizes):
        arrays.append(normal(source, inputs, outputs, scale=gain * inputs**-0.5))
        arrays.append(np.zeros(outputs, np.float32))
    return arrays
