"""Dropout and random activations (layer 7): masks drawn on the host, everything else recorded."""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes, levels, rng, rng_draws
from .._core.composite import composite, named
from .._core.layouts import contiguous_format, in_memory_order
from .._core.nothing import Nothing, numbers
from .._core.numeric import cannot_hold
from .._core.saying import warn
from .._core.spread import beside
from .._tensor import Tensor, from_array, wrap
from . import counted
from .arguments import handed, no_tensor
from .create import zeros_like

_mul, _add, _div = named("mul"), named("add"), named("div")


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def noise_of(input, keep, features):
    """A mask of zeros and ones, one for each element or for each of the first two dims."""
    a = input._tl_v.aval
    shape = a.shape[:2] + (1,) * (a.ndim - 2) if features else a.shape
    if counted.by_device(a.device):
        return counted.like(counted.bernoulli(counted.own_generator(a.device), a.device, shape, a.dtype, keep), input)
    gen = rng.of_device(a.device).on_host()
    if levels.running():
        array, own = levels.draw(lambda shape: rng_draws.bernoulli(gen, keep, shape, a.dtype.np), shape)
        drawn = wrap(levels.drawn(array, a.dtype, own))
        return drawn if a.device == "cpu" else drawn.to(a.device)
    if a.device == "meta":
        return from_array(Nothing(shape, a.dtype.np), a.dtype, device="meta")
    if features:
        return beside(from_array(rng_draws.bernoulli(gen, keep, shape, a.dtype.np), a.dtype, like=input), input)
    drawn = in_memory_order(input, lambda shape: rng_draws.bernoulli(gen, keep, shape, a.dtype.np))
    return beside(from_array(drawn, a.dtype, like=input), input)


def _dropped(name, input, p, train, features=False, alpha=False, inplace=False):
    """What torch's `_dropout_impl` computes."""
    input, p, train = handed(f"torch.{name}_" if inplace else f"torch.{name}", input, p, train)
    p = float(p)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if p == 0 or not train or input.numel() == 0:
        return input
    multiply, add = (lambda x, y: x.mul_(y), lambda x, y: x.add_(y)) if inplace else (_mul, _add)
    if p == 1:
        return multiply(input, zeros_like(input))
    if features and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if input.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"result type {dtypes.float32.char_name} can't be cast to the desired output type {input.dtype.char_name}")
    noise = noise_of(input, 1 - p, features)
    if not alpha:
        return multiply(input, noise.div_(1 - p))
    scale = 1.7580993408473766  # selu: alpha * scale
    a = 1 / math.sqrt((scale * scale * p + 1) * (1 - p))
    shift = _add(noise, -1).mul_(scale * a).add_(scale * a * p)
    return add(multiply(input, noise.mul_(a)), shift)


def _plain(name, features, alpha):
    def function(input, p, train):
        return _dropped(name, input, p, train, features, alpha)

    def twin(input, p, train):
        return _dropped(name, input, p, train, features, alpha, True)

    function.__doc__ = f"torch.{name}."
    composite(f"torch.{name}")(function)
    composite(f"torch.{name}_")(twin)


_plain("dropout", False, False)
_plain("alpha_dropout", False, True)
_plain("feature_dropout", True, False)
_plain("feature_alpha_dropout", True, True)


@composite("torch.nn.functional.dropout")
def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with probability p and scales the others."""
    _check_probability(p)
    return _dropped("dropout", input, p, training, inplace=inplace)


@composite("torch.nn.functional.alpha_dropout")
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of selu's outputs."""
    _check_probability(p)
    return _dropped("alpha_dropout", input, p, training, alpha=True, inplace=inplace)


@composite("torch.nn.functional.feature_alpha_dropout")
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """`alpha_dropout` of whole channels."""
    _check_probability(p)
    return _dropped("feature_alpha_dropout", input, p, training, True, True, inplace)


def _batched(input, p, training, inplace, has_batch):
    """Dropout of whole channels, with a batch dim for the while where there is none."""
    x = input if has_batch else input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    out = _dropped("feature_dropout", x, p, training, True, inplace=inplace)
    return out if has_batch else out.squeeze_(0) if inplace else out.squeeze(0)


@composite("torch.nn.functional.dropout1d")
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check_probability(p)
    n = input.dim()
    if n not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {n}D input. Note that dropout1d exists to provide channel-wise "
                           f"dropout on inputs "
                           "with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    return _batched(input, p, training, inplace, n == 3)


