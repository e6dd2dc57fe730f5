"""Fit a polynomial to noisy points with an autograd function of our own.

`Polynomial` evaluates all points by Horner's rule in its forward and writes its derivatives by
hand in its backward; they are compared with finite differences before anything is fitted. The fit is plain gradient descent, in place.
"""

import sys
import time

import torch

TRUE = [0.5, -2.0, 0.3, 2.5]
POINTS, NOISE = 100, 0.05
STEPS, REPORT_EVERY, LEARNING_RATE, MOMENTUM = 400, 80, 0.1, 0.9


class Polynomial(torch.autograd.Function):
    """c[0] + c[1] x + c[2] x^2 + ... at every x."""

    @staticmethod
    def forward(ctx, x, coefficients):
        """Evaluate from the highest coefficient down."""
        ctx.save_for_backward(x, coefficients)
        result = torch.zeros_like(x)
        for c in reversed(coefficients.unbind()):
            result = result * x + c
        return result

    @staticmethod
    def backward(ctx, grad):
        """Return the gradients of the points and of the coefficients, where they are wanted."""
        x, coefficients = ctx.saved_tensors
        powers = torch.stack([x**k for k in range(len(coefficients))])
        grad_x = grad_coefficients = None
        if ctx.needs_input_grad[0]:
            orders = torch.arange(1, len(coefficients), dtype=x.dtype)
            grad_x = grad * ((orders * coefficients[1:]) @ powers[:-1])
        if ctx.needs_input_grad[1]:
            grad_coefficients = powers @ grad
        return grad_x, grad_coefficients


def check(h=1e-6):
    """Compare the derivatives of `Polynomial` with central differences."""
    x = torch.linspace(-1, 1, 5, dtype=torch.float64).requires_grad_()
    coefficients = torch.tensor(TRUE, dtype=torch.float64, requires_grad=True)
    found = torch.autograd.grad(Polynomial.apply(x, coefficients).sum(), (x, coefficients))
    with torch.no_grad():
        slope = (Polynomial.apply(x + h, coefficients) - Polynomial.apply(x - h, coefficients)) / (2 * h)
        steps = h * torch.eye(len(coefficients), dtype=torch.float64)
        sums = [(Polynomial.apply(x, coefficients + d) - Polynomial.apply(x, coefficients - d)).sum() for d in steps]
    return all(torch.allclose(a, b) for a, b in zip(found, (slope, torch.stack(sums) / (2 * h)), strict=True))


def noisy_points():
    """Draw points near the true polynomial."""
    x = torch.linspace(-1, 1, POINTS)
    return x, Polynomial.apply(x, torch.tensor(TRUE)) + NOISE * torch.randn(POINTS)


def fit(x, y):
    """Find the coefficients of the least mean square error."""
    coefficients = torch.zeros(len(TRUE), requires_grad=True)
    speed = torch.zeros(len(TRUE))
    for step in range(1, STEPS + 1):
        loss = (Polynomial.apply(x, coefficients) - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            speed.mul_(MOMENTUM).add_(coefficients.grad)
            coefficients -= LEARNING_RATE * speed
        coefficients.grad = None
        if step % REPORT_EVERY == 0:
            print(f"step {step:3d}  loss {loss.item():.3e}")
    return coefficients


def main():
    """Check, fit, and print each coefficient beside the one the points were made from."""
    torch.manual_seed(0)
    began = time.perf_counter()
    print(f"derivatives agree {check()}")
    coefficients = fit(*noisy_points())
    for k, (found, true) in enumerate(zip(coefficients.tolist(), TRUE, strict=True)):
        print(f"c[{k}] = {found:+.4f}  true {true:+.4f}")
    print(f"{time.perf_counter() - began:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
