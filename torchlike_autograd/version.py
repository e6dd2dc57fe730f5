"""torch.version (layer 8): the version of PyTorch that this package behaves like."""

__version__ = "2.13.0"
cuda = hip = git_version = None
debug = False
