"""torch.utils.deterministic (layer 8): memory is always filled here, `torch.empty` gives zeros."""

fill_uninitialized_memory = True
