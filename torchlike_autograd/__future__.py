"""torch.__future__ (layer 8): how `Module.to` and its kin give a module its converted tensors; remembered."""

from __future__ import annotations

_told = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """True: new Parameters take the place of the old ones, which keep what they are."""
    _told["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether they do; False at first."""
    return _told["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """True: converted and loaded tensors change places with the old ones (`torch.utils.swap_tensors`)."""
    _told["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether they do; False at first."""
    return _told["swap"]
