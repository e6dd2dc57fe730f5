"""torch._library (layer 8): what is behind torch.library: schemas, operators of a program's own and how a call of one finds its kernel."""
