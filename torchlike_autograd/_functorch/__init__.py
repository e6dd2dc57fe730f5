"""torch._functorch (layer 8): where PyTorch keeps torch.func."""

from . import apis, autograd_function, config, eager_transforms, make_functional, utils, vmap  # noqa: F401
