"""torch._functorch.functional_call (layer 8)."""

from ..func import functional_call, stack_module_state

__all__ = ["functional_call", "stack_module_state"]
