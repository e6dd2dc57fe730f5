"""torch.nn.functional's resampling of images (layer 7): `interpolate` and its older names, grids, blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index

import numpy as np

from .._core.composite import COMPOSITES, composite, named
from .._core.saying import warn
from .._ops import patches as _patches_ops
from .._ops import resize as _resize_ops
from .._ops import sample as _sample_ops
from .._tensor import Tensor
from .arguments import handed, no_tensor

_ops = _patches_ops, _resize_ops, _sample_ops
_NEAREST = ("nearest", "area", "nearest-exact")
_WEIGHTED = {"linear": 3, "bilinear": 4, "trilinear": 5}


def _output(input, size, scale_factor, dim):
    """(size or None, factors or None), checked."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    own = list(input.shape[2:])
    if size is not None:
        if not isinstance(size, (list, tuple)):
            return [size] * dim, None
        if len(size) != dim:
            raise ValueError(f"Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of {own} and output "
                             f"size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format.")
        if not all(isinstance(x, (int, np.integer)) or (isinstance(x, Tensor) and not x.is_floating_point()) for x in size):
            raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types "
                            f"{[type(x) for x in size]}")
        return size, None
    if not isinstance(scale_factor, (list, tuple)):
        return None, [scale_factor] * dim
    if len(scale_factor) != dim:
        raise ValueError(f"Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of {own} and "
                         f"scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, "
                         "...,sK) format.")
    return None, list(scale_factor)


def _check_flags(input, mode, align_corners, antialias):
    if mode in _NEAREST and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input")


@composite("torch.nn.functional.interpolate")
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    """The input (N, C, *) at another size, or at sizes multiplied by factors."""
    dim = input.dim() - 2
    corners = False if align_corners is None and mode not in _NEAREST else align_corners
    if mode in _NEAREST:
        _check_flags(input, mode, align_corners, False)
    size, factors = _output(input, size, scale_factor, dim)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "area" and size is None:
        recompute_scale_factor = True
    if size is None:
        size = [_multiplied(s, f) for s, f in zip(input.shape[2:], factors)]
        factors = None if recompute_scale_factor else factors
    _check_flags(input, mode, align_corners, antialias)
    return _resized(input, size, factors, mode, corners, antialias)


def _multiplied(size, factor):
    out = float(size) * factor
    if not -2.0**63 <= out < 2.0**63:  # nor of NaN
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return math.floor(out)


def _resized(input, size, factors, mode, corners, antialias):
    rank = input.dim()
    if mode in ("nearest", "nearest-exact") and rank in (3, 4, 5):
        return named(f"{'upsample_nearest' if mode == 'nearest' else '_upsample_nearest_exact'}{rank - 2}d")(input, _ints(size), _floats(factors))
    if mode == "area" and rank in (3, 4, 5):
        return COMPOSITES[f"torch.nn.functional.adaptive_avg_pool{rank - 2}d"](input, size)
    if mode in _WEIGHTED and rank in (3, 4, 5):
        if rank != _WEIGHTED[mode]:
            raise NotImplementedError(f"Got {rank}D input, but {mode} mode needs {_WEIGHTED[mode]}D input")
        return named(f"_upsample_{mode}{rank - 2}d_aa" if antialias else f"upsample_{mode}{rank - 2}d")(input, _ints(size), corners, _floats(factors))
    if mode in ("bicubic", "lanczos") and rank == 4:
        if mode == "lanczos":
            if corners:
                raise ValueError("Lanczos mode does not support align_corners=True")
            if not antialias:
                raise ValueError("Lanczos mode requires antialias=True")
        return named(f"_upsample_{mode}2d_aa" if antialias else f"upsample_{mode}2d")(input, _ints(size), corners, _floats(factors))
    raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank}D) for the modes: nearest | linear | bilinear | bicubic | "
                              f"trilinear | lanczos | area | nearest-exact (got {mode})")


def _ints(size):
    try:
        return [s if isinstance(s, bool) else index(s) for s in size]
    except TypeError:
        return list(size)


def _floats(factors):
    return None if factors is None else [float(f) for f in factors]


def _old(name, instead):
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.{instead}` instead.")


@composite("torch.nn.functional.upsample")
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` by its old name."""
    _old("upsample", "interpolate")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite("torch.nn.functional.upsample_nearest")
def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` by the nearest element."""
    _old("upsample_nearest", "interpolate")
    return interpolate(input, size, scale_factor, mode="nearest")


@composite("torch.nn.functional.upsample_bilinear")
def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` linearly from corner to corner."""
    _old("upsample_bilinear", "interpolate")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# Grids

_MODES, _PADDINGS = {"bilinear": 0, "nearest": 1, "bicubic": 2}, {"zeros": 0, "border": 1, "reflection": 2}
_CHANGED = "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if the old " \
    "behavior is desired. See the documentation of grid_sample for details."


@composite("torch.grid_sampler")
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """The input at the places of a grid."""
    return named("grid_sampler_2d" if input.ndim == 4 else "grid_sampler_3d")(input, grid, interpolation_mode, padding_mode, align_corners)


@composite("torch.nn.functional.grid_sample")
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The input at the places of a grid, whose coordinates lie in [-1, 1]."""
    if mode not in _MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in _PADDINGS:
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    if align_corners is None:
        warn(_CHANGED)
        align_corners = False
    if not (isinstance(input, Tensor) and isinstance(grid, Tensor)):
        raise no_tensor("grid_sampler", input=input, grid=grid)
    return grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], align_corners)


@composite("torch.nn.functional.affine_grid")
def affine_grid(theta, size, align_corners=None):
    """The grid that a batch of affine maps makes of the regular one."""
    if align_corners is None:
        warn(_CHANGED)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    shown = f"torch.Size({list(theta.shape)})"
    n = len(size) - 2
    if n in (2, 3):
        if theta.dim() != 3 or theta.shape[-2] != n or theta.shape[-1] != n + 1:
            raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {shown}.")
    else:
        raise NotImplementedError(f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}.")
    if align_corners and min(size[2:]) == 1:
        warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an intended use case of "
             "affine_grid. See the documentation of affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return named("affine_grid_generator")(theta, [int(s) for s in size], align_corners)


# Blocks

def _pairs(*given):
    return [tuple(x) if isinstance(x, Iterable) else (x, x) for x in given]


@composite("torch.nn.functional.unfold")
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Every block of the input (N, C, H, W) as a column: (N, C * kernel, places)."""
    return named("im2col")(*handed("torch._C._nn.im2col", input, *_pairs(kernel_size, dilation, padding, stride)))


@composite("torch.nn.functional.fold")
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of columns at the places of their blocks: (N, C, *output_size)."""
    return named("col2im")(*handed("torch._C._nn.col2im", input, *_pairs(output_size, kernel_size, dilation, padding, stride)))
