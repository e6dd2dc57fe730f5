"""torch.nn.parallel.parallel_apply (layer 8): modules side by side need accelerators."""

from __future__ import annotations

from ..._core import devices as _devices

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj):
    """A tensor within nested lists, tuples and dictionaries, or None."""
    from ..._tensor import Tensor

    if isinstance(obj, Tensor):
        return obj
    inner = obj.items() if isinstance(obj, dict) else obj if isinstance(obj, (list, tuple)) else ()
    return next((found for x in inner if (found := get_a_var(x)) is not None), None)


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """torch's errors where there is no accelerator; beside one, the modules one after the other: what they compute is recorded and runs together."""
    for name, given in (("inputs", inputs), ("kwargs", kwargs_tup), ("devices", devices)):
        if given is not None and len(given) != len(modules):
            raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of {name} {len(given)}")
    if _devices.accelerator() is None:
        if not modules:
            raise AssertionError("No available accelerator found.")
        raise RuntimeError("Cannot access accelerator device when none is available.")
    more = kwargs_tup or [{}] * len(modules)
    return [m(*(x if isinstance(x, (list, tuple)) else (x,)), **k) for m, x, k in zip(modules, inputs, more)]
