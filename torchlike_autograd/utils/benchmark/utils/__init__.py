"""torch.utils.benchmark.utils (layer 8): where its parts live."""
