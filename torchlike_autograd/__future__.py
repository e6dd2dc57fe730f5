"""torch.__future__ (layer 8): how `Module.to` and its kin give a module its converted tensors; remembered."""

from __future__ import annotations

_told = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """True: new Parameters take the place of the old ones.  Not built: NotImplementedError."""
    if value:
        raise NotImplementedError("torch.__future__.set_overwrite_module_params_on_conversion(True): parameters keep their identity here")
    _told["overwrite"] = False


def get_overwrite_module_params_on_conversion() -> bool:
    """False."""
    return _told["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """True: converted tensors change places with the old ones.  Not built: NotImplementedError."""
    if value:
        raise NotImplementedError("torch.__future__.set_swap_module_params_on_conversion(True): see torch.utils.swap_tensors")
    _told["swap"] = False


def get_swap_module_params_on_conversion() -> bool:
    """False."""
    return _told["swap"]
