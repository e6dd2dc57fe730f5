"""torch.distributed.algorithms.join (layer 9): training on with uneven inputs in several processes; there are no process groups here."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..._core import publish as _publish

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a process that has run out of inputs does: nothing, unless a subclass says otherwise."""

    def main_hook(self):
        """Called while others still have inputs."""

    def post_hook(self, is_last_joiner):
        """Called once all have joined."""


class Joinable(ABC):
    """What can take part in `Join`."""

    @abstractmethod
    def __init__(self):
        super().__init__()

    @abstractmethod
    def join_hook(self, **kwargs):
        """The JoinHook of this object."""

    @property
    @abstractmethod
    def join_device(self):
        """Where its communication takes place."""

    @property
    @abstractmethod
    def join_process_group(self):
        """The processes it communicates with."""


class Join:
    """A context over processes with different numbers of inputs: NotImplementedError, as there are no process groups."""

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        raise NotImplementedError("torch.distributed.algorithms.join.Join: there are no process groups here")


__getattr__ = _publish.missing("torch.distributed.algorithms.join")
