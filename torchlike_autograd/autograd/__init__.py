"""torch.autograd (layer 7)."""

from .. import _tensor
from . import grad_mode, graph
from ._run import backward, grad
from .function import Function
from .grad_mode import _force_original_view_tracking, enable_grad, inference_mode, is_view_replay_enabled, no_grad, set_grad_enabled

Variable = _tensor.Tensor

__all__ = ["Function", "Variable", "backward", "enable_grad", "grad", "grad_mode", "graph", "inference_mode", "no_grad", "set_grad_enabled"]
