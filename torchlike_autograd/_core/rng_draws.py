"""The distributions with a fixed number of draws per value, as PyTorch's CPU kernels draw them.

Every function returns a fresh contiguous array and moves the generator exactly as far as torch
moves it, so draws of different kinds can follow each other in one stream. Values are filled in
memory order; ``dtype`` is a NumPy dtype, with ``jnp.bfloat16`` for bfloat16. Argument
errors carry torch's words.

How a float comes from the stream: float32 uses the low 24 bits of one 32-bit word, float64 the
low 53 bits of one 64-bit word, and the 16-bit types are float32 draws, rounded. Where a kernel
computes in double precision whatever the dtype, its docstring says "in double".
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from .rng_math import affine, box_muller, f4, f8, libm, u8
from .rng_stream import Generator

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Shape = int | Sequence[int]

F2, BF2, F4, F8 = (np.dtype(t) for t in (np.float16, jnp.bfloat16, f4, f8))
DIGITS = {F2: 11, BF2: 8, F4: 24, F8: 53}  # bits of precision, the hidden one included
LARGEST = {dtype: float(jnp.finfo(dtype).max) for dtype in DIGITS}
_COMPLEX = {np.dtype(np.complex64): F4, np.dtype(np.complex128): F8}
_CHUNK = 1 << 16  # values per pass: temporaries stay in the cache

# dtype: torch's name of the type, and the C++ name that some messages use
NAMES = {
    "bool": ("Bool", "bool"),
    "uint8": ("Byte", "unsigned char"),
    "int8": ("Char", "signed char"),
    "int16": ("Short", "short int"),
    "int32": ("Int", "int"),
    "int64": ("Long", "long int"),
    "uint16": ("UInt16", "short unsigned int"),
    "uint32": ("UInt32", "unsigned int"),
    "uint64": ("UInt64", "long unsigned int"),
    "float16": ("Half", "c10::Half"),
    "bfloat16": ("BFloat16", "c10::BFloat16"),
    "float32": ("Float", "float"),
    "float64": ("Double", "double"),
    "complex64": ("ComplexFloat", "c10::complex<float>"),
    "complex128": ("ComplexDouble", "c10::complex<double>"),
}
INTEGERS = [np.dtype(t) for t in ("uint8", "int8", "int16", "int32", "int64")]
ALL_TYPES = {np.dtype(bool), *INTEGERS, *DIGITS}


def require(condition: bool, message: str) -> None:
    """Raise a RuntimeError, torch's usual error, unless the condition holds."""
    if not condition:
        raise RuntimeError(message)


def require_kernel(kernel: str, dtype: np.dtype, supported: Container[np.dtype]) -> None:
    """Raise torch's error for a dtype that a kernel was not compiled for."""
    if dtype not in supported:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{NAMES[dtype.name][0]}'")


