"""torch.utils.data.datapipes.utils (layer 8): what pipes have in common."""
