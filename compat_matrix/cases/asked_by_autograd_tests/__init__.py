"""What PyTorch's own tests of autograd lean on, seldom met elsewhere."""
