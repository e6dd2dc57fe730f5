"""torch.testing._internal.generated (layer 8): what PyTorch generates of its signatures."""
