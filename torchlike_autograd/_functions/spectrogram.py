"""torch.stft and istft (layer 7): frames, windows, transforms, and the sum of overlapping frames."""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes, levels
from .._core.composite import COMPOSITES, composite, named
from .._core.numeric import say_once
from .._core.saying import warn
from .._core.words import type_name
from .._tensor import from_array, wrap
from .arguments import handed

_UNTAPERED = "A window was not provided. A rectangular window will be applied"
_AT = "Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/SpectralOps.cpp:"
_TAPER = f"To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`. ({_AT}"


def _fft(name, x, n, normalized):
    return COMPOSITES[f"torch.fft.{name}"](x, n, -1, "ortho" if normalized else None)


def _typed(x):
    return f"CPU{x.dtype.char_name}Type" if x.dtype.is_complex or x.dtype is dtypes.bool_ else f"torch.{x.dtype.char_name}Tensor"


def _flag(x):
    return "None" if x is None else str(int(x))


def _shown(window):
    return "None" if window is None else f"{_typed(window)}{{{list(window.shape)}}}"


def _real_of(dtype):
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)


def _centred(window, win_length, n_fft, like):
    """The window with zeros at both ends (ones where there is none), of n_fft elements; None where that changes nothing."""
    if window is None:
        if win_length == n_fft:
            return None
        real = _real_of(like.dtype)
        window = from_array(np.ones(win_length, real.np), real, like=like)
    left = (n_fft - win_length) // 2
    return window if win_length == n_fft else named("constant_pad_nd")(window, (left, n_fft - win_length - left))


