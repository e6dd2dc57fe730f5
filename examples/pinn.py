"""Solve a differential equation by training a small network to obey it.

A damped oscillator, u'' + 2 d u' + w^2 u = 0 with u(0) = 0 and u'(0) = 1. The network is
differentiated twice with respect to time while the graph is kept (`create_graph=True`), the
squared residual of the equation is the loss, and Adam, written by hand, updates the weights
in place. The starting conditions hold by construction: u = t + t^2 net(t).
"""

import math
import sys
import time

import torch

DAMPING, FREQUENCY = 0.3, 2.0
END, POINTS, HIDDEN = 3.0, 32, 16
STEPS, REPORT_EVERY = 1000, 200
LEARNING_RATE, BETA1, BETA2, EPSILON = 5e-2, 0.9, 0.999, 1e-8


def exact(t):
    """Return the known solution."""
    fast = math.sqrt(FREQUENCY**2 - DAMPING**2)
    return torch.exp(-DAMPING * t) * torch.sin(fast * t) / fast


def new_parameters():
    """Draw a network with one input, two hidden layers and one output."""
    shapes = [(1, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,)]
    scales = [3.0, 1.5, HIDDEN**-0.5, 0.0, 0.1 * HIDDEN**-0.5, 0.0]
    drawn = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    return [(scale * p).requires_grad_() for scale, p in zip(scales, drawn, strict=True)]


def solution(parameters, t):
    """Return the trial solution at the times `t`, a column."""
    w1, b1, w2, b2, w3, b3 = parameters
    hidden = torch.tanh(torch.tanh(t / END * w1 + b1) @ w2 + b2)
    return t + t**2 * (hidden @ w3 + b3)


def derivative(u, t):
    """Return du/dt, itself differentiable."""
    return torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]


def residual(parameters, t):
    """Return by how much the trial solution misses the equation at every time."""
    u = solution(parameters, t)
    speed = derivative(u, t)
    return derivative(speed, t) + 2 * DAMPING * speed + FREQUENCY**2 * u


@torch.no_grad()
def adam(parameters, means, squares, step):
    """Update every parameter in place by Adam's rule, and drop the gradients."""
    rate = LEARNING_RATE * 0.5 * (1 + math.cos(math.pi * step / STEPS))
    for parameter, mean, square in zip(parameters, means, squares, strict=True):
        grad = parameter.grad
        mean.mul_(BETA1).add_(grad, alpha=1 - BETA1)
        square.mul_(BETA2).addcmul_(grad, grad, value=1 - BETA2)
        spread = (square / (1 - BETA2**step)).sqrt_().add_(EPSILON)
        parameter.addcdiv_(mean, spread, value=-rate / (1 - BETA1**step))
        parameter.grad = None


def train(parameters, t):
    """Minimise the mean squared residual."""
    means, squares = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
    for step in range(1, STEPS + 1):
        loss = (residual(parameters, t) ** 2).mean()
        loss.backward(inputs=parameters)
        adam(parameters, means, squares, step)
        if step == 1 or step % REPORT_EVERY == 0:
            print(f"step {step:4d}  loss {loss.item():.3e}")


def main():
    """Train, then compare with the exact solution between the points of the training."""
    torch.manual_seed(0)
    began = time.perf_counter()
    parameters = new_parameters()
    t = torch.linspace(0, END, POINTS, dtype=torch.float64)[:, None].requires_grad_()
    train(parameters, t)
    with torch.no_grad():
        between = torch.linspace(0, END, 4 * POINTS, dtype=torch.float64)[:, None]
        error = (solution(parameters, between) - exact(between)).abs().max().item()
        for time_ in (0.5, 1.5, 2.5):
            at = torch.full((1, 1), time_, dtype=torch.float64)
            u, known = solution(parameters, at).item(), exact(at).item()
            print(f"u({time_}) = {u:.6f}  exact {known:.6f}")
    print(f"max error {error:.3e}")
    print(f"{time.perf_counter() - began:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
