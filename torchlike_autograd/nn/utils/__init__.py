"""torch.nn.utils (layer 8)."""

from ..._core import publish as _publish
from . import clip_grad, convert_parameters, init, rnn
from .clip_grad import _clip_grads_with_norm_ as clip_grads_with_norm_
from .clip_grad import _get_total_norm as get_total_norm
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_
from .convert_parameters import parameters_to_vector, vector_to_parameters
from .init import skip_init

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "rnn", "skip_init",
           "vector_to_parameters"]
__getattr__ = _publish.missing("torch.nn.utils")
