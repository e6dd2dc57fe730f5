"""The names of torch._C that programs about gradients use (layer 7)."""

from __future__ import annotations

import types

from ._core import passes, saved
from ._core.nodes import AccumulateGrad
from ._core.record import thread
from ._core.storage import REPLAY
from ._functions.special_nodes import DelayedError, UndefinedGrad
from .autograd import _saving, grad_mode

_current_graph_task_id = passes.task_id
_current_graph_task_execution_order = passes.execution_order
_will_engine_execute_node = passes.will_execute
_ImperativeEngine = passes.Engine


def _is_view_replay_enabled() -> bool:
    return thread.state in REPLAY


def _set_grad_enabled(enabled):
    if not isinstance(enabled, bool):
        raise TypeError(f"_set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(enabled).__name__}")
    grad_mode.set_mode(enabled)


_functions = types.SimpleNamespace(AccumulateGrad=AccumulateGrad, DelayedError=DelayedError, UndefinedGrad=UndefinedGrad)
_autograd = types.SimpleNamespace(
    SavedTensor=saved.SavedTensor, _get_current_graph_task_keep_graph=passes.keep_graph, _pop_saved_tensors_default_hooks=_saving.pop_hooks,
    _push_saved_tensors_default_hooks=_saving.push_hooks, _saved_tensors_hooks_disable=_saving.set_disabled, _saved_tensors_hooks_enable=_saving.enable,
    _saved_tensors_hooks_get_disabled_error_message=_saving.disabled_message,
    _unsafe_set_version_counter=grad_mode.set_versions, _saved_tensors_hooks_is_enabled=lambda: _saving.disabled_message() is None, _top_saved_tensors_default_hooks=_saving.top_hooks)
