"""torch.nn.modules.lazy (layer 8): modules that learn shapes from their first input."""

from __future__ import annotations

from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy: `initialize_parameters(*args)` gives parameters their shapes at the first call; then it is a `cls_to_become`."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, found in [*self._parameters.items(), *self._buffers.items()]:
            if found is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = found if is_lazy(found) or keep_vars else found.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Take shapes from a state dict."""
        for name, found in [*self._parameters.items(), *self._buffers.items()]:
            key = prefix + name
            if key in state_dict and found is not None and is_lazy(found) and not is_lazy(state_dict[key]):
                found.materialize(state_dict[key].shape)

    def initialize_parameters(self, *args, **kwargs):
        """To be written: give the parameters their shapes."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {self.__class__.__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(self, module, args, kwargs=None):
        """The pre-hook of the first call: make the parameters, and become the class that is not lazy."""
        kwargs = kwargs or {}
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to correctly initialize "
                           "the modules")
