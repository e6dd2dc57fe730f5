"""torch.optim (layer 8): optimizers, learning rate schedulers, averaged models."""

from .._core import lent as _lent
from .._core import publish as _publish
from . import _functional, lr_scheduler, swa_utils  # noqa: F401
from ._adafactor import Adafactor
from ._muon import Muon
from ._swap import swap_in_optimizer_params_and_state
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = ["ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop",
           "SparseAdam", "lr_scheduler", "swa_utils", "swap_in_optimizer_params_and_state"]
__getattr__ = _publish.missing("torch.optim")
_lent.lend("optim", "optim.optimizer", "optim._written")
