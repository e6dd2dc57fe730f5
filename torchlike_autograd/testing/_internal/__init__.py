"""What PyTorch's own tests import beside the public names (layer 8): enough to run tests about gradients here, written for this package."""
