"""torch.nn: modules, containers, layers, their utilities."""
