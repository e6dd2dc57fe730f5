"""torchlike_autograd: code written against torch.autograd runs on JAX."""

from ._api import *  # noqa: F403
