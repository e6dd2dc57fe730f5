"""Uncertainty of a network's parameters: Markov chains, variational inference, an extended Kalman filter, Laplace's method, all by torch.func."""

import posteriors
import torch
import torchopt


def program():
    torch.set_default_dtype(torch.float64)
    net, batch = torch.nn.Linear(3, 1), (torch.randn(20, 3), torch.randn(20, 1))

    def log_posterior(params, batch):
        output = torch.func.functional_call(net, params, batch[0])
        return -(output - batch[1]).square().mean() + 0.01 * posteriors.diag_normal_log_prob(params), output

    start = {name: p.detach().clone() for name, p in net.named_parameters()}
    methods = {
        "langevin": posteriors.sgmcmc.sgld.build(log_posterior, lr=1e-2),
        "hamiltonian": posteriors.sgmcmc.sghmc.build(log_posterior, lr=1e-2),
        "nose hoover": posteriors.sgmcmc.sgnht.build(log_posterior, lr=1e-2),
        "variational": posteriors.vi.diag.build(log_posterior, torchopt.adam(lr=0.01), temperature=0.1),
        "dense variational": posteriors.vi.dense.build(log_posterior, torchopt.adam(lr=0.01), temperature=0.1),
        "filter": posteriors.ekf.diag_fisher.build(lambda p, b: (log_posterior(p, b)[0], torch.tensor([])), lr=0.1),
        "laplace": posteriors.laplace.diag_fisher.build(log_posterior),
        "dense laplace": posteriors.laplace.dense_fisher.build(log_posterior),
        "hessian": posteriors.laplace.dense_hessian.build(log_posterior),
    }
    for name, method in methods.items():
        torch.manual_seed(0)
        state = method.init({k: v.clone() for k, v in start.items()})
        for _ in range(3):
            state, _aux = method.update(state, batch, inplace=False)
        seen = {k: getattr(state, k) for k in ("params", "prec_diag", "prec", "sd_diag", "log_sd_diag", "cov", "L_factor", "momenta") if hasattr(state, k)}
        yield name, {k: dict(v.items()) if hasattr(v, "items") else v for k, v in seen.items()}
    product = posteriors.hvp(lambda p: log_posterior(p, batch)[0], (start,), ({k: torch.ones_like(v) for k, v in start.items()},))
    yield "product", product[1]
    few = {"weight": start["weight"]}
    yield "products", posteriors.fvp(lambda p: p["weight"].tanh(), (few,), (few,), normalize=True)[1]
    yield "fisher", posteriors.empirical_fisher(lambda p: p["weight"].tanh().reshape(-1), argnums=0)(few)
