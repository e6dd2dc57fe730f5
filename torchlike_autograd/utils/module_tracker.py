"""torch.utils.module_tracker (layer 8): which modules are running, forward or backward, by their names in the state dict of the outermost one.

Hooks of all modules note what begins and ends a forward; hooks of the tensors that go in and come out note the same of the backward pass, where the
gradients of what came out begin a module and those of what went in end it.
"""

from __future__ import annotations

import logging
import weakref

from .. import _C
from .._core import publish as _publish
from .._tensor import Tensor
from ..autograd.graph import register_multi_grad_hook
from ..autograd.variable import Variable
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ._pytree import tree_leaves

__all__ = ["ModuleTracker"]

_log = logging.getLogger(__name__)


class ModuleTracker:
    """A context in which `parents` is the set of names of the modules that are running now, with "Global", and `is_bw` whether a backward pass is.

    The name of an outermost module is that of its class.  What a backward pass has left in `parents` is gone when the pass ends.
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._known_modules = weakref.WeakKeyDictionary()
        self._seen_modules = weakref.WeakSet()
        self._has_callback = False
        self._hooks = []

    @property
    def is_bw(self) -> bool:
        return _C._current_graph_task_id() != -1

    def __enter__(self):
        self._fw_pre_handle = register_module_forward_pre_hook(self._fw_pre_hook)
        self._fw_post_handle = register_module_forward_hook(self._fw_post_hook)
        return self

    def __exit__(self, *args) -> None:
        for hook in (self._fw_pre_handle, self._fw_post_handle, *self._hooks):
            hook.remove()
        self._hooks.clear()

    def _get_mod_name(self, module) -> str:
        name = self._known_modules.setdefault(module, type(module).__name__)
        if module not in self._seen_modules:
            self._seen_modules.add(module)
            for child, below in module.named_children():
                self._known_modules[below] = f"{name}.{child}"
                self._get_mod_name(below)
        return name

    def _fw_pre_hook(self, module, args) -> None:
        name = self._get_mod_name(module)
        self._begin(name, "forward")
        self._when_gradients_came(args, lambda grads: self._end(name, "backward"))

    def _fw_post_hook(self, module, args, out) -> None:
        name = self._get_mod_name(module)
        self._end(name, "forward")
        self._when_gradients_came(out, lambda grads: self._begin(name, "backward"))

    def _when_gradients_came(self, tree, f) -> None:
        tensors = [t for t in tree_leaves(tree) if isinstance(t, Tensor) and t.requires_grad]
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, f))

    def _begin(self, name, when) -> None:
        if when == "backward" and not self._has_callback:
            self._has_callback = True
            Variable._execution_engine.queue_callback(self._pass_ended)
        if name in self.parents:
            _log.info("the %s of %s begins inside itself: names are not what is running any more", when, name)
        self.parents.add(name)

    def _end(self, name, when) -> None:
        if name not in self.parents:
            _log.info("the %s of %s ends, which has not begun: names are not what is running any more", when, name)
        self.parents.discard(name)

    def _pass_ended(self) -> None:
        self.parents = {"Global"}
        self._has_callback = False


__getattr__ = _publish.missing("torch.utils.module_tracker")
