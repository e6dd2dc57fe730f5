"""torch.fx.experimental (layer 8)."""
