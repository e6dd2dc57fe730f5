"""What a distribution says of itself, what it draws, its densities, expansions and copies."""

import contextlib
import copy
import pickle

from compat_matrix.case import attempt, case
from compat_matrix.cases.distributions.tables import FAMILIES, build
from compat_matrix.probes import leaf, square_sum, zeros_for_none

STATISTICS = ("mean", "mode", "variance", "stddev")


def plain(found):
    return found.detach() if hasattr(found, "detach") else found


def known(torch, expression, params, value):
    d, _ = build(torch, expression, params)
    yield "shown", repr(d), d.batch_shape, d.event_shape, repr(d.support), sorted((k, repr(v)) for k, v in d.arg_constraints.items())
    yield "can", d.has_rsample, d.has_enumerate_support, sorted(d.__dict__)
    for name in STATISTICS:
        yield name, attempt(lambda name=name: plain(getattr(d, name)))
    yield "entropy", attempt(lambda: plain(d.entropy())), attempt(lambda: plain(d.perplexity()))
    yield "values", attempt(lambda: d.enumerate_support()), attempt(lambda: d.enumerate_support(expand=False))


def drawn(torch, expression, params, value):
    for name in ("float64", "float32"):
        d, _ = build(torch, expression, params, getattr(torch, name))
        torch.manual_seed(5)
        yield f"sample {name}", attempt(d.sample), attempt(lambda: d.sample((3,))), attempt(lambda: d.sample(torch.Size([2, 9])).sum())
        yield f"rsample {name}", attempt(lambda: plain(d.rsample((2,)))), attempt(lambda: d.rsample().requires_grad)
        yield f"after {name}", torch.rand(2)


def gradients(torch, of, leaves):
    """First order with respect to `leaves`, and the gradient of the sum of its squares."""
    if not of.requires_grad:
        return "no graph"
    first = torch.autograd.grad(of, leaves, torch.ones_like(of), create_graph=True, allow_unused=True)
    total = square_sum(torch, first)
    second = "none" if total is None else attempt(lambda: zeros_for_none(torch, torch.autograd.grad(total, leaves, allow_unused=True), leaves))
    return [[plain(g) for g in first], second]


def densities(torch, expression, params, value):
    def of(function):
        """Values and gradients of a function of a fresh distribution and of a value."""
        d, leaves = build(torch, expression, params)
        x = leaf(torch, value)
        if not params and x.requires_grad:
            x = x.detach().float().requires_grad_()
        out = function(d, x)
        return [plain(out), gradients(torch, out, leaves + [x] if x.requires_grad else leaves)]

    yield "log_prob", attempt(lambda: of(lambda d, x: d.log_prob(x)))
    yield "cdf", attempt(lambda: of(lambda d, x: d.cdf(x)))
    yield "icdf", attempt(lambda: of(lambda d, x: d.icdf(torch.full(d.batch_shape, 0.3, dtype=x.dtype))))
    for name in STATISTICS:
        yield name, attempt(lambda name=name: of(lambda d, x: getattr(d, name)))
    yield "entropy", attempt(lambda: of(lambda d, x: d.entropy()))


def reparametrized(torch, expression, params, value):
    d, leaves = build(torch, expression, params)

    def moved():
        torch.manual_seed(11)
        return gradients(torch, d.rsample((2,)).sin(), leaves)

    yield "rsample", attempt(moved)


def expanded(torch, expression, params, value):
    d, leaves = build(torch, expression, params)
    x = leaf(torch, value).detach()
    e = d.expand((2, *d.batch_shape))
    torch.manual_seed(3)
    yield "shown", repr(e), e.batch_shape, e.event_shape, type(e).__name__
    yield "sample", e.sample(), attempt(lambda: plain(e.entropy())), attempt(lambda: plain(e.mean))
    yield "log_prob", attempt(lambda: gradients(torch, e.log_prob(x.expand((*e.batch_shape, *e.event_shape))), leaves))
    yield "again", attempt(lambda: e.expand((4, *e.batch_shape)).batch_shape), attempt(lambda: d.expand((0, *d.batch_shape)).sample().shape)
    yield "without checks", [q._validate_args for q in (d, e)]


def copied(torch, expression, params, value):
    d, _ = build(torch, expression, params)
    x = torch.tensor(value)
    for name, again in (("pickle", lambda: pickle.loads(pickle.dumps(d))), ("deepcopy", lambda: copy.deepcopy(d)), ("copy", lambda: copy.copy(d))):
        yield name, attempt(lambda again=again: [repr(again()), plain(again().log_prob(x))])


BODIES = {"known": known, "drawn": drawn, "densities": densities, "reparametrized": reparametrized, "expanded": expanded}
for _kind, _body in BODIES.items():
    for _name, (_expression, _params, _value) in FAMILIES.items():
        case(f"distributions.{_kind}.{_name}", expression=_expression, params=_params, value=_value)(_body)
for _name in ("Normal scalar", "Gumbel scalar", "Beta scalar", "LKJCholesky scalar"):
    case(f"distributions.copied.{_name}", expression=FAMILIES[_name][0], params={}, value=FAMILIES[_name][2])(copied)


@case("distributions.checks in inference mode")
def _(torch):
    D = torch.distributions
    with torch.inference_mode():
        yield "made and asked", D.Normal(torch.zeros(2), torch.ones(2)).log_prob(torch.zeros(2)), D.Categorical(logits=torch.zeros(2, 3)).entropy()
        yield "wrong", attempt(lambda: D.Normal(torch.zeros(2), -torch.ones(2)))
        scale = torch.ones(2)
    yield "of inference tensors", D.Normal(torch.zeros(2), scale).log_prob(torch.zeros(2)), attempt(lambda: D.Normal(torch.zeros(2), scale - 2))


@case("distributions.checks waited for far out")
def _(torch):
    def nested(depth, f):
        return f() if depth == 0 else nested(depth - 1, f)

    def wrong(depth):
        return nested(depth, lambda: torch.distributions.Normal(torch.zeros(2), -torch.ones(2)))

    for depth in (1, 3, 8, 30):
        reached = []
        try:
            wrong(depth)
            reached.append("after")
        except ValueError:
            reached.append("ValueError")
        with contextlib.suppress(ValueError):
            wrong(depth)
            reached.append("after")
        try:
            torch.linalg.cholesky(-torch.eye(2))
        except* RuntimeError:
            reached.append("RuntimeError")
        yield str(depth), reached
