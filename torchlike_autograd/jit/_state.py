"""torch.jit._state (layer 8): whether TorchScript is switched on, which libraries ask here; nothing is compiled either way."""

from __future__ import annotations

import os


class EnabledProxy:
    """The switch, `enabled`: on unless the environment variable PYTORCH_JIT is 0."""

    def __init__(self):
        self.enabled = os.environ.get("PYTORCH_JIT", "1") != "0"

    def __bool__(self):
        return self.enabled


_enabled = EnabledProxy()


def enable():
    """Switch on."""
    _enabled.enabled = True


def disable():
    """Switch off."""
    _enabled.enabled = False