@composite("torch.nn.functional.dropout2d")
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, H, W)."""
    _check_probability(p)
    n = input.dim()
    if n not in (3, 4):
        warn(f"dropout2d: Received a {n}-D input to dropout2d, which is deprecated and will result in an error in a future release. To "
             f"retain the behavior "
             "and silence this warning, please use dropout instead. Note that dropout2d exists to provide channel-wise dropout on inputs "
             "with 2 spatial "
             "dimensions, a channel dimension, and an optional batch dimension (i.e. 3D or 4D inputs).")
    if n == 3:
        warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
             "interpreted as shape "
             "(N, C, L), where C is the channel dim. This behavior will change in a future release to interpret the input as one without a batch "
             "dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.")
    return _dropped("feature_dropout", input, p, training, True, inplace=inplace)


@composite("torch.nn.functional.dropout3d")
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    _check_probability(p)
    n = input.dim()
    if n not in (4, 5):
        warn(f"dropout3d: Received a {n}-D input to dropout3d, which is deprecated and will result in an error in a future release. To "
             f"retain the behavior "
             "and silence this warning, please use dropout instead. Note that dropout3d exists to provide channel-wise dropout on inputs "
             "with 3 spatial "
             "dimensions, a channel dimension, and an optional batch dimension (i.e. 4D or 5D inputs).")
    return _batched(input, p, training, inplace, n == 5)


# Random slopes

_rrelu = named("rrelu_with_noise")


@composite("torch.nn.functional.rrelu")
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """Leaky relu; in training the slope of each negative element is drawn from [lower, upper)."""
    if levels.mapping():
        taken_apart = "" if levels.running()[-1].kind == levels.MAP else "_with_noise"
        raise RuntimeError(f"vmap: we do not yet support aten::rrelu{taken_apart}{'_' * bool(inplace)}. Please file an issue")
    if isinstance(lower, complex) or isinstance(upper, complex):
        raise cannot_hold(dtypes.float64)
    handed("torch.rrelu_" if inplace else "torch.rrelu", input, lower, upper, training)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    noise = beside(_slopes(input, lower, upper), input) if training else zeros_like(input)
    if inplace:
        return _in_place(input, noise, lower, upper, training)
    return _rrelu(input, noise, lower, upper, training)


@composite("torch.rrelu")
def torch_rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, generator=None):
    """Leaky relu; in training the slope of each negative element is drawn from [lower, upper)."""
    return rrelu(input, lower, upper, training)


@composite("torch.rrelu_", "torch.nn.functional.rrelu_")
def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """`rrelu` in place."""
    return rrelu(input, lower, upper, training, True)


def _in_place(input, noise, lower, upper, training):
    from .pointwise import twin_of

    return twin_of("rrelu_with_noise")(input, noise, lower, upper, training)


def _slopes(input, lower, upper):
    """1 where the input is positive, drawn slopes elsewhere (a draw for each of these, in order)."""
    x = input._tl_numpy()
    out = np.ones(x.size, x.dtype)
    below = x.reshape(-1) <= 0
    out[below] = rng_draws.uniform(rng.of_device(input._tl_v.aval.device).on_host(), (int(below.sum()),), np.float64, lower, upper)
    return from_array(out.reshape(x.shape), input.dtype, like=input)


@composite("torch.nn.functional.gumbel_softmax")
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of the Gumbel-softmax distribution; hard: one-hot in the forward pass."""
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    if not isinstance(logits, Tensor):
        raise no_tensor("empty_like", input=logits)
    a = logits._tl_v.aval
    if levels.running() or counted.by_device(a.device):
        gumbels = zeros_like(logits).exponential_().log().neg()
    else:
        drawn = numbers(a.device, a.shape, a.dtype, lambda shape: np.ascontiguousarray(
            rng_draws.exponential(rng.of_device(a.device).on_host(), shape, a.dtype.np, 1)).reshape(shape))
        gumbels = beside(from_array(drawn, a.dtype, like=logits), logits).log().neg()
    soft = _div(_add(logits, gumbels), tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return zeros_like(logits, memory_format=contiguous_format).scatter_(dim, index, 1.0) - soft.detach() + soft


__all__ = ["dropout", "gumbel_softmax", "rrelu"]
