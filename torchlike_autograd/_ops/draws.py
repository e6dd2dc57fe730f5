"""Random numbers as functions of their parameters (layer 2): the numbers come as an input, the derivatives are implicit ones.

The derivatives themselves are in `slopes.py`.
"""

from __future__ import annotations

import jax.numpy as jnp

from .conventions import aligned, char_name, partials
from .registry import SMOOTH, UNIMPLEMENTED, at, call, fails, op, real
from .slopes import beta_slope, gamma_slope


def _in_double(f, *arrays):
    """f of the arrays in float64, rounded back."""
    return f(*(x.astype(jnp.float64) for x in arrays)).astype(arrays[0].dtype)


def _same_types(expected, *others):
    for x in others:
        if x.dtype != expected.dtype:
            raise RuntimeError(f"Found dtype {char_name(x)} but expected {char_name(expected)}")


@partials(lambda t, out, a, drawn: t * _in_double(gamma_slope, a, out), None)
def _gamma_draw(a, drawn):
    return drawn


@op("_drawn_gamma(Tensor self, Tensor drawn) -> Tensor", forward="_standard_gamma", node="StandardGammaBackward0", names=(), second="_standard_gamma_grad", nondiff=("drawn",),
    saves={"self": ("self", "result")}, samples=[call(real(3, low=0.5), at(0.3, 0.05, 0.7, grad=False))], kinks=[call(at(2.0, 0.01), at(0.0, 1e-30, grad=False))])
def _drawn_gamma(self, drawn):
    """Gamma draws of the shapes `self`, with the implicit derivative."""
    return _gamma_draw(self, drawn)


@op("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", out=False, node="StandardGammaGradBackward0", derivative=UNIMPLEMENTED, method=False, nondiff=("output",),
    samples=[call(real(3, low=0.5, grad=False), at(0.3, 0.05, 0.7, grad=False))], kinks=[call(at(2.0, 0.01, grad=False), at(0.0, 1e-30, grad=False))],
    errors=[fails(call(at(2.0, grad=False), at(2.0, grad=False, dtype="float32")), RuntimeError, "Found dtype Float but expected Double"),
            fails(call(at(2, dtype="int64", grad=False), at(2, dtype="int64", grad=False)), NotImplementedError, "\"_standard_gamma_grad_cpu\" not implemented for 'Long'")])
def _standard_gamma_grad(self, output):
    """The derivative of gamma draws in their shapes."""
    _same_types(self, output)
    if self.dtype not in (jnp.float32, jnp.float64):
        raise NotImplementedError(f"\"_standard_gamma_grad_cpu\" not implemented for '{char_name(self)}'")
    a, x = jnp.broadcast_arrays(*aligned(self, output))
    return _in_double(gamma_slope, a, x)


@op("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", out=False, node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, method=False,
    samples=[call(at(1e-4, 2e-5, grad=False), at(0.5, 1.5, grad=False), at(1.0, 4.0, grad=False))], kinks=SMOOTH,
    errors=[fails(call(at(0.5, grad=False), at(2.0, grad=False, dtype="float32"), at(3.0, grad=False)), RuntimeError, "Found dtype Float but expected Double")])
def _dirichlet_grad(x, alpha, total):
    """The derivative of Dirichlet draws in their own concentrations; `total` is the sum of the concentrations."""
    _same_types(x, alpha, total)
    if x.dtype not in (jnp.float32, jnp.float64):
        raise NotImplementedError(f"\"_dirichlet_grad_cpu\" not implemented for '{char_name(x)}'")
    x, alpha, total = jnp.broadcast_arrays(*aligned(x, alpha, total))
    return _in_double(lambda x, a, t: beta_slope(x, a, t - a), x, alpha, total)


# Draws through which backward raises

@op("_drawn_dirichlet(Tensor self, Tensor drawn) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, second="aten::_sample_dirichlet", names=(),
    nondiff=("drawn",), samples=[call(real(3, low=0.5, grad=False), real(3, grad=False))], kinks=SMOOTH)
def _drawn_dirichlet(self, drawn):
    """Dirichlet draws."""
    return drawn


@op("_drawn_binomial(Tensor count, Tensor prob, Tensor drawn) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, second="aten::binomial", names=(),
    nondiff=("drawn",), samples=[call(real(3, low=0.5, grad=False), real(3, grad=False), real(3, grad=False))], kinks=SMOOTH)
def _drawn_binomial(count, prob, drawn):
    """Binomial draws."""
    return drawn
