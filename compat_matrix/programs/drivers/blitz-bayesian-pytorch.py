"""Layers whose weights are distributions."""

import torch
from blitz.modules import BayesianConv2d, BayesianGRU, BayesianLinear, BayesianLSTM
from blitz.utils import variational_estimator


@variational_estimator
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.l, self.h = BayesianConv2d(1, 2, (3, 3)), BayesianLSTM(4, 5), BayesianLinear(5, 1)

    def forward(self, x):
        out, _ = self.l(torch.relu(self.c(x)).flatten(2))
        return self.h(out[:, -1])


def program():
    net = Net()
    x, y = torch.randn(4, 1, 4, 4), torch.randn(4, 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(3):
        optimizer.zero_grad()
        loss = net.sample_elbo(inputs=x, labels=y, criterion=torch.nn.MSELoss(), sample_nbr=1, complexity_cost_weight=0.01)
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss
    yield "forward", *net.mfvi_forward(x, sample_nbr=3), net.nn_kl_divergence()
    net.freeze_()
    yield "frozen", torch.equal(net(x), net(x)), net(x)
    out, state = BayesianGRU(3, 4)(torch.randn(2, 5, 3))
    yield "recurrent", out, state
