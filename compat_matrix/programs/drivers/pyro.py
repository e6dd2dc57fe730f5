"""Variational inference with guides made by themselves, enumeration, a Gaussian process, Hamiltonian steps."""

import pyro
import pyro.contrib.gp as gp
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoDelta, AutoDiagonalNormal, AutoMultivariateNormal, AutoNormal
from pyro.optim import Adam


def line(x, y=None):
    w = pyro.sample("w", dist.Normal(torch.zeros(2), 1.0).to_event(1))
    s = pyro.sample("s", dist.HalfCauchy(torch.tensor(1.0)))
    with pyro.plate("data", len(x)):
        return pyro.sample("o", dist.Normal(x @ w, s), obs=y)


@config_enumerate
def mixture(data):
    weights = pyro.sample("weights", dist.Dirichlet(torch.ones(2)))
    with pyro.plate("parts", 2):
        place = pyro.sample("place", dist.Normal(torch.tensor(0.0), 10.0))
    with pyro.plate("data", len(data)):
        z = pyro.sample("z", dist.Categorical(weights))
        pyro.sample("x", dist.Normal(place[z], 1.0), obs=data)


def fresh():
    pyro.set_rng_seed(0)
    pyro.clear_param_store()


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(20, 2)
    y = x @ torch.tensor([1.0, -2.0]) + 0.1 * torch.randn(20)
    for guide in (AutoNormal, AutoDiagonalNormal, AutoMultivariateNormal, AutoDelta):
        fresh()
        svi = SVI(line, guide(line), Adam({"lr": 0.05}), Trace_ELBO())
        yield guide.__name__, [svi.step(x, y) for _ in range(3)], dict(pyro.get_param_store())
    fresh()
    guide = AutoDelta(poutine.block(mixture, expose=["weights", "place"]))
    svi = SVI(mixture, guide, Adam({"lr": 0.1}), TraceEnum_ELBO(max_plate_nesting=1))
    yield "enumeration", [svi.step(torch.tensor([0.0, 1.0, 10.0, 11.0])) for _ in range(3)]
    fresh()
    process = gp.models.GPRegression(x, y, gp.kernels.RBF(input_dim=2), noise=torch.tensor(0.1))
    loss = Trace_ELBO().differentiable_loss(process.model, process.guide)
    loss.backward()
    yield "process", loss, [p.grad for p in process.parameters()]
    fresh()
    chain = MCMC(NUTS(line, max_tree_depth=3), num_samples=3, warmup_steps=3, disable_progbar=True)
    chain.run(x, y)
    yield "chain", chain.get_samples()
