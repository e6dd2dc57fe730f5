"""torch.distributed.checkpoint.stateful (layer 9): what gives its state and takes it back."""

from typing import Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """An object with `state_dict` and `load_state_dict`."""

    def state_dict(self):
        """Its state."""
        ...

    def load_state_dict(self, state_dict):
        """Take a state."""
        ...
