"""A small exact regression trained and asked, kernels, a variational classifier, a multitask model."""

import gpytorch
import torch


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Variational(gpytorch.models.ApproximateGP):
    def __init__(self, points):
        distribution = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, distribution, learn_inducing_locations=True))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.linspace(0, 1, 12)
    y = torch.sin(6 * x) + 0.1 * torch.randn(12)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood)
    loss_of = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.1), []
    for _ in range(5):
        optimizer.zero_grad()
        loss = -loss_of(model(x), y)
        loss.backward()
        losses.append(loss.detach())
        optimizer.step()
    yield "training", losses, [(n, p.detach(), p.grad) for n, p in model.named_parameters()]
    model.eval()
    with torch.no_grad():
        answer = likelihood(model(torch.tensor([0.25, 0.6])))
        yield "prediction", answer.mean, answer.variance, answer.confidence_region()
    points = torch.rand(4, 2, requires_grad=True)
    for kernel in [
        gpytorch.kernels.RBFKernel(ard_num_dims=2), gpytorch.kernels.MaternKernel(nu=0.5), gpytorch.kernels.MaternKernel(nu=1.5),
        gpytorch.kernels.LinearKernel(), gpytorch.kernels.PeriodicKernel(), gpytorch.kernels.RQKernel(), gpytorch.kernels.CosineKernel(),
        gpytorch.kernels.PolynomialKernel(power=2),
        gpytorch.kernels.RBFKernel() + gpytorch.kernels.LinearKernel(), gpytorch.kernels.RBFKernel() * gpytorch.kernels.PeriodicKernel(),
    ]:
        value = kernel(points).to_dense()
        yield f"kernel {type(kernel).__name__}", value, torch.autograd.grad(value.pow(2).sum(), points)
    model, likelihood = Variational(torch.rand(4, 1)), gpytorch.likelihoods.BernoulliLikelihood()
    model.train()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=12)
    loss = -bound(model(x[:, None]), (y > 0).double())
    loss.backward()
    yield "variational", loss, [(n, p.grad) for n, p in model.named_parameters()]
