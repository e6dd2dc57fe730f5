"""Formulas as a module with numbers to learn."""

import sympy
import sympytorch
import torch


def program():
    torch.set_default_dtype(torch.float64)
    x, y = sympy.symbols("x y")
    formulas = [1.0 * sympy.cos(2.0 * x) + y**2, sympy.exp(-x) * sympy.sqrt(y + 3), sympy.Max(x, y) - sympy.Abs(x - 0.5),
                sympy.atan2(x, y) + sympy.pi, sympy.Piecewise((x, x > 0), (y, True))]
    for formula in formulas:
        try:
            module = sympytorch.SymPyModule(expressions=[formula])
        except KeyError as e:
            yield str(formula), f"no such function: {e}"
            continue
        given = {"x": torch.tensor([0.1, 0.9], requires_grad=True), "y": torch.tensor([0.4, 0.2], requires_grad=True)}
        out = module(**given)
        yield str(formula), out, torch.autograd.grad(out.sum(), [*given.values(), *module.parameters()], allow_unused=True)