def _check_stft(x, n_fft, hop, win_length, window, said):
    if x.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"{said} : expected a tensor of floating point or complex values")
    if x.ndim not in (1, 2):
        raise RuntimeError(f"{said} : expected a 1D or 2D tensor")
    size = x.shape[-1]
    if n_fft <= 0 or n_fft > size:
        raise RuntimeError(f"{said} : expected 0 < n_fft < {size}, but got n_fft={win_length}")  # as torch says it
    if hop <= 0:
        raise RuntimeError(f"{said} : expected hop_length > 0, but got hop_length={hop}")
    if win_length <= 0 or win_length > n_fft:
        raise RuntimeError(f"{said} : expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and (window.ndim != 1 or window.shape[0] != win_length):
        raise RuntimeError(f"{said} : expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(window.shape)}")


def _padded(x, n_fft, pad_mode):
    shape = tuple(x.shape)
    if x.dtype is dtypes.bool_ and pad_mode == "reflect":
        raise NotImplementedError("\"reflection_pad1d\" not implemented for 'Bool'")
    x = x.view((1,) * (3 - len(shape)) + shape)
    x = COMPOSITES["torch.nn.functional.pad"](x, [n_fft // 2, n_fft // 2], pad_mode)
    return x.view(tuple(x.shape)[-len(shape):])


def _frames(x, n_fft, hop, aligned):
    """The overlapping stretches of rows; `aligned` is the length of a window whose first frame begins with the row, so that zeros stand beside it."""
    size = n_fft if aligned is None else aligned
    count = 1 + (x.shape[1] - size) // hop
    if aligned is not None:
        beside = (n_fft - aligned) // 2
        x = named("constant_pad_nd")(x, (beside, beside))
    row, step = x.stride()
    return x.as_strided((x.shape[0], count, n_fft), (row, hop * step, step))


_OPTIONS = "bool normalized = False, bool onesided = None, bool return_complex = None, bool align_to_window = None)"
_SIZES = " * (Tensor input, int n_fft, int hop_length = None, int win_length = None, Tensor window = None, "


def _no_size(given):
    """torch's words for a size of frames that is no int."""
    return TypeError(f"stft() received an invalid combination of arguments - got ({', '.join(map(type_name, given))}), but expected one of:\n"
                     f"{_SIZES}bool center = True, str pad_mode = \"reflect\", {_OPTIONS}\n{_SIZES}{_OPTIONS}\n")


@composite("torch.stft", "Tensor.stft")
def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None,
         align_to_window=None):
    """The transforms of overlapping frames: (N, frequencies, frames) of (N, T), or without N."""
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if isinstance(n_fft, float):
        raise _no_size((input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window))
    if center:
        input = _padded(input, n_fft, pad_mode)
    if window is None:
        say_once(_UNTAPERED + ",which is known to cause spectral leakage. Other windows such as torch.hann_window or torch.hamming_window are recommended to "
                 f"reduce spectral leakage.{_TAPER}835.)")
    if return_complex is None and not (input.is_complex() or (window is not None and window.is_complex())):
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future "
                           "PyTorch release.")
    if return_complex is not None and not return_complex:
        say_once("stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all inputs, and "
                 "return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the complex output to recover the old return "
                 "format. (Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/SpectralOps.cpp:874.)")
    hop = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    said = (f"stft({_typed(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={win_length}, window={_shown(window)}, "
            f"normalized={_flag(normalized)}, onesided={_flag(onesided)}, return_complex={_flag(return_complex)}, align_to_window={_flag(align_to_window)})")
    _check_stft(input, n_fft, hop, win_length, window, said)
    if input.dtype.name in ("float16", "bfloat16"):
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {input.dtype.char_name}")
    whole = input.is_complex() or (window is not None and window.is_complex())
    if onesided and whole:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    onesided = not whole if onesided is None else onesided
    x = input if input.ndim == 2 else input.unsqueeze(0)
    frames = _frames(x, n_fft, hop, win_length if align_to_window else None)
    taper = _centred(window, win_length, n_fft, input)
    frames = frames if taper is None else named("mul")(frames, taper)
    out = _fft("rfft" if onesided else "fft", frames, None, normalized).transpose_(1, 2)
    out = out if input.ndim == 2 else out.squeeze_(0)
    return out if return_complex is None or return_complex else named("view_as_real")(out)


# Back

def _check_istft(x, n_fft, hop, win_length, window, onesided, said):
    if x.numel() == 0:
        raise RuntimeError(f"{said} : input tensor cannot be empty.")
    if x.ndim not in (2, 3):
        raise RuntimeError(f"{said} : expected a tensor with 3 or 4 dimensions, but got {x.ndim + 1}")
    rows = x.shape[-2]
    if onesided and n_fft // 2 + 1 != rows:
        raise RuntimeError(f"{said} : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when onesided=True, but "
                           f"got {rows}")
    if not onesided and n_fft != rows:
        raise RuntimeError(f"{said} : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when onesided=False, but "
                           f"got {rows}")
    if not 0 < hop <= win_length:
        raise RuntimeError(f"{said} : expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{said} : expected 0 < win_length <= n_fft")
    if window is not None and (window.ndim != 1 or window.shape[0] != win_length):
        raise RuntimeError(f"{said} : Invalid window shape. window has to be 1D and length of `win_length`")


def _overlapped(frames, hop):
    """The sum of frames (N, frames, n) at their places: (N, T)."""
    n, count, width = frames.shape
    size = width + hop * (count - 1)
    return named("col2im")(frames.transpose(1, 2), [1, size], [1, width], [1, 1], [0, 0], [1, hop]).reshape(n, size)


@composite("torch.istft", "Tensor.istft")
def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False):
    """The signal of least squared distance from given transforms of its frames."""
    handed("torch.istft", input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
    if window is None:
        say_once(f"{_UNTAPERED}.Please provide the same window used by stft to make the inversion lossless.{_TAPER}1035.)")
    if not input.is_complex():
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    hop = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if input.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-input.ndim - 1}, {input.ndim}], but got -3)")
    said = (f"istft({_typed(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={win_length}, window={_shown(window)}, "
            f"center={_flag(center)}, normalized={_flag(normalized)}, onesided={_flag(onesided)}, length={length}, return_complex={_flag(return_complex)})")
    half = input.shape[-2] != n_fft if onesided is None else onesided
    _check_istft(input, n_fft, hop, win_length, window, half, said)
    if half and return_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    x = (input if input.ndim == 3 else input.unsqueeze(0)).transpose(1, 2)
    frames = _fft("irfft", x, n_fft, normalized) if half or not return_complex else _fft("ifft", x, None, normalized)
    taper = _centred(window, win_length, n_fft, input)
    if taper is None:
        taper = from_array(np.ones(n_fft, _real_of(frames.dtype).np), _real_of(frames.dtype), like=frames)
    weight = _overlapped(named("pow")(taper, 2).expand(1, x.shape[1], n_fft), hop)
    return _settled(_overlapped(named("mul")(frames, taper), hop), weight, n_fft, center, length, input.ndim == 3, said)


def _settled(y, weight, n_fft, center, length, batched, said):
    size = y.shape[-1]
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else size - n_fft // 2 if center else size
    y, weight = y[:, start:min(end, size)], weight[:, start:min(end, size)]
    if 0 in weight.shape:
        raise RuntimeError("min(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
    if not np.abs(wrap(levels.of_all_examples(weight.detach()._tl_value()))._tl_numpy()).min(initial=math.inf) > 1e-11:
        raise RuntimeError(f"{said} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    out = named("div")(y, weight)
    out = out if batched else named("squeeze")(out, 0)
    if end > size:
        warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please check your center and "
             f"hop_length settings. ({_AT}1199.)")
        out = named("constant_pad_nd")(out, (0, end - size))
    return out
