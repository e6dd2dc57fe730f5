"""torch.fx.experimental.proxy_tensor (layer 8): nothing is traced here."""

from ..._core import publish as _publish
from ...functorch import make_fx

__all__ = ["get_proxy_mode", "make_fx"]


def get_proxy_mode():
    """The tracing mode that is in force: none."""
    return None


__getattr__ = _publish.missing("torch.fx.experimental.proxy_tensor")
