"""torch.distributed.autograd (layer 8): backward passes over several processes; there are none here."""

from .._core import publish as _publish

__all__ = ["context", "is_available"]


def is_available() -> bool:
    """False."""
    return False


class context:
    """Needs remote processes."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")


__getattr__ = _publish.missing("torch.distributed.autograd")
