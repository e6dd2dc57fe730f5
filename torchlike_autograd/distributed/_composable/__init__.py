"""torch.distributed._composable (layer 8): where torch.distributed.fsdp was before it was public."""
