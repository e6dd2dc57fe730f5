"""Bayesian optimization: a model fitted, acquisition functions, one of them maximized."""

import warnings

import torch

warnings.simplefilter("ignore")
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound, qExpectedImprovement  # noqa: E402
from botorch.fit import fit_gpytorch_mll  # noqa: E402
from botorch.models import SingleTaskGP  # noqa: E402
from botorch.optim import optimize_acqf  # noqa: E402
from botorch.sampling import SobolQMCNormalSampler  # noqa: E402
from gpytorch.mlls import ExactMarginalLogLikelihood  # noqa: E402


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.rand(6, 2)
    y = 1 - (x - 0.5).norm(dim=-1, keepdim=True)
    model = SingleTaskGP(x, y)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    loss = -mll(model(*model.train_inputs), model.train_targets)
    loss.backward()
    yield "start", loss, [p.grad for p in model.parameters()]
    fit_gpytorch_mll(mll)
    mean = model.posterior(x[:2]).mean
    yield "fitted", [round(v, 2) for v in mean.flatten().tolist()]
    plain = SingleTaskGP(x, y)
    points = torch.rand(3, 1, 2, requires_grad=True)
    for rule in (LogExpectedImprovement(plain, best_f=0.8), UpperConfidenceBound(plain, beta=0.2),
                 qExpectedImprovement(plain, best_f=0.8, sampler=SobolQMCNormalSampler(torch.Size([8]), seed=1))):
        value = rule(points)
        yield type(rule).__name__, value, torch.autograd.grad(value.sum(), points)
    torch.manual_seed(0)
    place, value = optimize_acqf(UpperConfidenceBound(plain, beta=0.2), torch.tensor([[0.0, 0.0], [1.0, 1.0]]), q=1, num_restarts=2, raw_samples=8)
    yield "best", [round(v, 2) for v in [*place.flatten().tolist(), value.item()]]
