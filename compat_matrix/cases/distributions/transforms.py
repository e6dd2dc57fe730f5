"""Transforms: there and back, determinants, shapes, what they say; constraints and the registries of transforms to them."""

from compat_matrix.case import attempt, case
from compat_matrix.cases.distributions.values import gradients, plain
from compat_matrix.probes import each

X = "torch.tensor([0.1, -0.2, 0.7], dtype=torch.float64, requires_grad=True)"
P = "torch.tensor([0.1, 0.2, 1.7], dtype=torch.float64, requires_grad=True)"
M = "torch.tensor([[0.1, -0.2], [0.4, 0.3]], dtype=torch.float64, requires_grad=True)"
MAPS = {
    "exp": ("T.ExpTransform()", X), "power": ("T.PowerTransform(torch.tensor(-1.5))", P), "power of number": ("T.PowerTransform(2.0)", P),
    "sigmoid": ("T.SigmoidTransform()", X), "sigmoid far": ("T.SigmoidTransform()", "torch.tensor([100.0, -200.0, 30.0], requires_grad=True)"),
    "softplus": ("T.SoftplusTransform()", X), "tanh": ("T.TanhTransform()", X), "tanh far": ("T.TanhTransform()",
        "torch.tensor([10.0, -20.0], requires_grad=True)"),
    "abs": ("T.AbsTransform()", X), "affine": ("T.AffineTransform(1.0, -2.0)", X),
    "affine tensors": ("T.AffineTransform(torch.tensor([1.0, 2.0, 3.0]), torch.tensor(0.5))", X),
    "affine event": ("T.AffineTransform(0.0, 3.0, event_dim=1)", X),
    "affine event tensors": ("T.AffineTransform(0.0, torch.tensor([1.0, 2.0]), event_dim=1)", M), "softmax": ("T.SoftmaxTransform()", X),
    "stick breaking": ("T.StickBreakingTransform()", X), "lower cholesky": ("T.LowerCholeskyTransform()", M),
    "positive definite": ("T.PositiveDefiniteTransform()", M), "corr cholesky": ("T.CorrCholeskyTransform()", X),
    "compose": ("T.ComposeTransform([T.ExpTransform(), T.AffineTransform(0.0, 2.0)])", X),
    "compose dims": ("T.ComposeTransform([T.TanhTransform(), T.StickBreakingTransform()])", M), "compose nothing": ("T.ComposeTransform([])", X),
    "inverse": ("T.ExpTransform().inv", P), "inverse of compose": ("T.ComposeTransform([T.ExpTransform(), T.AffineTransform(0.0, 2.0)]).inv", P),
    "independent": ("T.IndependentTransform(T.ExpTransform(), 1)", M), "reshape": ("T.ReshapeTransform((2, 2), (4,))", M),
    "cat": ("T.CatTransform([T.ExpTransform(), T.AffineTransform(1.0, 2.0)], lengths=[1, 2])", X),
    "cat vectors": ("T.CatTransform([T.StickBreakingTransform(), T.StickBreakingTransform()], dim=0, lengths=[1, 1])", M),
    "stack": ("T.StackTransform([T.ExpTransform(), T.TanhTransform()], dim=1)", M),
    "distribution function": ("T.CumulativeDistributionTransform(D.Normal(0.5, 2.0))", X), "cached": ("T.ExpTransform(cache_size=1)", X),
}


def scope(torch, expression, **more):
    D = torch.distributions
    return eval(expression, {"torch": torch, "D": D, "T": D.transforms, "C": D.constraints, **more})


def mapped(torch, expression, at):
    t, x = scope(torch, expression), scope(torch, at)
    y = t(x)
    yield "shown", repr(t), repr(t.inv), t.bijective, attempt(lambda: t.sign), repr(t.domain), repr(t.codomain), attempt(lambda: t.event_dim)
    yield "forward", attempt(lambda: [plain(y), gradients(torch, y, [x])])
    yield "back", attempt(lambda: plain(t.inv(y))), attempt(lambda: gradients(torch, t.inv(t(x).detach().requires_grad_()), [x])), t.inv(y) is x
    yield "determinant", attempt(lambda: plain(t.log_abs_det_jacobian(x, t(x)))), attempt(lambda: gradients(torch, t.log_abs_det_jacobian(x, t(x)), [x]))
    yield "inverse determinant", attempt(lambda: plain(t.inv.log_abs_det_jacobian(t(x), x)))
    yield "shapes", attempt(lambda: list(t.forward_shape(x.shape))), attempt(lambda: list(t.inverse_shape(y.shape)))
    yield "with cache", attempt(lambda: [repr(t.with_cache(1)), t.with_cache(1)._cache_size]), t == t, t == scope(torch, expression), t.inv.inv is t


