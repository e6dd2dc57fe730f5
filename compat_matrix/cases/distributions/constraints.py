"""Constraints as values, and members that distributions and transforms have from their bases."""

from compat_matrix.cases.nn.script import script

script("distributions.constraints.checks", """
C = torch.distributions.constraints
x = torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, 3.5])
for c in (C.greater_than(0.5), C.greater_than_eq(0.5), C.less_than(1.0), C.half_open_interval(0.0, 1.0), C.interval(0.0, 1.0), C.integer_interval(0, 2), C.multinomial(3),
          C.positive, C.nonnegative, C.unit_interval, C.boolean, C.real, C.nonnegative_integer, C.positive_integer):
    look('checked', lambda: (repr(c), c.is_discrete, c.event_dim, c.check(x if c.event_dim == 0 else x.reshape(2, 3)), isinstance(c, C.Constraint)))
look('multinomial', lambda: (C.multinomial(3).check(torch.tensor([[1., 2., 0.], [1., 1., 0.], [-1., 2., 2.]])), C.multinomial(3).upper_bound))
look('simplex', lambda: (C.simplex.check(torch.tensor([[0.2, 0.8], [0.5, 0.6]])), C.simplex.event_dim))
i = C.independent(C.positive, 1)
look('independent', lambda: (repr(i), i.event_dim, i.is_discrete, i.check(x.reshape(2, 3)), i.base_constraint is C.positive, i.reinterpreted_batch_ndims))
look('too few dims', lambda: i.check(torch.tensor(1.0)))
k = C.cat([C.positive, C.real], dim=0, lengths=[2, 4])
look('cat', lambda: (k.check(x), k.is_discrete, k.event_dim))
s = C.stack([C.positive, C.less_than(1.0)], dim=0)
look('stack', lambda: (s.check(torch.stack([x, x])), s.is_discrete, s.event_dim))
look('dependent', lambda: (C.is_dependent(C.dependent), repr(C.dependent), C.dependent(is_discrete=True, event_dim=0).is_discrete))
look('not known', lambda: C.dependent.is_discrete)
look('not known', lambda: C.dependent.event_dim)
look('check', lambda: C.dependent.check(x))
class Mine:
    @C.dependent_property(is_discrete=False, event_dim=1)
    def support(self):
        return C.real
look('property', lambda: (Mine().support is C.real, C.is_dependent(Mine.support), Mine.support.event_dim, Mine.support.is_discrete))
look('abstract', lambda: C.Constraint().check(x))
look('mixture', lambda: (m := C.MixtureSameFamilyConstraint(C.positive), m.event_dim, m.is_discrete, m.base_constraint is C.positive, repr(m)))
look('mixture of others', lambda: C.MixtureSameFamilyConstraint(3))
look('mixture check', lambda: C.MixtureSameFamilyConstraint(C.positive).check(torch.ones(2)))
""")

script("distributions.constraints.members", """
D = torch.distributions
for d in (D.Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0])), D.Gamma(torch.tensor(2.0), torch.tensor(3.0)), D.Bernoulli(torch.tensor(0.3)), D.Dirichlet(torch.tensor([1.0, 2.0])),
          D.Categorical(torch.tensor([0.2, 0.8])), D.Uniform(0.0, 2.0)):
    look('members', lambda: (d.stddev, d.variance, repr(d.support), {k: repr(v) for k, v in d.arg_constraints.items()}, d.perplexity()))
class Mine(D.Distribution):
    pass
m = Mine(validate_args=False)
for n in ('variance', 'mean', 'mode', 'support', 'arg_constraints'):
    look('not written', lambda: getattr(m, n))
look('not written', lambda: m.stddev)
look('not written', lambda: m.perplexity())
for t in (D.ExpTransform(), D.AffineTransform(1.0, -2.0), D.SigmoidTransform(), D.StickBreakingTransform(), D.ReshapeTransform((4,), (2, 2)), D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))):
    look('shapes', lambda: (t.forward_shape((3, 4)), t.inverse_shape((3, 2, 2) if isinstance(t, D.ReshapeTransform) else (3, 4))))
    x = torch.tensor([[0.1, 0.2, 0.3, 0.4]])
    look('jacobian', lambda: t.log_abs_det_jacobian(x, t(x)))
for t in (D.ExpTransform(), D.AffineTransform(1.0, -2.0), D.AffineTransform(torch.tensor([1.0]), torch.tensor([-3.0])), D.TanhTransform(), D.PowerTransform(torch.tensor(-2.0))):
    look('sign', lambda: t.sign)
look('no sign', lambda: D.AbsTransform().sign)
look('no sign', lambda: D.StickBreakingTransform().sign)
c = D.ExpTransform().with_cache(1)
x = torch.tensor([1.0, 2.0])
y = c(x)
look('cache', lambda: (c(x) is y, c.inv(y) is x, c.with_cache(1) is c, c.with_cache(0)(x) is y))
look('cache of two', lambda: D.ExpTransform(cache_size=2))
look('abstract', lambda: D.Transform().log_abs_det_jacobian(x, x))
look('abstract', lambda: D.Transform()(x))
look('abstract', lambda: D.Transform().sign)
""")
