"""torch.fft in terms of three transforms (layer 7): sizes, dims, norms and the dtypes they take."""

from __future__ import annotations

import operator

from .._core import config, dtypes, errors
from .._core.composite import COMPOSITES, composite, named
from .._core.dispatch import run
from .._core.record import thread
from .._core.shapes import wrap_dim
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .create import say_of_count
from .linalg import tensors
from .norm import into

_NORMS = {(True, None): 0, (True, "backward"): 0, (True, "forward"): 2, (True, "ortho"): 1,
          (False, None): 2, (False, "backward"): 2, (False, "forward"): 0, (False, "ortho"): 1}


def _norm(norm, forward):
    if (forward, norm) not in _NORMS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return _NORMS[forward, norm]


def _call(key, x, **statics):
    return run(spec_of(OPS[key], tuple(statics.items()), ("T",)), (x,))


def _floating(x, want_complex=False):
    """x in a dtype that can be transformed."""
    own = x.dtype
    if own.category < dtypes.FLOAT:
        own = config.default_dtype()
    if own in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"Unsupported dtype {own.char_name}")
    if want_complex:
        own = own.complex_here()
    return x if own is x.dtype else x.to(own)


def _check_points(n):
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def _resized(x, dims, sizes):
    """x cut or filled with zeros at the end of dims."""
    pad, filled = [0] * (2 * x.ndim), False
    for d, n in zip(dims, sizes):
        have = x.shape[d]
        if n < have:
            x = x.narrow(d, 0, n)
        elif n > have:
            pad[2 * (x.ndim - 1 - d) + 1] = n - have
            filled = True
    return named("constant_pad_nd")(x, pad) if filled else x


def _index(n):
    return None if n is None else operator.index(n)


_OUT_NAMES = {"fft2": "fftn", "ifft2": "fftn", "ifftn": "fftn", "rfft2": "rfftn", "irfft2": "irfftn", "hfft2": "hfftn"}  # what torch calls them there


def _refuse_out(name, out, want_complex):
    if out is None:
        return
    if out.dtype.is_complex != want_complex or out.dtype.category < dtypes.FLOAT:
        word = "complex" if want_complex else "floating point"
        raise RuntimeError(f"{_OUT_NAMES.get(name, name)} expects a {word} output tensor, but got {out.dtype.char_name}")


def _into(out, result, x, conjugate=False):
    """The transform of real numbers written to `out`; its conjugate is not cast."""
    if out is not None and conjugate and out.dtype is not result.dtype:
        raise RuntimeError(f"Found dtype {out.dtype.char_name} but expected {result.dtype.char_name}")
    return into("_fft_r2c", out, result, x)


# One dim

def _one_dim(x, dim):
    if not x.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, x.ndim)


def _to_complex(name, x, n, dim, norm, forward, out):
    _refuse_out(name, out, True)
    tensors(f"fft_{name}", input=x)
    n, x = _index(n), _floating(x)
    d = _one_dim(x, dim)
    size = _check_points(x.shape[d] if n is None else n)
    if n is not None:
        x = _resized(x, (d,), (size,))
    scale = _norm(norm, forward)
    if x.dtype.is_complex:
        return into("_fft_c2c", out, _call("_fft_c2c", x, dim=(d,), normalization=scale, forward=forward), x)
    result = _call("_fft_r2c", x, dim=(d,), normalization=scale, onesided=False)
    return _into(out, result, x) if forward else _into(out, result.conj(), x, True)


def _half(name, x, n, dim, norm, forward, out):
    tensors(f"fft_{name}", input=x)
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {x.dtype.char_name}")
    _refuse_out(name, out, True)
    n, x = _index(n), _floating(x)
    d = _one_dim(x, dim)
    size = _check_points(x.shape[d] if n is None else n)
    if n is not None:
        x = _resized(x, (d,), (size,))
    result = _call("_fft_r2c", x, dim=(d,), normalization=_norm(norm, forward), onesided=True)
    return _into(out, result, x) if forward else _into(out, result.conj(), x, True)


