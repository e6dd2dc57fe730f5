"""Jacobians for gradcheck (layer 7): by central differences, by backward passes, by forward mode; whole (slow) or along random directions (fast).

A Jacobian is a matrix (elements of the input, elements of the output).  Differences perturb the input where it is, so that a function that reads it otherwise
than through its arguments sees the perturbation too.  For a complex input the real derivative goes into the real part and the imaginary one into the
imaginary part, the gradient of torch's convention.
"""

from __future__ import annotations

import itertools

from .._core import record
from .._core.composite import named
from .._core.dtypes import FLOAT
from .._functions.create import zeros, zeros_like
from .._tensor import Tensor
from ._run import grad
from ._specified import contents, dense, sparse
from ._specified import rows as rows_of

stack = named("stack")


class GradcheckError(RuntimeError):
    """A check of gradcheck or gradgradcheck that failed."""


def as_tuple(x):
    """A tuple of what a function took or gave."""
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def checked(inputs):
    """[(place, tensor)] of the inputs whose gradients are checked."""
    return [(i, t) for i, t in enumerate(inputs) if isinstance(t, Tensor) and t._tl_needs]


# Numerical

def _settled(ts):
    """Run what is pending, so that the next perturbation repeats this program."""
    record.flush()
    return ts


def _difference(fn, move, eps, where, norm=1):
    """(fn at +eps) - (fn at -eps) over 2 eps; move(step) perturbs the input."""
    move(-eps)
    low = _settled([o.clone() for o in fn()])
    move(eps)
    high = _settled([o.clone() for o in fn()])  # each by itself: fused, the difference of two products is rounded otherwise
    move(0)
    for a, b in zip(low, high):
        for what, x, y in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if x != y:
                raise AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are perturbed {where}by {eps}, but got: "
                                     f"{what}s {x} and {y}.")
    return _settled([((b - a) / (2 * norm * eps)).detach().reshape(-1) for a, b in zip(low, high)])


def _along(fn, x, mover, eps, where, forward):
    """Derivatives of all outputs along one direction; for a complex input those along the real and the imaginary axis in one number."""
    real = _difference(fn, mover(1), eps, where)
    if not x.is_complex():
        return real
    imaginary = _difference(fn, mover(1j), eps, where)
    return [a + b * 1j for a, b in zip(real, imaginary)]


def numerical_columns(fn, inputs, i, eps, forward=False):
    """The Jacobians of all outputs of `fn(*inputs)` with respect to input `i`."""
    x = inputs[i]
    data, rows = contents(x), []
    for index in itertools.product(*map(range, data.shape)):
        rows.append(_along(lambda: as_tuple(fn(*inputs)), x, _element_mover(data, index), eps, f"on index {index} ", forward))
    n = None if rows else [o.numel() for o in as_tuple(fn(*inputs))]
    if n is not None:
        return [zeros(x.numel(), k, dtype=x.dtype, device=x.device) for k in n]
    found = [stack(list(column)) for column in zip(*rows)]
    return [_spread(m, x) for m in found] if sparse(x) else found


def _spread(m, x):
    """A Jacobian with rows for all elements of a sparse tensor from one with rows for its values."""
    out = zeros(x.numel(), m.shape[1], dtype=m.dtype, device=m.device)
    for k, row in enumerate(rows_of(x)):
        out[int(row)] = m[k]
    return out


def _element_mover(data, index):
    start = data[index].clone()

    def along(unit):
        def move(step):
            data[index] = start + step * unit

        return move

    return along


def numerical_along(fn, inputs, i, u, eps, forward=False):
    """The derivatives of all outputs with respect to input `i` along `u` (for a complex input a pair of directions)."""
    x = inputs[i]
    data = contents(x)
    start = data.clone()
    pair = u if isinstance(u, tuple) else (u, None)

    def mover(unit):
        direction = (pair[0] if unit == 1 else pair[1] * 1j).reshape(data.shape)
        return lambda step: data.copy_(start + step * direction)

    return _along(lambda: as_tuple(fn(*inputs)), x, mover, eps, "", forward)


