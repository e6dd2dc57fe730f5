"""Operators of torch.nn.functional: convolution, pooling, normalization, resizing, attention, recurrence."""

import zlib

import numpy as np


def reals(*shape, low=-2.0, high=2.0):
    """Nested lists of numbers, the same for everyone."""
    source = np.random.default_rng(zlib.crc32(str(shape).encode()))
    return np.round(source.uniform(low, high, shape), 3).tolist()
