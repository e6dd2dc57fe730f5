"""Convolution (layer 2): one operator for every rank, plain or transposed, as in torch."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from .._core import precision
from .conventions import char_name, only, type_words
from .memory import channels_of_any, steps_in_time
from .registry import SMOOTH, call, fails, op, real

_LETTERS = "DHW"


def spread(name, values, n):
    """One value for each of n dims, from one or n."""
    if len(values) == 1:
        return values * n
    if len(values) != n:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, but got "
                           f"{name}={list(values)}")
    return values


def _asks_onednn(x):
    """Whether oneDNN's kernel takes such a tensor, which refuses in words of its own; float32 is its only where the batch is worth it."""
    return str(x.dtype) == "bfloat16" or (str(x.dtype) == "float32" and x.shape[0] > 1)


def _no_descriptor(transposed):
    return RuntimeError(f"could not create a primitive descriptor for the {'de' * transposed}convolution forward propagation primitive. Run workload with "
                        "environment variable ONEDNN_VERBOSE=all to get additional diagnostic information.")


def _no_dilation(x, dilation, transposed):
    """What torch's kernels say to a dilation of zero."""
    if _asks_onednn(x):
        if not transposed:
            return RuntimeError("non-positive dilation is not supported")
        return RuntimeError("dimensions are invalid") if len(dilation) == 3 else _no_descriptor(True)
    shown = [1, *dilation] if len(dilation) == 1 else list(dilation)  # torch knows one dimension as two
    if transposed:
        shown = ", ".join(f"dilation_{side}: {d}" for side, d in zip(("depth", "height", "width")[-len(shown):], shown))
    return RuntimeError(f"dilation should be greater than zero, but got {shown}")


_MOST_PADDING = (2**63 - 1) // 2  # of which twice is a number of 64 bits


def _check_numbers(x, stride, padding, dilation, transposed, output_padding, groups):
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(p < 0 for p in output_padding):
        raise RuntimeError("negative output_padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d < 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")
    if any(d == 0 for d in dilation):
        raise _no_dilation(x, dilation, transposed)
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def _sized(values):
    return "(" + " x ".join(map(str, values)) + ")"


def _refuse_empty_kernel(x, weight, transposed):
    """In the words of the kernel that takes it; where there is no batch, of the look for its first element."""
    kernel = weight.shape[2:]
    if not x.shape[0]:
        raise IndexError("select(): index 0 out of range for tensor of size [0] at dimension 0")
    if _asks_onednn(x):
        raise _no_descriptor(transposed)
    if len(kernel) == 3 and transposed:
        raise RuntimeError("non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width) tensor expected for weight, but got: "
                           f"{list(weight.shape)}")
    if len(kernel) == 3:
        raise RuntimeError(f"kernel size should be greater than zero, but got: {' x '.join(map(str, kernel))} (TxHxW)")
    height, width = (1, *kernel) if len(kernel) == 1 else kernel
    raise RuntimeError(f"kernel size should be greater than zero, but got kernel_height: {height} kernel_width: {width}")


def _check_shapes(x, weight, bias, stride, padding, dilation, transposed, groups):
    n, size = weight.ndim - 2, list(weight.shape)
    if weight.shape[0] < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {size} instead")
    if weight.shape[0] % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size [{size}] instead")
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    given = "transposed=1" if transposed else f"groups={groups}"
    if x.ndim != weight.ndim:
        raise RuntimeError(f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {size}, but got {x.ndim}-dimensional input of size "
                           f"{list(x.shape)} instead")
    if x.shape[1] != channels:
        raise RuntimeError(f"Given {given}, weight of size {size}, expected input{list(x.shape)} to have {channels} channels, but got {x.shape[1]} "
                           "channels instead")
    if bias is not None and (bias.ndim != 1 or bias.shape[0] != outputs):
        given = f"Given {given}, weight" if transposed else "Given weight"
        raise RuntimeError(f"{given} of size {size}, expected bias to be 1-dimensional with {outputs} elements, but got bias of size "
                           f"{list(bias.shape)} instead")
    for i, p in enumerate(padding):
        if p > _MOST_PADDING:
            raise RuntimeError(f"Given padding={p} at dimension {i} , expected padding to be at most {_MOST_PADDING}")
    if 0 in weight.shape[2:]:
        _refuse_empty_kernel(x, weight, transposed)
    if transposed:
        return
    padded = [x.shape[2 + i] + 2 * padding[i] for i in range(n)]
    kernel = [dilation[i] * (weight.shape[2 + i] - 1) + 1 for i in range(n)]
    if any(k > p for k, p in zip(kernel, padded)):
        raise RuntimeError(f"Calculated padded input size per channel: {_sized(padded)}. Kernel size: {_sized(kernel)}. Kernel size can't be greater than "
                           "actual input size")


