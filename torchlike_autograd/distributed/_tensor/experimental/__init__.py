"""torch.distributed._tensor.experimental (layer 9)."""

from ...._core import publish as _publish

__all__ = ["implicit_replication"]


def implicit_replication():
    """NotImplementedError: plain tensors beside sharded ones are placed by hand."""
    raise NotImplementedError("torch.distributed.tensor.experimental.implicit_replication: place tensors by distribute_tensor(tensor, mesh, [Replicate()])")


__getattr__ = _publish.missing("torch.distributed.tensor.experimental")