def _to_real(name, x, n, dim, norm, forward, out):
    tensors(f"fft_{name}", input=x)
    _refuse_out(name, out, False)
    n, x = _index(n), _floating(x, True)
    d = _one_dim(x, dim)
    size = _check_points(2 * (x.shape[d] - 1) if n is None else n)
    if n is not None:
        x = _resized(x, (d,), (size // 2 + 1,))
    if forward:
        x = x.conj()
    return into("_fft_c2r", out, _call("_fft_c2r", x, dim=(d,), normalization=_norm(norm, forward), last_dim_size=size), x)


def _publish_one(name, transform, forward, doc):
    def function(input, n=None, dim=-1, norm=None, *, out=None):
        return transform(name, input, n, dim, norm, forward, out)

    function.__name__ = function.__qualname__ = f"fft_{name}"
    function.__doc__ = doc
    composite(f"torch.fft.{name}")(function)


_publish_one("fft", _to_complex, True, "The discrete Fourier transform along a dim.")
_publish_one("ifft", _to_complex, False, "The inverse transform along a dim.")
_publish_one("rfft", _half, True, "The first half of the transform of real numbers.")
_publish_one("ihfft", _half, False, "The first half of the inverse transform of real numbers.")
_publish_one("irfft", _to_real, False, "The inverse of rfft.")
_publish_one("hfft", _to_real, True, "The transform of a signal of which half is given, because the other half is its mirror image.")


# Several dims

def _sizes(x, s, dim):
    """(dims, sizes) of a transform along several dims."""
    if dim is not None:
        dims = [_one_dim(x, d) for d in ((dim,) if isinstance(dim, int) else dim)]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    if s is not None:
        s = [operator.index(n) for n in ((s,) if isinstance(s, int) else s)]
        if dim is not None and len(dims) != len(s):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(s) > x.ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions.")
        if dim is None:
            dims = list(range(x.ndim - len(s), x.ndim))
        sizes = [x.shape[d] if n == -1 else n for d, n in zip(dims, s)]
    else:
        if dim is None:
            dims = list(range(x.ndim))
        sizes = [x.shape[d] for d in dims]
    for n in sizes:
        _check_points(n)
    return dims, sizes


def _last_size(name, x, s, dim):
    """(dims, sizes, length of the real result along the last dim) for a transform to real numbers."""
    dims, sizes = _sizes(x, s, dim)
    if not dims:
        raise RuntimeError(f"{name.replace('2', 'n')} must transform at least one axis")
    given = s is not None and (s if isinstance(s, int) else s[-1]) != -1
    last = _check_points(sizes[-1] if given else 2 * (x.shape[dims[-1]] - 1))
    sizes[-1] = last // 2 + 1
    return dims, sizes, last


def _fftn(name, x, s, dim, norm, forward, out):
    _refuse_out(name, out, True)
    dims, sizes = _sizes(x, s, dim)
    x = _resized(_floating(x, True), dims, sizes)
    return into("_fft_c2c", out, _call("_fft_c2c", x, dim=tuple(dims), normalization=_norm(norm, forward), forward=forward), x)


def _rfftn(name, x, s, dim, norm, forward, out):
    if x.dtype.is_complex:
        raise RuntimeError(f"{'rfftn' if name == 'rfft2' else name} expects a real-valued input tensor, but got {x.dtype.char_name}")
    _refuse_out(name, out, True)
    dims, sizes = _sizes(x, s, dim)
    x = _floating(x)
    if not dims:
        raise RuntimeError(f"{name.replace('2', 'n')} must transform at least one axis")
    x = _resized(x, dims, sizes)
    return into("_fft_r2c", out, _call("_fft_r2c", x, dim=tuple(dims), normalization=_norm(norm, True), onesided=True), x)


def _irfftn(name, x, s, dim, norm, forward, out):
    _refuse_out(name, out, False)
    dims, sizes, last = _last_size(name, x, s, dim)
    x = _resized(_floating(x, True), dims, sizes)
    return into("_fft_c2r", out, _call("_fft_c2r", x, dim=tuple(dims), normalization=_norm(norm, False), last_dim_size=last), x)


def _hfftn(name, x, s, dim, norm, forward, out):
    _refuse_out(name, out, False)
    dims, sizes, last = _last_size(name, x, s, dim)
    x = _resized(_floating(x, True), dims, sizes)
    scale = _norm(norm, True)
    if len(dims) > 1:
        x = _call("_fft_c2c", x, dim=tuple(dims[:-1]), normalization=scale, forward=True)
    x = x.conj()
    return into("_fft_c2r", out, _call("_fft_c2r", x, dim=(dims[-1],), normalization=scale, last_dim_size=last), x)


def _ihfftn(name, x, s, dim, norm, forward, out):
    dims, sizes = _sizes(x, s, dim)
    if x.dtype.is_complex:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {x.dtype.char_name}")
    x = _floating(x)
    if not dims:
        raise RuntimeError(f"{name.replace('2', 'n')} must transform at least one axis")
    x = _resized(x, dims, sizes)
    scale = _norm(norm, False)
    result = _call("_fft_r2c", x, dim=(dims[-1],), normalization=scale, onesided=True).conj()
    if len(dims) > 1:
        result = _call("_fft_c2c", result, dim=tuple(dims[:-1]), normalization=scale, forward=False)
    return into("_fft_c2c", out, result, x)


def _publish_several(name, transform, forward, doc, default):
    def function(input, s=None, dim=default, norm=None, *, out=None):
        tensors(f"fft_{name}", input=input)
        return transform(name, input, s, dim, norm, forward, out)

    function.__name__ = function.__qualname__ = f"fft_{name}"
    function.__doc__ = doc
    composite(f"torch.fft.{name}")(function)


for _end, _default, _where in (("2", (-2, -1), "two dims"), ("n", None, "several dims")):
    _publish_several(f"fft{_end}", _fftn, True, f"The discrete Fourier transform along {_where}.", _default)
    _publish_several(f"ifft{_end}", _fftn, False, f"The inverse transform along {_where}.", _default)
    _publish_several(f"rfft{_end}", _rfftn, True, f"The first half of the transform of real numbers along {_where}.", _default)
    _publish_several(f"irfft{_end}", _irfftn, False, f"The inverse of rfft{_end}.", _default)
    _publish_several(f"hfft{_end}", _hfftn, True, f"The transform along {_where} of a signal of which half is given.", _default)
    _publish_several(f"ihfft{_end}", _ihfftn, False, f"The first half of the inverse transform of real numbers along {_where}.", _default)


# Helpers

def _frequencies(name, ranges, n, d, out, dtype, device, requires_grad):
    if out is not None and dtype not in (None, out.dtype):
        raise RuntimeError(f"dtype {dtype.char_name} does not match dtype of out parameter ({out.dtype.char_name})")
    dtype = dtype or (config.default_dtype() if out is None else out.dtype)
    if dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    scale = 1.0 / (n * d) if n * d else float("inf") if n * d >= 0 else -float("inf")
    arange = COMPOSITES["torch.arange"]
    parts = [arange(a, b, dtype=dtype, device=device) for a, b in ranges]
    result = named("mul")(parts[0] if len(parts) == 1 else named("cat")(parts), scale)
    if out is not None and thread.state.grad and out.requires_grad:  # before it is resized
        raise errors.out_requires_grad(f"aten::fft_{name}")
    say_of_count(out, result.numel())
    result = into(name, out if out is None else out.resize_(result.shape), result)
    return result.requires_grad_() if requires_grad else result


@composite("torch.fft.fftfreq")
def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """The frequencies that the entries of fft belong to."""
    n = operator.index(n)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return _frequencies("fftfreq", [(0, (n + 1) // 2), (-(n // 2), 0)], n, d, out, dtype, device, requires_grad)


@composite("torch.fft.rfftfreq")
def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """The frequencies that the entries of rfft belong to."""
    n = operator.index(n)
    count = int(n / 2) + 1
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    return _frequencies("rfftfreq", [(0, count)], n, d, out, dtype, device, requires_grad)


def _dims(x, dim):
    if dim is None:
        return tuple(range(x.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if dims and not x.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return tuple(wrap_dim(d, x.ndim) for d in dims)


@composite("torch.fft.fftshift")
def fftshift(input, dim=None):
    """Frequency 0 moved to the middle."""
    tensors("fft_fftshift", input=input)
    dims = _dims(input, dim)
    return named("roll")(input, tuple(input.shape[d] // 2 for d in dims), dims)


@composite("torch.fft.ifftshift")
def ifftshift(input, dim=None):
    """The inverse of fftshift."""
    tensors("fft_ifftshift", input=input)
    dims = _dims(input, dim)
    return named("roll")(input, tuple((input.shape[d] + 1) // 2 for d in dims), dims)


__all__ = ["fftfreq", "rfftfreq"]
