"""torch.autograd (layer 7)."""

from .._core import calls as _calls
from . import anomaly_mode, forward_ad, functional, grad_mode, graph, profiler
from ._run import backward, grad
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .gradcheck import GradcheckError as _GradcheckError  # noqa: F401
from .gradcheck import gradcheck, gradgradcheck
from .grad_mode import (
    _force_original_view_tracking,
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .variable import Variable

_node_call = _calls.call_node

__all__ = ["Function", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad", "forward_ad", "functional", "grad", "grad_mode", "gradcheck",
           "gradgradcheck", "graph", "inference_mode", "no_grad", "profiler", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled"]
