"""What masked tensors compute with (layer 2): data, beside which a mask of their shape says what is there.

None of these has a public name: `torchlike_autograd/masked/` and `_functions/masked.py` call them.
"""

from __future__ import annotations

import jax.numpy as jnp

from .places import truth
from .registry import SMOOTH, call, op, real, rule

_MASK = truth([True, False, True])


@op("_masked_data(Tensor self) -> Tensor", node="GetDataBackward", names=(), samples=[call(real(3))], kinks=SMOOTH)
def _masked_data(self):
    """The data, as an ordinary tensor has them."""
    return self


@op("_masked_made(Tensor data, Tensor mask) -> Tensor", node="ConstructorBackward", names=(), samples=[call(real(3), _MASK)], kinks=SMOOTH,
    nondiff=("mask",), saves={"data": ("mask",)},
    derivative=rule(lambda out, primals, tangents: jnp.where(primals[1], tangents[0], jnp.zeros((), tangents[0].dtype))))
def _masked_made(data, mask):
    """The data of an ordinary tensor; what the mask leaves out has no part in its gradient."""
    return data


@op("_masked_filled(Tensor self, Tensor mask, Tensor value) -> Tensor", node="CombineBackward", names=(), samples=[call(real(3), _MASK, real(()))],
    kinks=SMOOTH, nondiff=("mask", "value"), derivative=rule(lambda out, primals, tangents: tangents[0]))
def _masked_filled(self, mask, value):
    """A value where the mask is False.  As in torch the gradient is that of the result everywhere: what is left out keeps it, unseen."""
    return jnp.where(mask, self, value)