for _name, (_expression, _at) in MAPS.items():
    case(f"distributions.transform.{_name}", expression=_expression, at=_at)(mapped)

WORDS = {
    "cache size": "T.Transform(2)", "no domain": "T.Transform().event_dim", "no call": "T.Transform()(1)", "no inverse": "T.Transform().inv(1)",
    "no sign": "T.Transform().sign", "sign of softmax": "T.SoftmaxTransform().sign",
    "abs has no determinant": "T.AbsTransform().log_abs_det_jacobian(1, 1)",
    "unhashable": "hash(T.ExpTransform())", "reshape elements": "T.ReshapeTransform((4,), (2, 3))",
    "few dims": "T.IndependentTransform(T.ExpTransform(), 2)(torch.ones(2))",
    "reshape few": "T.ReshapeTransform((4,), (2, 2)).forward_shape(())", "reshape other": "T.ReshapeTransform((4,), (2, 2)).forward_shape((3, 5))",
    "reshape back": "T.ReshapeTransform((4,), (2, 2)).inverse_shape((3, 2, 3))", "stick shape": "T.StickBreakingTransform().forward_shape(())",
    "corr shape": "T.CorrCholeskyTransform().forward_shape((2,))", "corr square": "T.CorrCholeskyTransform().inverse_shape((2, 3))",
    "affine shape": "T.AffineTransform(torch.zeros(2), 1.0).forward_shape((3,))", "cat transforms": "T.CatTransform([T.ExpTransform(), 3])",
    "cat lengths": "T.CatTransform([T.ExpTransform()], lengths=[1, 2])", "cat size": "T.CatTransform([T.ExpTransform()])(torch.ones(3))",
    "cat dim": "T.CatTransform([T.ExpTransform()], dim=1)(torch.ones(1))", "stack transforms": "T.StackTransform([3])",
    "stack size": "T.StackTransform([T.ExpTransform()])(torch.ones(3))", "stack dim": "T.StackTransform([T.ExpTransform()], 1)(torch.ones(3))",
    "event dims": "T.ComposeTransform([T.ReshapeTransform((4,), (2, 2)), T.ExpTransform()]).event_dim",
    "not a transform": "D.TransformedDistribution(D.Normal(0.0, 1.0), 3)",
    "not all transforms": "D.TransformedDistribution(D.Normal(0.0, 1.0), [3])",
    "base too small": "D.TransformedDistribution(D.Normal(0.0, 1.0), T.StickBreakingTransform())",
    "different": "[T.ExpTransform() == T.TanhTransform(), T.AffineTransform(0.0, 1.0) == T.AffineTransform(0.0, torch.tensor(1.0))]",
    "clipped": "[T.SigmoidTransform().inv(torch.tensor([0.0, 1.0])), T.TanhTransform().inv(torch.tensor([1.0]))]",
    "identity": "[repr(T.identity_transform), T.identity_transform(3), T.identity_transform.inv(3)]",
}


def said(torch, expression):
    yield "result", attempt(lambda: scope(torch, expression))


each("distributions.transform words", said, WORDS)

SETS = {
    "real": "C.real", "positive": "C.positive", "nonnegative": "C.nonnegative", "greater": "C.greater_than(torch.tensor([1.0, 2.0]))",
    "less": "C.less_than(2.0)",
    "interval": "C.interval(1.0, 3.0)", "unit": "C.unit_interval", "half open": "C.half_open_interval(0, 2.0)", "boolean": "C.boolean",
    "one hot": "C.one_hot",
    "integers": "C.integer_interval(0, 3)", "counts": "C.nonnegative_integer", "at most": "C._IntegerLessThan(3)", "simplex": "C.simplex",
    "multinomial": "C.multinomial(3)", "lower triangular": "C.lower_triangular", "lower cholesky": "C.lower_cholesky", "corr cholesky": "C.corr_cholesky",
    "square": "C.square", "symmetric": "C.symmetric", "semidefinite": "C.positive_semidefinite", "definite": "C.positive_definite",
    "vector": "C.real_vector",
    "independent": "C.independent(C.positive, 1)", "cat": "C.cat([C.real, C.positive], dim=-1)",
    "cat lengths": "C.cat([C.simplex, C.positive], dim=-1, lengths=[1, 1])",
    "stack": "C.stack([C.real, C.positive], dim=-1)", "stack rows": "C.stack([C.real_vector, C.simplex], dim=0)",
    "mixture": "C.MixtureSameFamilyConstraint(C.positive)",
    "dependent": "C.dependent", "dependent known": "C.dependent(is_discrete=True, event_dim=2)", "plain": "C.Constraint()",
}
VALUES = ("[[1.0, 0.0], [0.0, 1.0]]", "[[0.5, 0.5], [2.0, -1.0]]", "[[1.0, 0.0], [0.6, 0.8]]", "[[2.0, 1.0], [1.0, 3.0]]", "[1.5, float('nan')]",
    "[[1.0, 2.0, 3.0], [3.0, 0.0, 0.0]]",
          "2.0")


