"""Convolutions on the host (layer 3): the windows laid out as rows of a matrix, and one product for each group."""

from __future__ import annotations

import math

import numpy as np

from .host_indexed import Unsupported
from .host_threads import alone

LARGEST = 1 << 22  # elements of all windows
MOST = 1 << 28  # multiplications; larger convolutions are left to XLA


def convolution(params, eqn):
    """XLA's conv_general_dilated: strides, dilation of both sides, padding (negative too), groups of features or of examples."""
    numbers, dtype = params["dimension_numbers"], np.dtype(eqn.outvars[0].aval.dtype)
    shape, kernel = ([v.aval.shape[i] for i in spec] for v, spec in zip(eqn.invars, (numbers.lhs_spec, numbers.rhs_spec)))
    out = [eqn.outvars[0].aval.shape[i] for i in numbers.out_spec]
    groups, examples = params["feature_group_count"], params["batch_group_count"]
    rows, inner, features = shape[0] // examples * math.prod(out[2:]), math.prod(kernel[1:]), kernel[0] // (groups * examples)
    several = groups * examples
    if dtype.char not in "fdFD" or any(v.aval.dtype != dtype for v in eqn.invars) or 0 in (*shape, *kernel, *out):
        raise Unsupported(eqn.primitive.name)
    if several * rows * inner > LARGEST or several * rows * inner * features > MOST:
        raise Unsupported(eqn.primitive.name)
    spaced = _spaced(shape, params["padding"], params["lhs_dilation"])
    order = np.argsort(numbers.out_spec)  # where batch, features and space are in the result
    steps = [*zip(params["window_strides"], params["rhs_dilation"])]
    space = len(out) - 2

    def run(x, k):
        x = spaced(np.transpose(x, numbers.lhs_spec))
        each = x.strides[2:]
        windows = np.lib.stride_tricks.as_strided(
            x, (examples, shape[0] // examples, groups, shape[1] // groups, *out[2:], *kernel[2:]),
            (x.strides[0] * (shape[0] // examples), x.strides[0], x.strides[1] * (shape[1] // groups), x.strides[1],
             *(s * step for s, (step, _) in zip(each, steps)), *(s * step for s, (_, step) in zip(each, steps))), writeable=False)
        # examples, groups | batch, space | features, window
        matrix = windows.transpose(0, 2, 1, *range(4, 4 + space), 3, *range(4 + space, 4 + 2 * space)).reshape(several, rows, inner)
        weights = np.transpose(k, numbers.rhs_spec).reshape(several, features, inner).transpose(0, 2, 1)
        found = np.matmul(matrix, weights).reshape(several, shape[0] // examples, *out[2:], features)
        found = np.moveaxis(found, (0, -1), (1, 2)).reshape(out)  # batch, groups and features, space
        return np.transpose(found, order)

    return alone(run, several * rows * inner * features)


def _spaced(shape, padding, dilation):
    """f(x): zeros between the elements of each dim of space and around them; negative padding takes elements off."""
    if all(d == 1 for d in dilation) and not any(map(any, padding)):
        return lambda x: x
    sizes = [(n - 1) * d + 1 for n, d in zip(shape[2:], dilation)]
    around = [(max(lo, 0), max(hi, 0)) for lo, hi in padding]
    whole = (*shape[:2], *(lo + n + hi for n, (lo, hi) in zip(sizes, around)))
    inside = (slice(None), slice(None), *(slice(lo, lo + n, d) for (lo, _), n, d in zip(around, sizes, dilation)))
    kept = (slice(None), slice(None), *(slice(max(-lo, 0), n - max(-hi, 0)) for (lo, hi), n in zip(padding, whole[2:])))

    def run(x):
        out = np.zeros(whole, x.dtype)
        out[inside] = x
        return out[kept]

    return run
