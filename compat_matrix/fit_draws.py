"""Measure the two rational functions in torch's derivatives of gamma and Dirichlet draws; prints the numbers of `_ops/slopes.py`.

Run under torch.  In the middle of their ranges, away from series and asymptotics, torch's derivatives are rational functions of logarithms, which a
linear least-squares fit to its float64 answers determines to about twelve digits.
"""

import numpy as np
import torch


def fit(variables, degrees, wanted):
    """Coefficients of P and of Q = 1 + ..., both of these degrees less one in each variable, with P / Q = wanted; the worst relative error."""
    terms = np.stack([np.prod([v**k for v, k in zip(variables, powers)], axis=0) for powers in np.ndindex(*degrees)], 1)
    matrix = np.concatenate([terms, -wanted[:, None] * terms[:, 1:]], 1)
    scale = np.linalg.norm(matrix, axis=0)
    found = np.linalg.lstsq(matrix / scale, wanted, rcond=1e-15)[0] / scale
    n = terms.shape[1]
    error = np.abs(terms @ found[:n] / (1 + terms[:, 1:] @ found[n:]) / wanted - 1).max()
    return found[:n], found[n:], error


def gamma(rng, n=6000):
    a, x = np.exp(rng.uniform(np.log(0.05), np.log(8), n)), np.exp(rng.uniform(np.log(0.8), np.log(40), n))
    slope = torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x)).numpy()
    return fit([np.log(x / a), np.log(a)], (3, 4), np.log(slope))


def beta(rng, n=30000):
    a, b = np.exp(rng.uniform(np.log(0.02), np.log(400), (2, n)))
    x = np.clip(np.where(rng.uniform(size=n) < 0.3, rng.uniform(size=n), rng.beta(a, b)), 1e-9, 1 - 1e-9)
    spread = (a + b) * x * (1 - x)
    keep = ~((x <= 0.5) & (spread < 2.5) | (x >= 0.5) & (spread < 0.75) | (a > 6) & (b > 6))
    a, b, x = (torch.tensor(v[keep]) for v in (a, b, x))
    ratio = torch._dirichlet_grad(x, a, a + b) / (x * (torch.digamma(a + b) - torch.digamma(a)) / b)
    u = x.log()
    v = a.log() - u
    return fit([u.numpy(), v.numpy(), ((a + b).log() - v).numpy()], (3, 3, 4), ratio.numpy())


if __name__ == "__main__":
    for name, f in (("GAMMA", gamma), ("BETA", beta)):
        above, below, error = f(np.random.default_rng(1))
        print(f"# {name}: worst relative error {error:.1e}")
        for part in (above, [1.0, *below]):
            print(", ".join(f"{c:.11g}" for c in part))