def _by_onednn(x, weight, groups):
    """Whether PyTorch asks oneDNN for a convolution of float32 (it has several threads), and not its own kernels, which complain in other words."""
    return groups > 1 or all(n > 3 for n in weight.shape[-2:]) or x.shape[0] > 1 or math.prod(x.shape[:4]) > 20480


def _check_types(x, weight, bias, groups):
    if bias is not None and bias.dtype != x.dtype:
        raise RuntimeError(f"Input type ({_plain_name(x)}) and bias type ({_plain_name(bias)}) should be the same")
    if weight.dtype != x.dtype:
        if jnp.iscomplexobj(x):
            raise RuntimeError(f"Input type ({type_words(char_name(x))}) and weight type ({type_words(char_name(weight))}) should be the same")
        if str(x.dtype) == "float32" and _by_onednn(x, weight, groups):
            raise RuntimeError(f"Input type ({type_words(char_name(x))}) and weight type ({type_words(char_name(weight))}) should be the same or input should be "
                               "a MKLDNN tensor and weight is a dense tensor")
        raise RuntimeError(f"expected scalar type {char_name(x)} but found {char_name(weight)}")


def _check_halves(types, result, statics):
    """The same for half precision, before it is widened."""
    own, weight, bias = (types[n].dtype if n in types and types[n].device != "number" else None for n in ("input", "weight", "bias"))
    if own.name not in ("float16", "bfloat16"):
        return
    if bias is not None and bias is not own:
        raise RuntimeError(f"Input type ({_PLAIN[own.name]}) and bias type ({_PLAIN[bias.name]}) should be the same")
    if weight is not own:
        raise RuntimeError(f"expected scalar type {own.char_name} but found {weight.char_name}")


_PLAIN = {"float64": "double", "float32": "float", "int64": "long int", "int32": "int", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
          "complex64": "c10::complex<float>", "complex128": "c10::complex<double>", "bool": "bool", "int8": "signed char", "uint8": "unsigned char",
          "int16": "short int"}


def _plain_name(x):
    return _PLAIN[str(x.dtype)]


def _check_output_padding(output_padding, stride, dilation):
    if all(p < s or p < d for p, s, d in zip(output_padding, stride, dilation)):
        return
    names = ("depth", "height", "width")[-len(stride):] if len(stride) > 1 else ("height", "width")
    wide = [(1, *v) if len(v) == 1 else v for v in (stride, dilation)]
    shown = (0, *output_padding) if len(output_padding) == 1 else output_padding
    parts = [f"{word}_{d}: {v}" for word, values in (("output_padding", shown), ("stride", wide[0]), ("dilation", wide[1])) for d, v in zip(names, values)]
    raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {' '.join(parts)}")


