"""Bodies for tables: an expression as text, its inputs, and what to look at.

An expression sees `torch`, `F` (torch.nn.functional), `inf`, `nan` and its inputs by name.
Inputs given as floats become float64 leaves, complex ones complex128 leaves; ints and bools
become constant tensors.
"""

import math

from compat_matrix.case import attempt, case


def leaf(torch, value):
    """A tensor from nested lists; a leaf that requires grad if it holds floats."""
    kinds = {type(v) for v in flatten(value)}
    if complex in kinds:
        return torch.tensor(value, dtype=torch.complex128, requires_grad=True)
    if float in kinds or not kinds:
        return torch.tensor(value, dtype=torch.float64, requires_grad=True)
    return torch.tensor(value)


def flatten(value):
    return [w for v in value for w in flatten(v)] if isinstance(value, list) else [value]


def evaluate(torch, expression, **inputs):
    scope = {"torch": torch, "F": torch.nn.functional, "inf": math.inf, "nan": math.nan, **inputs}
    return eval(expression, scope)


def node_name(out):
    return out.grad_fn.name() if out.grad_fn is not None else None


def tensors_in(torch, out):
    """The tensors of a result: one, or those of a tuple."""
    return [out] if isinstance(out, torch.Tensor) else [t for t in out if isinstance(t, torch.Tensor)]


def square_sum(torch, gradients):
    """The sum of |g|^2 over the gradients that have a graph of their own, or None."""
    parts = [(g * g.conj()).real.sum() if g.is_complex() else (g * g).sum()
             for g in gradients if g is not None and g.requires_grad]
    return sum(parts[1:], parts[0]) if parts else None


def zeros_for_none(torch, gradients, inputs):
    return [torch.zeros_like(x) if g is None else g.detach()
            for g, x in zip(gradients, inputs, strict=True)]


def probe(torch, expression, order=2, **inputs):
    """Value, node name, gradient for a cotangent of ones, gradient of the sum of its squares."""
    made = {name: leaf(torch, value) for name, value in inputs.items()}
    outs = tensors_in(torch, evaluate(torch, expression, **made))
    yield "out", [o.detach() for o in outs]
    yield "requires_grad", [o.requires_grad for o in outs]
    yield "node", [node_name(o) for o in outs]
    leaves = [x for x in made.values() if x.requires_grad]
    roots = [o for o in outs if o.requires_grad]
    if not roots or order < 1:
        return
    ones = [torch.ones_like(o) for o in roots]
    first = attempt(lambda: torch.autograd.grad(
        roots, leaves, ones, create_graph=order > 1, allow_unused=True))
    if isinstance(first, dict):
        yield "first", first
        return
    yield "first", [None if g is None else g.detach() for g in first]
    if order > 1:
        yield "second", second(torch, first, leaves)


def second(torch, first, leaves):
    total = square_sum(torch, first)
    if total is None:
        return [torch.zeros_like(x).detach() for x in leaves]
    found = attempt(lambda: torch.autograd.grad(total, leaves, allow_unused=True))
    return found if isinstance(found, dict) else zeros_for_none(torch, found, leaves)


def fails(torch, expression, **inputs):
    """The error that an expression raises."""
    made = {name: leaf(torch, value) for name, value in inputs.items()}
    yield "error", attempt(lambda: evaluate(torch, expression, **made))


def table(area, body, rows):
    """Register rows of (name, expression, {inputs}) as cases with the same body."""
    for name, expression, inputs in rows:
        case(f"{area}.{name}", expression=expression, **inputs)(body)


def each(area, body, expressions, **params):
    """Register {name: expression} as cases with the same body."""
    for name, expression in expressions.items():
        case(f"{area}.{name}", expression=expression, **params)(body)
