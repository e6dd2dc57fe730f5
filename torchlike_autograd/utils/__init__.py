"""torch.utils (layer 7)."""
