"""Functions of torch with an underscore (layer 7): what torch's own Python and some libraries call below the public names.

What differs: the node of `_convolution` is that of `convolution`.
"""

from __future__ import annotations

from .._core.composite import COMPOSITES, composite, named


def _over_dim(name):
    def function(input, dim, half_to_float):
        if half_to_float:
            raise RuntimeError(f"{name[1:]} with half to float conversion is not supported on CPU")
        return named(name)(input, dim)

    function.__doc__ = f"`{name[1:]}` over a dim; half_to_float is refused, as on PyTorch's CPU."
    function.__name__ = function.__qualname__ = name
    composite(f"torch.{name}")(function)


_over_dim("_softmax")
_over_dim("_log_softmax")


@composite("torch._conj", "Tensor._conj")
def _conj(input):
    """A conjugate view of a complex tensor."""
    if not input.dtype.is_complex:
        raise RuntimeError('isComplexType(typeMetaToScalarType(dtype())) INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/c10/core/TensorImpl.h":1470, please '
                           "report a bug to PyTorch. ")
    return named("_conj")(input)


@composite("torch._conj_physical", "Tensor._conj_physical")
def _conj_physical(input):
    """The conjugate as a copy."""
    return named("conj_physical")(input)


@composite("torch._convolution")
def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, benchmark, deterministic, cudnn_enabled, allow_tf32=True):
    """`convolution` with the switches of a backend, which change nothing here."""
    return named("convolution")(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


@composite("torch._convolution_mode")
def _convolution_mode(input, weight, bias, stride, padding, dilation, groups):
    """A convolution whose padding is "same" or "valid"."""
    if padding not in ("same", "valid"):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return COMPOSITES[f"torch.nn.functional.conv{input.ndim - 2}d"](input, weight, bias, stride, padding, dilation, groups)


for _name in ("_safe_softmax", "_prelu_kernel"):
    composite(f"torch.{_name}")(named(_name))


@composite("torch._logcumsumexp")
def _logcumsumexp(input, dim):
    """`logcumsumexp`."""
    return named("logcumsumexp")(input, dim)


@composite("torch._is_zerotensor", "Tensor._is_zerotensor")
def _is_zerotensor(input):
    """False: zeros are tensors like others here."""
    return False


@composite("torch._reshape_from_tensor")
def _reshape_from_tensor(input, shape):
    """`input` in the sizes that a tensor holds."""
    return input.reshape(shape.tolist())
