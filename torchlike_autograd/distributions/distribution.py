"""torch.distributions.distribution (layer 8): what every distribution has; parameters that broadcast; parameters given as probabilities or as logits."""

from __future__ import annotations

from functools import partial

from .._core.saying import warn
from . import _names as torch
from . import constraints
from ._validity import described, require, shown
from .utils import are_numbers, broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Distribution"]

_NOTHING = torch.Size()


class Distribution:
    """A distribution over tensors: `batch_shape` independent ones side by side, each over events of `event_shape`.

    With `validate_args` (the default, see `set_default_validate_args`) parameters and values are checked: ValueError for one outside of its constraint, where
    the record runs (at the call itself where a `try` around it would catch it).
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions check their arguments unless told otherwise."""
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=_NOTHING, event_shape=_NOTHING, validate_args=None):
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            _check_parameters(self)
        super().__init__()

    def expand(self, batch_shape, _instance=None):
        """The distribution with its batch dims broadcast to `batch_shape`."""
        raise NotImplementedError

    @property
    def batch_shape(self):
        """The shape of the independent distributions side by side."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one event."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """{name of a parameter: its constraint}."""
        raise NotImplementedError

    @property
    def support(self):
        """The constraint that values satisfy."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape=_NOTHING):
        """Values of `sample_shape` + batch shape + event shape, without a graph."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=_NOTHING):
        """The same with gradients in the parameters, where `has_rsample`."""
        raise NotImplementedError

    def sample_n(self, n):
        """`sample((n,))`; deprecated."""
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value):
        """The logarithm of the density or of the probability at `value`, of the batch shape."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of values up to `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """The value up to which the probability is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution along a first dim, where `has_enumerate_support`."""
        raise NotImplementedError

    def entropy(self):
        """The entropy, of the batch shape."""
        raise NotImplementedError

    def perplexity(self):
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=_NOTHING):
        """`sample_shape` + batch shape + event shape."""
        return torch.Size(torch.Size(sample_shape) + self._batch_shape + self._event_shape)

    def _validate_sample(self, value):
        """Raise ValueError unless `value` may stand in `log_prob`."""
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        own = value.size()[value.dim() - len(self._event_shape):]
        if own != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.size()), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warn(f"{type(self)} does not define `support` to enable sample validation. Please initialize the distribution "
                 "with `validate_args=False` to turn off validation.")
            return
        require(support.check(value), _wrong_value, support, value, self)

    def _get_checked_instance(self, cls, _instance=None):
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                                      "must also define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self):
        return described(type(self).__name__, shown(self))


def ended(old, new, batch_shape, event_shape=_NOTHING):
    """End an expansion: shapes and the choice of checks."""
    Distribution.__init__(new, torch.Size(batch_shape), event_shape, validate_args=False)
    new._validate_args = old._validate_args
    return new


def checked(distribution, value):
    """A value that may stand in `log_prob`, where that is asked for."""
    if distribution._validate_args:
        distribution._validate_sample(value)
    return value


def _check_parameters(distribution):
    try:
        wanted = distribution.arg_constraints
    except NotImplementedError:
        wanted = {}
        warn(f"{type(distribution)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the distribution "
             "with `validate_args=False` to turn off validation.")
    for name, constraint in wanted.items():
        if constraints.is_dependent(constraint):
            continue
        if name not in distribution.__dict__ and isinstance(getattr(type(distribution), name), lazy_property):
            continue  # made from the other parameters
        value = getattr(distribution, name)
        require(constraint.check(value), partial(_wrong_parameter, name), constraint, value, distribution)


def _wrong_parameter(name, constraint, value, distribution):
    return (f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {distribution!r} "
            f"to satisfy the constraint {constraint}, but found invalid values:\n{value}")


def _wrong_value(support, value, distribution):
    return (f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support ({support}) "
            f"of the distribution {distribution!r}, but found invalid values:\n{value}")


def declaring(instance, attribute):
    """The class of an instance that declares an attribute itself."""
    return next(c for c in type(instance).__mro__ if attribute in vars(c))


class Elementwise:
    """What stands before Distribution where parameters (named in `_tl_params`) broadcast with each other to the batch shape."""

    _tl_params: tuple = ()

    def expand(self, batch_shape, _instance=None):
        cls = declaring(self, "_tl_params")
        new = self._get_checked_instance(cls, _instance)
        shape = torch.Size(batch_shape)
        for name in cls._tl_params:
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(shape))
        self._tl_expand_more(new, shape)
        return ended(self, new, shape)

    def _tl_make_parts(self):
        """Distributions that this one is made of; their checks come before its own."""

    def _tl_expand_more(self, new, shape):
        """What else an expanded instance has."""


def take(new, validate_args, /, **given):
    """Begin an `Elementwise` with its parameters, broadcast with each other."""
    for name, value in zip(given, broadcast_all(*given.values())):
        setattr(new, name, value)
    new._tl_make_parts()
    shape = _NOTHING if are_numbers(*given.values()) else getattr(new, next(iter(given))).size()
    Distribution.__init__(new, shape, validate_args=validate_args)


class Located:
    """A distribution around `loc`, which is its mean and its mode."""

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc


_EITHER = "Either `probs` or `logits` must be specified, but not both."


class Binary(Elementwise):
    """What stands before Distribution where a probability of success is given as `probs` or as `logits`; the other one is computed when it is read.

    `both` makes tensors of what was given (and of what belongs to it), `more` is kept beside.
    """

    _tl_params = ("probs", "logits")

    def _tl_note_param(self):
        """What else is kept of the parameter that was given."""

    @lazy_property
    def logits(self):
        """Log-odds of success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """Probabilities of success."""
        return logits_to_probs(self.logits, is_binary=True)


class Noted(Binary):
    """A `Binary` that keeps the parameter that was given under a second name."""

    def _tl_note_param(self):
        self._param = _given(self)

    def _tl_expand_more(self, new, shape):
        new._tl_note_param()

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._param.size()


def _given(binary):
    """The parameter that a `Binary` was given."""
    return binary.__dict__["probs" if "probs" in binary.__dict__ else "logits"]


def take_either(new, probs, logits, validate_args, /, both=broadcast_all, **more):
    """Begin a `Binary` with the one of both that is given."""
    if (probs is None) == (logits is None):
        raise ValueError(_EITHER)
    name, value = ("logits", logits) if probs is None else ("probs", probs)
    setattr(new, name, *both(value))
    new._tl_note_param()
    new.__dict__.update(more)
    Distribution.__init__(new, _given(new).size(), validate_args=validate_args)
