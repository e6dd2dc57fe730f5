"""torch.backends.opt_einsum (layer 8): the library that names orders of contraction, which JAX brings; `jnp.einsum` asks it whatever the switches say."""

from .._core import publish as _publish
from . import _switches

_kept = {}


def get_opt_einsum():
    """The library, None where it is not installed."""
    try:
        import opt_einsum
    except ImportError:
        return None
    return opt_einsum


def is_available() -> bool:
    """Whether the library is there."""
    return get_opt_einsum() is not None


def _enabled():
    return _kept.get("enabled", is_available())


def _strategy():
    return _kept.get("strategy", "auto" if is_available() else None)


def _enable(on):
    if on and not is_available():
        raise ValueError(f"opt_einsum is not available, so setting `enabled` to {on} will not reap the benefits of calculating an optimal path for einsum. "
                         "torch.einsum will fall back to contracting from left to right. To enable this optimal path calculation, please install opt-einsum.")
    _kept["enabled"] = on


def _choose(name):
    if not is_available():
        raise ValueError(f"opt_einsum is not available, so setting `strategy` to {name} will not be meaningful. torch.einsum will bypass path calculation and "
                         "simply contract from left to right. Please install opt_einsum or unset `strategy`.")
    if not _enabled():
        raise ValueError(f"opt_einsum is not enabled, so setting a `strategy` to {name} will not be meaningful. torch.einsum will bypass path calculation and "
                         "simply contract from left to right. Please set `enabled` to `True` as well or unset `strategy`.")
    if name not in ("auto", "greedy", "optimal"):
        raise ValueError(f"`strategy` must be one of the following: [auto, greedy, optimal] but is {name}")
    _kept["strategy"] = name


def set_flags(_enabled=None, _strategy=None):
    """Set the switches that are not None; what they were before, as a tuple."""
    return _switches.written(_module, ("enabled", "strategy"), (_enabled, _strategy))


def flags(enabled=None, strategy=None):
    """A context with other switches."""
    return _switches.for_a_while(set_flags, enabled, strategy)


_module = _switches.become(__name__, "OptEinsumModule", enabled=_switches.ContextProp(_enabled, _enable), strategy=_switches.ContextProp(_strategy, _choose))
__getattr__ = _publish.missing("torch.backends.opt_einsum")
