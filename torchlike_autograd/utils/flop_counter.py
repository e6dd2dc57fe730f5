"""torch.utils.flop_counter (layer 7): not there; XLA's own cost analysis counts what a compiled program does."""

__all__ = ["FlopCounterMode"]


class FlopCounterMode:
    """NotImplementedError when it is made."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.utils.flop_counter.FlopCounterMode: operators do not go through a dispatcher here")
