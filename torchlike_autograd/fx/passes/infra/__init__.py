"""torch.fx.passes.infra (layer 8): passes as objects and their schedule."""

from . import pass_base, pass_manager

__all__ = ["pass_base", "pass_manager"]
