"""OneFlow's first spelling, of its first releases in 2021 (layer 9): `import torchlike_autograd.dialects.oneflow_first as flow`.

`backward(outputs, out_grads)` and `grad(outputs, inputs, out_grads)`: both take the gradients of roots as a required argument (None is one); there is no
`allow_unused` and no `is_grads_batched`.  What a pass does is what it does in today's spelling (`dialects.oneflow`), whose names the others are.
"""

from __future__ import annotations

import types

from . import oneflow as _today


def backward(outputs, out_grads, retain_graph=False, create_graph=False):
    """Accumulate the gradients of `outputs` into the leaves; RuntimeError as `dialects.oneflow.backward` raises it."""
    _today.backward(outputs, out_grads, retain_graph, create_graph)


def grad(outputs, inputs, out_grads, retain_graph=False, create_graph=False):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; RuntimeError as `dialects.oneflow.grad` raises it."""
    return _today.grad(outputs, inputs, out_grads, retain_graph, create_graph)


autograd = types.ModuleType(f"{__name__}.autograd", "The first names of `autograd`.")
vars(autograd).update(backward=backward, grad=grad, Function=_today.Function, no_grad=_today.no_grad)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(_today, name)


__all__ = ["autograd"]
