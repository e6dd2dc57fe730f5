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
    """Set the switches that are not None; what they were before, as a tuple.  What a program assigned to an attribute stays what it reads, as in torch."""
    before = tuple(read() for read in _READ.values())
    for value, write in ((_enabled, _enable), (_strategy, _choose)):
        if value is not None:
            write(value)
    return before


def flags(enabled=None, strategy=None):
    """A context with other switches."""
    return _switches.for_a_while(set_flags, enabled, strategy)


def __getattr__(name):
    return _READ[name]() if name in _READ else _missing(name)


_READ = {"enabled": _enabled, "strategy": _strategy}  # the attributes, until a program assigns them: torch asks no questions then
_missing = _publish.missing("torch.backends.opt_einsum")
_switches.become(__name__, "OptEinsumModule")
