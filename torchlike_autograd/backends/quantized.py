"""torch.backends.quantized (layer 8): there are no quantized types here."""

from .._core import publish as _publish

engine, supported_engines = "none", ["none"]

__getattr__ = _publish.missing("torch.backends.quantized")
