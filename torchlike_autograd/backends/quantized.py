"""torch.backends.quantized (layer 8): there are no quantized types here; the engine's name is kept."""

from .._core import publish as _publish
from . import _switches

supported_engines = ["none"]
_kept = {"engine": "none"}


def _choose(name):
    if name not in ("none", "fbgemm", "qnnpack", "onednn", "x86"):
        raise RuntimeError(f"{name} is not a valid value for quantized engine")
    _kept["engine"] = name


_switches.become(__name__, "QuantizedEngine", engine=_switches.ContextProp(lambda: _kept["engine"], _choose))
__getattr__ = _publish.missing("torch.backends.quantized")
