"""torch.distributions.von_mises (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Distribution, Elementwise, Located, checked, take
from .utils import lazy_property

__all__ = ["VonMises"]

# Modified Bessel functions of orders 0 and 1: Abramowitz and Stegun, 9.8.1 to 9.8.4, up to 3.75 and from there on
_SMALL = ((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
          (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3))
_LARGE = ((0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1, 0.392377e-2),
          (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1, -0.420059e-2))


def _polynomial(y, coefficients):
    out = torch.full_like(y, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = c + y * out
    return out


def _log_modified_bessel_fn(x, order=0):
    """The logarithm of the modified Bessel function of order 0 or 1 of positive x."""
    square = (x / 3.75).pow(2)
    small = _polynomial(square, _SMALL[order])
    small = (x.abs() * small if order == 1 else small).log()
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return torch.where(x < 3.75, small, large)


def _rejection_sample(loc, concentration, proposal_r, x):
    """Best and Fisher (1979): a wrapped Cauchy proposal; all places propose until every one has accepted."""
    done = torch.zeros(x.shape, dtype=torch.bool, device=loc.device)
    while not done.all():
        u1, u2, u3 = torch.rand((3, *x.shape), dtype=loc.dtype, device=loc.device).unbind()
        z = torch.cos(math.pi * u1)
        f = (1 + proposal_r * z) / (proposal_r + z)
        c = concentration * (proposal_r - f)
        accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
        x = torch.where(accept, (u3 - 0.5).sign() * f.acos(), x)
        done = done | accept
    return (x + math.pi + loc) % (2 * math.pi) - math.pi


class VonMises(Located, Elementwise, Distribution):
    """Angles around `loc`, the normal distribution of the circle."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _tl_params = ("loc", "concentration")

    def __init__(self, loc, concentration, validate_args=None):
        take(self, validate_args, loc=loc, concentration=concentration)
        self._batch_shape = self.loc.shape

    def expand(self, batch_shape, _instance=None):
        try:
            return super().expand(batch_shape, _instance)
        except NotImplementedError:
            return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape), validate_args=self.__dict__.get("_validate_args"))

    def log_prob(self, value):
        checked(self, value)
        return self.concentration * torch.cos(value - self.loc) - math.log(2 * math.pi) - _log_modified_bessel_fn(self.concentration, order=0)

    @lazy_property
    def _loc(self):
        return self.loc.to(torch.double)

    @lazy_property
    def _concentration(self):
        return self.concentration.to(torch.double)

    @lazy_property
    def _proposal_r(self):
        """The parameter of the proposal; its series for small concentrations."""
        k = self._concentration
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return torch.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape=torch.Size()):
        """Drawn in double."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            x = torch.empty(shape, dtype=self._loc.dtype, device=self.loc.device)
            return _rejection_sample(self._loc, self._concentration, self._proposal_r, x).to(self.loc.dtype)

    @lazy_property
    def variance(self):
        """One minus the mean resultant length."""
        return 1 - (_log_modified_bessel_fn(self.concentration, order=1) - _log_modified_bessel_fn(self.concentration, order=0)).exp()
