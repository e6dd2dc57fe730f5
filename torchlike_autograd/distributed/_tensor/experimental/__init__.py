"""torch.distributed._tensor.experimental (layer 9): torch.distributed.tensor.experimental as it was called before."""

from ...tensor.experimental import implicit_replication  # noqa: F401
