"""torch.distributions.constraint_registry (layer 8): transforms from unconstrained numbers to a constraint.

`biject_to(constraint)` is one to one; `transform_to(constraint)` may not be, and is easier to optimize through.
"""

from __future__ import annotations

from numbers import Number

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Factories of transforms by type of constraint."""

    def __init__(self):
        self._registry = {}
        super().__init__()

    def register(self, constraint, factory=None):
        """Register a factory (constraint -> transform) for a type of constraint; without one, a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {kind}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint):
        """The transform to a constraint; NotImplementedError where none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _register(*kinds, of=(biject_to, transform_to)):
    def give(make):
        for registry in of:
            for kind in kinds:
                registry.register(kind, lambda constraint, r=registry: make(constraint, r))
        return make

    return give


def _moved(base, loc, scale):
    return transforms.ComposeTransform([base, transforms.AffineTransform(loc, scale)])


@_register(constraints.real)
def _to_real(constraint, registry):
    return transforms.identity_transform


@_register(constraints.independent)
def _to_independent(constraint, registry):
    return transforms.IndependentTransform(registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)


@_register(constraints.positive, constraints.nonnegative)
def _to_greater(constraint, registry):
    return _moved(transforms.ExpTransform(), constraint.lower_bound, 1)


@_register(constraints.less_than)
def _to_less(constraint, registry):
    return _moved(transforms.ExpTransform(), constraint.upper_bound, -1)


@_register(constraints.half_open_interval, constraints.interval)
def _to_interval(constraint, registry):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, Number) and low == 0 and isinstance(high, Number) and high == 1:
        return transforms.SigmoidTransform()
    return _moved(transforms.SigmoidTransform(), low, high - low)


@_register(constraints.simplex, of=(biject_to,))
def _bijectively_to_simplex(constraint, registry):
    return transforms.StickBreakingTransform()


@_register(constraints.simplex, of=(transform_to,))
def _to_simplex(constraint, registry):
    return transforms.SoftmaxTransform()


@_register(constraints.lower_cholesky, of=(transform_to,))
def _to_lower_cholesky(constraint, registry):
    return transforms.LowerCholeskyTransform()


@_register(constraints.positive_definite, constraints.positive_semidefinite, of=(transform_to,))
def _to_positive_definite(constraint, registry):
    return transforms.PositiveDefiniteTransform()


@_register(constraints.corr_cholesky)
def _to_corr_cholesky(constraint, registry):
    return transforms.CorrCholeskyTransform()


@_register(constraints.cat)
def _to_cat(constraint, registry):
    return transforms.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


@_register(constraints.stack)
def _to_stack(constraint, registry):
    return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)
