"""What PyTorch's own tests import beside the public names (layer 8): enough to run tests about gradients here, written for this package."""

from ..._core import publish as _publish

__getattr__ = _publish.missing("torch.testing._internal")
