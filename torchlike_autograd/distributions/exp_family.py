"""torch.distributions.exp_family (layer 8): densities h(x) exp(<eta, t(x)> - A(eta))."""

from __future__ import annotations

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with natural parameters eta and a log normalizer A(eta), from which the entropy follows."""

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        """The mean of log h(x)."""
        raise NotImplementedError

    def entropy(self):
        """A(eta) - <eta, grad A(eta)> - the mean of log h."""
        carrier = self._mean_carrier_measure
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*natural)
        slopes = differentiate(normalizer.sum(), natural, create_graph=True)
        out = normalizer - carrier
        for p, slope in zip(natural, slopes):
            out = out - (p * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return out


def differentiate(total, inputs, **kwargs):
    """`torch.autograd.grad`."""
    from ..autograd import grad  # cycle: none at run time

    return grad(total, inputs, **kwargs)
