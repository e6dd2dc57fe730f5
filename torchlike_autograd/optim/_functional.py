"""torch.optim._functional (layer 8): the algorithms as functions over lists of tensors, under one roof."""

from __future__ import annotations

import math  # noqa: F401

from .._tensor import Tensor  # noqa: F401
from .adadelta import adadelta
from .adagrad import _make_sparse, adagrad
from .adam import adam
from .adamax import adamax
from .adamw import adamw
from .asgd import asgd
from .nadam import nadam
from .radam import radam
from .rmsprop import rmsprop
from .rprop import rprop
from .sgd import sgd
from .sparse_adam import sparse_adam

__all__ = ["_make_sparse", "adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop", "rprop", "sgd", "sparse_adam"]