# Analytical, backward

def _vjp(output, inputs, g):
    gs = grad(output, inputs, g, retain_graph=True, allow_unused=True)
    return _settled([None if x is None else x.detach() for x in gs])


def _rows(output, inputs):
    """Gradients of each element of an output."""
    unit = zeros_like(output)
    flat = unit.reshape(-1)
    out = []
    for k in range(output.numel()):
        flat.zero_()
        flat[k] = 1
        g = flat.reshape(output.shape)
        out.append([None if r is None else r.clone() for r in _vjp(output, inputs, g)])
    return out


def _matrices(rows, inputs, n):
    """(Jacobian of each input, whether all dtypes and whether all sizes were right)."""
    out, types, sizes = [], True, True
    for k, x in enumerate(inputs):
        m = zeros(x.numel(), n, dtype=x.dtype, device=x.device)
        for j, row in enumerate(rows):
            g = row[k]
            if g is None:
                continue
            types = types and g.dtype == x.dtype
            if g.shape != x.shape:
                sizes = False
            else:
                m[:, j] = dense(g).reshape(-1)
        out.append(m)
    return out, types, sizes


def analytical(inputs, output, tolerance, v=None):
    """(Jacobians with respect to `inputs`, same again within tolerance, sizes right, dtypes right); with `v` that of v times the output, one column."""
    def once():
        if v is None:
            rows = _rows(output, inputs)
            return _matrices(rows, inputs, output.numel())
        return _matrices([[None if g is None else g.clone() for g in _vjp(output, inputs, v.reshape(output.shape))]], inputs, 1)

    first, types, sizes = once()
    again = once()
    same = all(a.numel() == 0 or bool((a - b).abs().max() <= tolerance) for a, b in zip(first, again[0]))
    return first, same, sizes and again[2], types and again[1]


def analytical_or_raise(inputs, output, tolerance, check_types, v=None):
    """`analytical`, with torch's errors."""
    out, same, sizes, types = analytical(inputs, output, tolerance, v)
    if not types and check_types:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not same:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, although analytical "
            f"gradient matches numerical gradient.The tolerance for nondeterminism was {tolerance}.{NONDETERMINISTIC}")
    return out


# Analytical, forward

def forward_tangents(fn, inputs, i, u):
    """Tangents of all outputs of `fn` where input `i` has tangent `u` and the others that require grad have zeros; zeros where there is none."""
    from . import forward_ad

    with forward_ad.dual_level():
        args = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
        for k, x in enumerate(inputs):
            if k != i and isinstance(x, Tensor) and x._tl_needs:
                args[k] = forward_ad.make_dual(args[k], zeros_like(args[k]))
        u = u.to(args[i].dtype).reshape(args[i].shape)
        args[i] = forward_ad.make_dual(args[i], u.clone() if u._is_view() else u)  # custom Functions see whether a tangent is a view
        outs = []
        for o in as_tuple(fn(*args)):
            if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex()):
                primal, tangent = forward_ad.unpack_dual(o)
                outs.append((zeros_like(primal) if tangent is None else tangent).detach().reshape(-1))
            else:
                outs.append(None)
        return _settled(outs)


def forward_columns(fn, inputs, i, check_types=False):
    """The Jacobians of all outputs with respect to input `i`, by forward mode."""
    x = inputs[i]
    rows = []
    for k in range(x.numel()):
        unit = zeros(x.numel(), dtype=x.dtype, device=x.device)
        unit[k] = 1
        rows.append(forward_tangents(fn, inputs, i, unit))
    if not rows:
        made = [o if isinstance(o, Tensor) and o.dtype.category >= FLOAT else None for o in as_tuple(fn(*inputs))]
        return [None if o is None else zeros(0, o.numel(), dtype=o.dtype, device=o.device) for o in made]
    return [None if column[0] is None else stack(list(column)) for column in zip(*rows)]


NONDETERMINISTIC = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""
