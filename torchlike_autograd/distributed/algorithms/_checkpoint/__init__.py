"""torch.distributed.algorithms._checkpoint (layer 8): checkpoints around modules."""

from ...._core import publish as _publish

__getattr__ = _publish.missing("torch.distributed.algorithms._checkpoint")
