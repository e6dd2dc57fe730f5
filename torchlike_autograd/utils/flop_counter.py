"""torch.utils.flop_counter (layer 8): operations are not counted here; XLA's cost analysis does."""

from .._core import publish as _publish

__all__ = ["FlopCounterMode"]


class FlopCounterMode:
    """NotImplementedError."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.utils.flop_counter.FlopCounterMode: operations are not counted here; use jax.jit(f).lower(...).cost_analysis()")


__getattr__ = _publish.missing("torch.utils.flop_counter")
