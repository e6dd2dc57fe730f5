"""torch.nn.modules (layer 8): every layer under one roof."""

from ..._core import lent as _lent

from .module import Module  # isort: skip
from . import (  # noqa: F401 - `lazy` is a part of the package, too
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy,
    linear,
    linear_cross_entropy_options,
    loss,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)

__all__ = ["Module"]
for _part in (activation, adaptive, batchnorm, channelshuffle, container, conv, distance, dropout, flatten, fold, instancenorm, linear,
              linear_cross_entropy_options, loss, normalization, padding, pixelshuffle, pooling, rnn, sparse, transformer, upsampling):
    for _name in _part.__all__:
        globals()[_name] = getattr(_part, _name)
        __all__.append(_name)
__all__.sort()
del _part, _name
_lent.lend("nn.modules", "nn.common_types", "nn.modules.utils")
