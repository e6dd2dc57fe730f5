"""torch.distributions: values, draws, gradients, errors, divergences, transforms, constraints, and programs that use them."""