def _turned(weight, groups):
    """The kernel of a plain convolution that is the transpose of this one: mirrored, with outputs first."""
    n, shape = weight.ndim - 2, weight.shape
    w = weight.reshape(groups, shape[0] // groups, *shape[1:])
    w = jnp.swapaxes(w, 1, 2).reshape(shape[1] * groups, shape[0] // groups, *shape[2:])
    return lax.rev(w, tuple(range(2, n + 2)))


def _check_result(x, weight, stride, padding, dilation, output_padding, groups):
    """Refuse a transposed convolution whose padding takes more than there is: oneDNN gives an empty result where nothing is left."""
    sizes = [(s - 1) * st - 2 * p + d * (k - 1) + o + 1
             for s, k, st, p, d, o in zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)]
    lead = [1] * (len(sizes) == 1)  # torch knows one dimension as two
    if not x.shape[0]:
        if min(sizes) < 0:
            _refuse_size([0, weight.shape[1] * groups, *lead, *sizes])
    elif _asks_onednn(x):
        if min(sizes) < 0:
            raise RuntimeError("could not construct a memory descriptor using a format tag")
    elif min(sizes) < 1:
        given, left = (" x ".join(map(str, [*lead, *v])) for v in (x.shape[2:], sizes))
        raise RuntimeError(f"Given input size per channel: ({given}). Calculated output size per channel: ({left}). Output size is too small")


def _refuse_size(size):
    """Of an empty batch the result is made by a reshape, which reads -1 as a size to be found out."""
    at = next(i for i, s in enumerate(size) if s < 0)
    if size[at] != -1:
        raise RuntimeError(f"invalid shape dimension {size[at]} at index {at} of shape {size}")
    raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {size} because the unspecified dimension size -1 can be any value and is ambiguous")


def convolve(x, weight, stride, padding, dilation, transposed, output_padding, groups):
    """The convolution of (N, C, *) with a kernel, without bias; complex numbers by real parts."""
    if jnp.iscomplexobj(x):
        return _complex(x, weight, stride, padding, dilation, transposed, output_padding, groups)
    n = x.ndim - 2
    fields = {"rhs_dilation": dilation, "feature_group_count": groups, "precision": precision.of("conv")}
    if not transposed:
        return lax.conv_general_dilated(x, weight, stride, [(p, p) for p in padding], **fields)
    _check_result(x, weight, stride, padding, dilation, output_padding, groups)
    ends = [(dilation[i] * (weight.shape[2 + i] - 1) - padding[i]) for i in range(n)]
    pads = [(e, e + o) for e, o in zip(ends, output_padding)]
    if groups == 1:  # as it lies in memory, which conv_windows.py looks at
        weight, fields["dimension_numbers"] = lax.rev(weight, range(2, n + 2)), _numbers(n)
    else:
        weight = _turned(weight, groups)
    return lax.conv_general_dilated(x, weight, (1,) * n, pads, lhs_dilation=stride, **fields)


def _numbers(n):
    """Weights as (input channels, output channels, *K)."""
    plain = tuple(range(n + 2))
    return lax.ConvDimensionNumbers(plain, (1, 0, *plain[2:]), plain)


def _complex(x, weight, *structure):
    parts = [[convolve(p, q, *structure) for q in (jnp.real(weight), jnp.imag(weight))] for p in (jnp.real(x), jnp.imag(x))]
    return lax.complex(parts[0][0] - parts[1][1], parts[0][1] + parts[1][0])


_SAVED = dict.fromkeys(("input", "weight", "bias"), ("input", "weight"))
_PLAIN_CALL = ((1,), (0,), (1,), False, (0,), 1)


def _check_kernel(input, weight, stride, padding, dilation, transposed, kinds):
    """Refuse dtypes that torch's kernel for this convolution does not take; some take no integers but int64."""
    n = weight.ndim - 2
    wide = jnp.issubdtype(input.dtype, jnp.integer) and input.dtype != jnp.int64
    if transposed or any(d != 1 for d in dilation):
        return only(f"slow_conv_transpose{max(n, 2)}d_out_cpu" if transposed else "slow_conv_dilated<>", input, kinds.replace("i", "") if wide else kinds)
    if n < 3:
        return only("slow_conv2d_cpu", input, kinds)
    single = set(weight.shape[2:]) == {1} and set(stride) == {1} and set(padding) == {0}
    return only("slow_conv3d_cpu" if single else "compute_columns3d", input, kinds)


def _convolution(input, weight, bias, *, stride, padding, dilation, transposed, output_padding, groups, kinds="if"):
    n = weight.ndim - 2
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    stride, padding, dilation = spread("stride", stride, n), spread("padding", padding, n), spread("dilation", dilation, n)
    output_padding = spread("output_padding", output_padding, n)
    _check_numbers(input, stride, padding, dilation, transposed, output_padding, groups)
    _check_shapes(input, weight, bias, stride, padding, dilation, transposed, groups)
    _check_types(input, weight, bias, groups)
    if transposed and input.shape[0]:  # of no elements the kernel is not asked
        _check_output_padding(output_padding, stride, dilation)
    if 0 in input.shape[2:] and 0 not in input.shape[:2]:
        shown = [*input.shape[:2], *[1] * (n == 1), *input.shape[2:]]  # torch knows one dimension as two
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {shown}")
    if input.shape[0]:
        _check_kernel(input, weight, stride, padding, dilation, transposed, kinds)
    out = convolve(input, weight, stride, padding, dilation, transposed, output_padding, groups)
    if not input.shape[1]:
        return out[:, :0]  # torch 2.13: of no channels there are none
    return out if bias is None else out + bias.reshape((1, -1) + (1,) * n)


_SCHEMA = "(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> " \
    "Tensor"


@op(f"convolution{_SCHEMA}", lies=channels_of_any, node="ConvolutionBackward0", names=("torch.convolution",), out=False, empty="once", opmath=True, saves=_SAVED, check=_check_halves,
    samples=[call(real(2, 3, 5), real(4, 3, 2), real(4), *_PLAIN_CALL),
             call(real(1, 2, 4, 3), real(2, 1, 2, 2), None, (2, 1), (1, 0), (1, 1), False, (0, 0), 2),
             call(real(1, 2, 3, 2), real(2, 3, 2, 2), real(3), (2, 2), (1, 0), (1, 2), True, (1, 0), 1),
             call(real(1, 1, 2, 3, 2), real(1, 1, 1, 2, 2), real(1), (1,), (0,), (1,), False, (0,), 1),
             call(real(1, 4, 3), real(4, 2, 2), None, (2,), (0,), (1,), True, (1,), 2)],
    errors=[fails(call(real(2, 3, 5), real(4, 2, 2), None, *_PLAIN_CALL), RuntimeError,
                  "Given groups=1, weight of size [4, 2, 2], expected input[2, 3, 5] to have 2 channels, but got 3 channels instead"),
            fails(call(real(2, 2, 1), real(4, 2, 2), None, *_PLAIN_CALL), RuntimeError,
                  "Calculated padded input size per channel: (1). Kernel size: (2). Kernel size can't be greater than actual input size")],
    kinks=SMOOTH)
def convolution(input, weight, bias, *, stride, padding, dilation, transposed, output_padding, groups):
    """The convolution (cross-correlation) of (N, C, *) with (out, C/groups, *); transposed, of (N, C, *) with (C, out/groups, *)."""
    return _convolution(input, weight, bias, stride=stride, padding=padding, dilation=dilation, transposed=transposed, output_padding=output_padding,
                        groups=groups)


@op(f"_convolution_complex{_SCHEMA}", node="AddBackward0", names=(), zero_second=True, out=False,
    samples=[call(real(1, 1, 3, dtype="complex128"), real(1, 1, 2, dtype="complex128"), None, *_PLAIN_CALL)], kinks=SMOOTH)
def _convolution_complex(input, weight, bias, *, stride, padding, dilation, transposed, output_padding, groups):
    """The convolution of complex numbers, for which torch has no operator of its own."""
    return _convolution(input, weight, bias, stride=stride, padding=padding, dilation=dilation, transposed=transposed, output_padding=output_padding,
                        groups=groups, kinds="fc")


@op("conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", forward=False, lies=steps_in_time, node="ConvTbcBackward0", method=False, out=False, opmath=True,
    aliases=("torch.nn.functional.conv_tbc",), saves=dict.fromkeys(("self", "weight", "bias"), ("self", "weight", "bias")),
    samples=[call(real(4, 2, 3), real(2, 3, 2), real(2), 1)],
    errors=[fails(call(real(4, 2, 3), real(2, 2, 2), real(2)), RuntimeError, "Input dim 2 (input channels) is not == dim 1 in the weight tensor")],
    kinks=SMOOTH)
def conv_tbc(self, weight, bias, *, pad=0):
    """The convolution of (time, batch, channels) with (time, channels, outputs)."""
    if self.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if self.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    only("addmm_impl_cpu_", self, "ifc")
    out = convolve(jnp.transpose(self, (1, 2, 0)), jnp.transpose(weight, (2, 1, 0)), (1,), (pad,), (1,), False, (0,), 1)
    return jnp.transpose(out, (2, 0, 1)) + bias.reshape(1, 1, -1)


def output_size(size, kernel, stride, padding, dilation):
    """How many places a window takes."""
    return math.floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1


__all__ = ["convolution", "convolve", "output_size", "spread"]
