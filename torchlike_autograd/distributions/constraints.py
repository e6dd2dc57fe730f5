"""torch.distributions.constraints (layer 8): sets of values.

`constraint.check(value)` is a boolean tensor: whether each event of `value` lies in the set; `event_dim` is the number of last dims that make up one event.
"""

from __future__ import annotations

from . import _names as torch

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than", "greater_than_eq",
           "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular",
           "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
           "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval"]


class Constraint:
    """A set of values; `is_discrete` says whether its events are integers, `event_dim` how many dims an event has."""

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """A tensor of the batch shape that says which events of `value` are in the set."""
        raise NotImplementedError

    def __repr__(self):
        return f"{type(self).__name__[1:]}()"


class _Dependent(Constraint):
    """A set that depends on other values."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self):
        return _known(self._is_discrete, "is_discrete")

    @property
    def event_dim(self):
        return _known(self._event_dim, "event_dim")

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """The same with more said about it."""
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x):
        """ValueError: nothing is known about the set."""
        raise ValueError("Cannot determine validity of dependent constraint")


def _known(value, name):
    if value is NotImplemented:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return value


def is_dependent(constraint):
    """Whether a constraint is one that depends on other values."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of distributions that is a constraint in an instance and a dependent constraint in the class."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        """As a decorator with arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def _last_dims_agree(constraint, value, ndims):
    """A check of every event, gathered over the last `ndims` dims."""
    result = constraint.check(value)
    if result.dim() < ndims:
        expected = constraint.event_dim + ndims
        raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
    return result.reshape((*result.shape[:result.dim() - ndims], -1)).all(-1)


class _IndependentConstraint(Constraint):
    """Events of a base constraint side by side along more dims; all of them have to be in its set."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError(f"reinterpreted_batch_ndims must be an int, got {type(reinterpreted_batch_ndims).__name__}")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}")
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        return _last_dims_agree(self.base_constraint, value, self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: a value has to be in the set for every component."""

    def __init__(self, base_constraint):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim

    def check(self, value):
        n = self.event_dim
        for_each = self.base_constraint.check(value.unsqueeze(-1 - n))
        if value.dim() < n:
            raise ValueError(f"Expected value.dim() >= {n} but got {value.dim()}")
        whole = value.dim() - n
        return for_each.reshape((*for_each.shape[:whole], -1)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros and a single one."""

    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


# Intervals: the bounds that an instance has, and how they print

class _Bounded(Constraint):
    _tl_bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        super().__init__()

    def __repr__(self):
        said = ", ".join(f"{name}={getattr(self, name)}" for name in self._tl_bounds)
        return f"{type(self).__name__[1:]}({said})"


class _Above(_Bounded):
    _tl_bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound
        Constraint.__init__(self)


class _Below(_Bounded):
    _tl_bounds = ("upper_bound",)

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound
        Constraint.__init__(self)


def _whole(value):
    return value % 1 == 0


class _IntegerInterval(_Bounded):
    """Integers from lower_bound to upper_bound."""

    is_discrete = True

    def check(self, value):
        return _whole(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """Integers up to upper_bound."""

    is_discrete = True

    def check(self, value):
        return _whole(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Integers from lower_bound on."""

    is_discrete = True

    def check(self, value):
        return _whole(value) & (value >= self.lower_bound)


class _Real(Constraint):
    """Everything but NaN."""

    def check(self, value):
        return value == value


class _GreaterThan(_Above):
    """Numbers above lower_bound."""

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    """Numbers from lower_bound on."""

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_Below):
    """Numbers below upper_bound."""

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers between the bounds, which belong to it."""

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    """Numbers between the bounds, of which the lower one belongs to it."""

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of nonnegative numbers whose sum is 1 within 1e-6."""

    event_dim = 1

    def check(self, value):
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of nonnegative numbers whose sum is at most upper_bound."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, x):
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


# Matrices

def _same_places(a, b):
    """Whether two stacks of matrices are equal everywhere, matrix by matrix."""
    return (a == b).flatten(-2).all(-1)


class _LowerTriangular(Constraint):
    """Square lower triangular matrices."""

    event_dim = 2

    def check(self, value):
        return _same_places(value.tril(), value)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value):
        return _same_places(value.tril(), value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    event_dim = 2

    def check(self, value):
        slack = torch.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = torch.norm(value.detach(), dim=-1)
        return _LowerCholesky().check(value) & (lengths - 1.0).abs().le(slack).all(dim=-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value):
        return torch.full(tuple(value.shape[:-2]), value.shape[-2] == value.shape[-1], dtype=torch.bool, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices, within 1e-6."""

    def check(self, value):
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if value.shape[-2] == value.shape[-1] else super().check(value)


def _where_symmetric(symmetric, value, check):
    """`check()` where all matrices are symmetric, decided without a look at the data; otherwise which are."""
    return torch.where(symmetric.all(), check(), symmetric) if value.shape[-2] == value.shape[-1] else symmetric


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without a negative eigenvalue."""

    def check(self, value):
        return _where_symmetric(super().check(value), value, lambda: torch.eigvalsh(value).ge(0).all(-1))


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value):
        return _where_symmetric(super().check(value), value, lambda: torch.cholesky_ex(value).info.eq(0))


# Constraints side by side

class _Sequence(Constraint):
    def __init__(self, cseq, dim):
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim
        super().__init__()

    @property
    def is_discrete(self):
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Sequence):
    """Constraints of pieces that are joined along `dim`, of the given lengths (1 each)."""

    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self):
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return torch.cat(checks, self.dim)


class _Stack(_Sequence):
    """Constraints of pieces that are stacked along `dim`."""

    def __init__(self, cseq, dim=0):
        super().__init__(cseq, dim)

    @property
    def event_dim(self):
        n = max(c.event_dim for c in self.cseq)
        return n + 1 if self.dim + n < 0 else n

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        pieces = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return torch.stack([c.check(v) for v, c in zip(pieces, self.cseq)], self.dim)


# Public names
dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