def narrow(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert as C++ does: to a 16-bit float by way of float32, to an integer by way of int64."""
    if dtype in (F2, BF2):
        values = values.astype(f4)
    elif dtype.kind in "iu":
        values = values.astype(np.int64)
    return values.astype(dtype, copy=False)


def uniform01(gen: Generator, count: int, dtype: DTypeLike) -> np.ndarray:
    """``count`` draws in [0, 1) as float32 (one word each) or float64 (two words each)."""
    if dtype == F8:
        return (gen.long_words(count) & u8(2**53 - 1)).view(np.int64) * 2.0**-53
    low_bits = gen.words(count).astype(np.uint32) & np.uint32(2**24 - 1)
    return low_bits.view(np.int32).astype(f4) * f4(2.0**-24)


def shaped(shape: Shape) -> tuple[tuple[int, ...], int]:
    """The shape as a tuple, and its number of elements."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return shape, math.prod(shape)


def uniform(gen: Generator, shape: Shape, dtype: DTypeLike, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """``rand`` and ``uniform_``: ``u * (high - low) + low``, rounded once. Bit-equal to torch.

    A result that was rounded up to ``high`` becomes ``low``. Complex types draw the real and the
    imaginary part in turn.
    """
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    if dtype in _COMPLEX:
        if not size:
            return np.empty(shape, dtype)  # without a look at the bounds
        return uniform(gen, (*shape, 2), _COMPLEX[dtype], low, high).view(dtype).reshape(shape)
    check_uniform(dtype, low, high)
    wide = F8 if dtype == F8 else F4
    first, last = wide.type(low), wide.type(high)
    out = np.empty(size, dtype)
    with gen.lock:
        for start in range(0, size, _CHUNK):
            u = uniform01(gen, min(_CHUNK, size - start), wide)
            out[start : start + u.size] = affine(u, last - first, first)
    if (low, high) != (0, 1) or dtype in (F2, BF2):
        first, last = narrow(np.array([low, high], F8), dtype)
        out[out == last] = first
    return out.reshape(shape)


def check_uniform(dtype: np.dtype, low: float, high: float) -> None:
    """torch's complaints about an interval."""
    require_kernel("check_uniform_bounds", dtype, DIGITS)
    name, cpp_name = NAMES[dtype.name]
    largest = LARGEST[dtype]
    require(abs(low) <= largest, f"from is out of bounds for {cpp_name}")
    require(abs(high) <= largest, f"to is out of bounds for {cpp_name}")
    require(
        low <= high,
        f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}",
    )
    require(
        high - low <= largest,
        f"uniform_ expects to-from <= std::numeric_limits<{name}>::max(), but found to={high:g} and from={low:g} which result in to-from to exceed the limit",
    )


def normal(
    gen: Generator,
    shape: Shape,
    dtype: DTypeLike,
    mean: float = 0.0,
    std: float = 1.0,
    contiguous: bool = True,
) -> np.ndarray:
    """``randn`` and ``normal_``. Bit-equal to torch (float64: as far as the C library is the same).

    Sixteen or more values of a contiguous tensor are made in blocks; fewer, or the values of a
    tensor that is not contiguous (say so), are made one by one in double, two uniforms giving two
    normals of which the second may wait in the generator. Only the one-by-one path reads or
    leaves a waiting normal. Complex values have half the variance in each part.
    """
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    check_normal(dtype, size, std)
    if dtype in _COMPLEX:
        parts = normal(gen, (*shape, 2), _COMPLEX[dtype], mean, std / math.sqrt(2), contiguous)
        return parts.view(dtype).reshape(shape)
    with gen.lock:
        if size >= 16 and contiguous:
            return _normal_blocks(gen, size, dtype, mean, std).reshape(shape)
        return narrow(affine(_normal_pairs(gen, size), std, mean), dtype).reshape(shape)


def check_normal(dtype: np.dtype, size: int, std: float) -> None:
    """torch's complaints about a deviation and a type."""
    require(std >= 0, f"normal expects std >= 0.0, but found std {std:g}")
    if size and dtype not in _COMPLEX:
        require_kernel("normal_kernel_cpu", dtype, DIGITS)


def _normal_blocks(gen: Generator, size: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    """Box-Muller in blocks of 16; a block of its own overwrites the end of an incomplete one."""
    u = _block_uniforms(gen, size, dtype)
    values = np.empty(u.size, dtype)
    for start in range(0, u.size, _CHUNK):
        values[start : start + _CHUNK] = box_muller(u[start : start + _CHUNK], mean, std)
    if size % 16 == 0:
        return values
    out = values[:size].copy()
    out[-16:] = values[-16:]
    return out


def _block_uniforms(gen: Generator, size: int, dtype: np.dtype) -> np.ndarray:
    """The uniforms of the whole blocks, and of the block that stands for an incomplete one.

    Between them float32 and float64 skip the draws of the incomplete block, as torch fills all
    places before it makes the last sixteen anew; the 16-bit types do not draw those.
    """
    wide = F8 if dtype == F8 else F4
    whole, rest = size - size % 16, size % 16
    u = np.empty(whole + (16 if rest else 0), wide)
    for start in range(0, whole, _CHUNK):
        stop = min(start + _CHUNK, whole)
        u[start:stop] = uniform01(gen, stop - start, wide)
    if rest:
        if dtype == wide:
            uniform01(gen, rest, wide)
        u[whole:] = uniform01(gen, 16, wide)
    return u


def _normal_pairs(gen: Generator, count: int) -> np.ndarray:
    """Standard normals in double: the waiting one first, then pairs, cosine before sine."""
    waiting = [] if gen.pending_normal is None or not count else [gen.pending_normal]
    if waiting:
        gen.pending_normal = None
    u = uniform01(gen, (count - len(waiting) + 1) // 2 * 2, F8).reshape(-1, 2)
    radius, angle = np.sqrt(-2.0 * libm("log1p", -u[:, 1])), 2.0 * math.pi * u[:, 0]
    pairs = np.stack([radius * libm("cos", angle), radius * libm("sin", angle)], axis=1)
    values = np.concatenate([waiting, pairs.reshape(-1)])
    if values.size > count:
        gen.pending_normal = float(values[-1])
    return values[:count]


def normal_tensor(gen: Generator, mean: float | np.ndarray, std: float | np.ndarray, dtype: DTypeLike = None,
                  contiguous: bool = True) -> np.ndarray:
    """``torch.normal`` with an array for the mean, the deviation or both.

    A number for the deviation scales the normals as they are made; otherwise standard normals are
    multiplied by ``std``, then ``mean`` is added, each step rounded to the output's dtype.
    """
    if dtype is None:
        dtype = mean.dtype if isinstance(mean, np.ndarray) else std.dtype
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
    if not isinstance(std, np.ndarray):
        return _in_place(np.add, normal(gen, shape, dtype, 0.0, std, contiguous), mean)
    require(std.dtype.kind != "c", "normal expects standard deviation to be non-complex")
    require(bool((std >= 0).all()), "normal expects all elements of std >= 0.0")
    return _in_place(np.add, _in_place(np.multiply, normal(gen, shape, dtype, contiguous=contiguous), std), mean)


def _in_place(function: np.ufunc, out: np.ndarray, other: float | np.ndarray) -> np.ndarray:
    """``out op= other`` as torch computes it.

    Neither numbers, nor arrays of no dimension, nor integers widen the computation; 16-bit floats
    compute in float32, where an array of no dimension is not rounded first.
    """
    wide = F4 if out.dtype in (F2, BF2) else out.dtype
    if not isinstance(other, np.ndarray) or other.dtype.kind in "iub":
        other = narrow(np.asarray(other), out.dtype)
    elif other.ndim or not out.ndim:
        wide = np.promote_types(wide, F4 if other.dtype in (F2, BF2) else other.dtype)
    return narrow(function(out.astype(wide), other.astype(wide)), out.dtype)


def exponential(gen: Generator, shape: Shape, dtype: DTypeLike, lambd: float = 1.0) -> np.ndarray:
    """``exponential_``: ``-1/lambd * log1p(-u)`` in double. Bit-equal to torch."""
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    check_exponential(dtype, size, lambd)
    with gen.lock:
        u = uniform01(gen, size, F8)
    return narrow((-1.0 / lambd) * libm("log1p", -u), dtype).reshape(shape)


def check_exponential(dtype: np.dtype, size: int, lambd: float) -> None:
    """torch's complaints about a rate and a type."""
    require(lambd > 0, f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    if size:
        _check_real("Exponential", NAMES[dtype.name][0], dtype)


def cauchy(gen: Generator, shape: Shape, dtype: DTypeLike, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
    """``cauchy_``: ``median + sigma * tan(pi * (u - 1/2))`` in double, the sum fused. Bit-equal."""
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    require(sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _check_real("Cauchy", NAMES[dtype.name][1], dtype)
    with gen.lock:
        u = uniform01(gen, size, F8)
    return narrow(affine(libm("tan", math.pi * (u - 0.5)), sigma, median), dtype).reshape(shape)


def _check_real(distribution: str, shown: str, dtype: np.dtype) -> None:
    require(
        dtype in DIGITS,
        f"{distribution} distribution is a continuous probability distribution. dtype must be a floating point but you specified {shown}",
    )


def log_normal(gen: Generator, shape: Shape, dtype: DTypeLike, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
    """``log_normal_``: the exponential of normals made one by one, in double. Bit-equal."""
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    require(std > 0, f"log_normal_ expects std > 0.0, but found std={std:g}")
    if size:
        require_kernel("log_normal_cpu", dtype, DIGITS)
    with gen.lock:
        values = _normal_pairs(gen, size)
    return narrow(libm("exp", affine(values, std, mean)), dtype).reshape(shape)


def geometric(gen: Generator, shape: Shape, dtype: DTypeLike, p: float) -> np.ndarray:
    """``geometric_``: ``ceil(log(u) / log1p(-p))`` in double. Bit-equal to torch."""
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    require(0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if size:
        require_kernel("geometric_cpu", dtype, ALL_TYPES - {np.dtype(bool)})
    with gen.lock:
        u = uniform01(gen, size, F8)
    with np.errstate(divide="ignore", invalid="ignore"):
        return narrow(np.ceil(np.log(u) / math.log1p(-p)), dtype).reshape(shape)


def bernoulli(gen: Generator, p: float | np.ndarray, shape: Shape, dtype: DTypeLike) -> np.ndarray:
    """``bernoulli``, ``bernoulli_`` and dropout's mask: ``u < p``, cast. Bit-equal to torch.

    A number or a float64 array compares in double (two words per value), any other array in
    float32 (one word). Earlier versions handed a single ``p`` to MKL on Intel machines; torch
    2.13 contains no such code.
    """
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    wide = F8
    if isinstance(p, np.ndarray):
        wide = F8 if p.dtype == F8 else F4
        p = _checked_probabilities(p, wide, dtype, shape)
    else:
        check_bernoulli(dtype, size, p)
    with gen.lock:
        return (uniform01(gen, size, wide) < p).astype(dtype).reshape(shape)


def check_bernoulli(dtype: np.dtype, size: int, p: float) -> None:
    """torch's complaints about a probability and a type."""
    require(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if size:
        require_kernel("bernoulli_scalar_cpu_", dtype, ALL_TYPES)


def _checked_probabilities(p: np.ndarray, wide: np.dtype, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """One probability per value of the output."""
    flat = np.broadcast_to(p, shape).reshape(-1)
    if flat.size:
        require_kernel("bernoulli_tensor_cpu_self_", dtype, ALL_TYPES)
        require_kernel("bernoulli_tensor_cpu_p_", p.dtype, DIGITS)
    require(
        bool(((flat >= 0) & (flat <= 1)).all()),
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
        "improved?  If so, please report an enhancement request to PyTorch.)",
    )
    return flat.astype(wide)
