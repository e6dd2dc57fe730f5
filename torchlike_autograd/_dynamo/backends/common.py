"""torch._dynamo.backends.common (layer 8): files that make a backend of their own can be imported."""

from ..._core import publish as _publish

_HERE = "torch._dynamo.backends.common"
globals().update(_publish.refused(_HERE, "aot_autograd", why="nothing is traced ahead of time here; torch.compile runs what it is given"))
__getattr__ = _publish.missing(_HERE)
