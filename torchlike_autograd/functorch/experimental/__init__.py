"""functorch.experimental (layer 8)."""

from ..._functorch.apis import chunk_vmap
from ...func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_
from . import control_flow

__all__ = ["chunk_vmap", "control_flow", "functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