def checked(torch, expression):
    c = scope(torch, expression)
    yield "shown", repr(c), attempt(lambda: c.is_discrete), attempt(lambda: c.event_dim), torch.distributions.constraints.is_dependent(c)
    for value in VALUES:
        yield f"check {value}", attempt(lambda value=value: c.check(torch.tensor(eval(value))))
    for name in ("biject_to", "transform_to"):
        def through(name=name):
            t = getattr(torch.distributions, name)(c)
            y = t(torch.tensor([[0.3, -0.4], [0.1, 0.2]]))
            return [repr(t), y, c.check(y)]

        yield name, attempt(through)


each("distributions.constraint", checked, SETS)
CONSTRAINT_WORDS = {
    "independent base": "C.independent(1, 2)", "independent dims": "C.independent(C.real, -1)", "independent float": "C.independent(C.real, 1.5)",
    "mixture base": "C.MixtureSameFamilyConstraint(3)", "cat parts": "C.cat([1, C.real])", "cat lengths": "C.cat([C.real], lengths=[1, 2])",
    "stack parts": "C.stack([1])",
    "cat dim": "C.cat([C.real], dim=3).check(torch.zeros(2))", "stack dim": "C.stack([C.real], dim=3).check(torch.zeros(2))",
    "few dims": "C.independent(C.real, 2).check(torch.zeros(2))", "called": "C.real()", "registered": "D.biject_to.register(3, 3)",
    "empty registry": "D.constraint_registry.ConstraintRegistry()(C.real)", "not a constraint": "D.transform_to(3)",
}
each("distributions.constraint words", said, CONSTRAINT_WORDS)


@case("distributions.registry")
def _(torch):
    D = torch.distributions
    registry = D.constraint_registry.ConstraintRegistry()

    @registry.register(D.constraints.real)
    def _(constraint):
        return D.transforms.ExpTransform()

    registry.register(type(D.constraints.positive), lambda constraint: D.transforms.TanhTransform())
    yield "found", repr(registry(D.constraints.real)), repr(registry(D.constraints.positive))
    yield "missing", attempt(lambda: registry(D.constraints.simplex))


@case("distributions.utils")
def _(torch):
    u = torch.distributions.utils
    p = torch.tensor([0.0, 0.3, 1.0])
    yield "clamp", u.clamp_probs(p), u.clamp_probs(p.double())
    yield "logits", u.probs_to_logits(p), u.probs_to_logits(p, is_binary=True), u.logits_to_probs(p), u.logits_to_probs(p, is_binary=True)
    for i, values in enumerate([(1, torch.tensor([1, 2])), (1.5, 2), (True, torch.ones(2).double()), (torch.zeros(2, 1), torch.ones(3), 2.0)]):
        yield f"broadcast {i}", list(u.broadcast_all(*values))
    for i, values in enumerate([("a", 1.0), (None, torch.ones(2)), (torch.ones(2), torch.ones(3)), ([1.0], torch.ones(1))]):
        yield f"refused {i}", attempt(lambda values=values: list(u.broadcast_all(*values)))
    for n, diag in ((3, 0), (3, -1), (3, 1), (4, 2), (3, 3), (3, -4)):
        m = torch.arange(float(n * n)).reshape(n, n)
        yield f"triangle {n} {diag}", attempt(lambda m=m, diag=diag: [u.tril_matrix_to_vec(m, diag), u.vec_to_tril_matrix(u.tril_matrix_to_vec(m, diag), diag)])
    for n, diag in ((2, 0), (4, 1), (4, 0), (6, 0), (5, -1)):
        yield f"matrix {n} {diag}", attempt(lambda n=n, diag=diag: u.vec_to_tril_matrix(torch.arange(float(n)), diag))

    class Half:
        def __init__(self):
            self.count = 0

        @u.lazy_property
        def once(self):
            "What it says."
            self.count += 1
            return torch.is_grad_enabled(), self.count

    h = Half()
    with torch.no_grad():
        yield "lazy", h.once, h.once, sorted(h.__dict__), isinstance(Half.once, property), type(Half.once).__name__
