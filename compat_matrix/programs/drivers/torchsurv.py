"""Times until an event: likelihoods with their gradients, measures of a ranking, curves."""

import torch
from torchsurv.loss import cox, weibull
from torchsurv.loss.momentum import Momentum
from torchsurv.metrics.auc import Auc
from torchsurv.metrics.brier_score import BrierScore
from torchsurv.metrics.cindex import ConcordanceIndex
from torchsurv.stats.ipcw import get_ipcw
from torchsurv.stats.kaplan_meier import KaplanMeierEstimator


def program():
    x = torch.randn(14, 3)
    event = torch.rand(14) > 0.35
    time = torch.randint(1, 9, (14,)).double()
    net = torch.nn.Linear(3, 1)
    for ties in ("efron", "breslow"):
        loss = cox.neg_partial_log_likelihood(net(x), event, time, ties_method=ties)
        yield ties, loss, torch.autograd.grad(loss, list(net.parameters()))
    spread = time + torch.arange(14) * 0.01
    loss = cox.neg_partial_log_likelihood(net(x), event, spread, strata=torch.arange(14) % 2, reduction="sum")
    yield "strata", loss, torch.autograd.grad(loss, net.weight)
    shape = torch.nn.Linear(3, 2)
    loss = weibull.neg_log_likelihood_weibull(shape(x), event, time)
    yield "weibull", loss, torch.autograd.grad(loss, list(shape.parameters())), weibull.survival_function_weibull(shape(x), torch.tensor([1.0, 4.0]))
    hazard = net(x).detach()
    index = ConcordanceIndex()
    yield "concordance", index(hazard, event, time), index.confidence_interval(), index.p_value()
    weight = get_ipcw(event, time)
    yield "weights", weight
    auc = Auc()
    yield "auc", auc(hazard, event, time), auc.integral()
    score = BrierScore()
    yield "brier", score(torch.rand(14, 14), event, time), score.integral()
    curve = KaplanMeierEstimator()
    curve(event, time)
    yield "curve", curve.km_est, curve.predict(torch.tensor([2.0, 5.0]))
    momentum = Momentum(torch.nn.Linear(3, 1), cox.neg_partial_log_likelihood, steps=2, rate=0.9)
    loss = momentum(x, event, spread)
    loss.backward()
    yield "momentum", loss, [parameter.grad for parameter in momentum.online.parameters()]
