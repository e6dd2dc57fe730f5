"""torch.distributed.elastic (layer 8)."""
