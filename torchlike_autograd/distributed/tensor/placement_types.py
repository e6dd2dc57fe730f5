"""torch.distributed.tensor.placement_types (layer 9): how a tensor lies along a dim of a mesh."""

from . import Partial, Placement, Replicate, Shard  # noqa: F401
