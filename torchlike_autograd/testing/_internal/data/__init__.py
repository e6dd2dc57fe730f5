"""torch.testing._internal.data (layer 8): holds nothing."""
