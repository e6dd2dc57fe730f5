"""torch.quantization.observer (layer 9): the older name of torch.ao.quantization.observer."""

from .._core import publish as _publish
from ..ao.quantization.observer import (  # noqa: F401
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    NoopObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
    _ObserverBase,
    _PartialWrapper,
    _with_args,
    _with_callable_args,
    default_dynamic_quant_observer,
    default_float_qparams_observer,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_weight_observer,
)

__getattr__ = _publish.missing("torch.quantization.observer")
