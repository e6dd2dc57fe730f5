"""torch.testing._internal.common_modules (layer 8): modules with inputs, for tests that go over all of them."""

from __future__ import annotations

import enum
import importlib
from functools import partial

from ..._core.dtypes import int64
from .._creation import make_tensor
from ._parametrized import _TestParametrizer
from .common_dtype import floating_types
from .common_utils import freeze_rng_state  # noqa: F401
from .opinfo.core import DecorateInfo

_nn = importlib.import_module(f"{__package__.split('.')[0]}.nn")


class TrainEvalMode(enum.Enum):
    """In which modes a test is made of a module."""

    train_only = 1
    eval_only = 2
    train_and_eval = 3


class ModuleErrorEnum(enum.Enum):
    """When a module refuses."""

    CONSTRUCTION_ERROR = 0
    FORWARD_ERROR = 1


class ErrorModuleInput:
    """Arguments that a module refuses, when, and how."""

    __slots__ = ("error_on", "error_regex", "error_type", "module_error_input")

    def __init__(self, module_error_input, *, error_on=ModuleErrorEnum.CONSTRUCTION_ERROR, error_type=RuntimeError, error_regex):
        self.module_error_input, self.error_on, self.error_type, self.error_regex = module_error_input, error_on, error_type, error_regex


class FunctionInput:
    """Arguments of a call."""

    __slots__ = ("args", "kwargs")

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs


class ModuleInput:
    """Arguments to make a module and to call it."""

    __slots__ = ("constructor_input", "desc", "forward_input", "reference_fn")

    def __init__(self, constructor_input, forward_input=None, desc="", reference_fn=None):
        self.constructor_input, self.forward_input, self.desc, self.reference_fn = constructor_input, forward_input, desc, reference_fn


class ModuleInfo:
    """A class of modules and inputs of it."""

    def __init__(self, module_cls, *, module_inputs_func, skips=(), decorators=None, dtypes=floating_types(), supports_gradgrad=True, gradcheck_nondet_tol=0.0,
                 train_and_eval_differ=False, module_error_inputs_func=None, gradcheck_fast_mode=None, module_memformat_affects_out=False):
        self.module_cls, self.module_inputs_func, self.dtypes = module_cls, module_inputs_func, dtypes
        self.decorators = (*(decorators or ()), *skips)
        self.supports_gradgrad, self.gradcheck_nondet_tol, self.gradcheck_fast_mode = supports_gradgrad, gradcheck_nondet_tol, gradcheck_fast_mode
        self.train_and_eval_differ, self.module_error_inputs_func = train_and_eval_differ, module_error_inputs_func
        self.module_memformat_affects_out = module_memformat_affects_out
        self.is_lazy = issubclass(module_cls, _nn.modules.lazy.LazyModuleMixin)

    @property
    def name(self):
        """The class with its place, without `torch.nn.modules`."""
        return f"nn.{self.module_cls.__name__}"

    @property
    def formatted_name(self):
        """As it stands in the names of tests."""
        return self.name.replace(".", "_")

    def supported_dtypes(self, device_type):
        """The types that it takes."""
        return self.dtypes

    def get_decorators(self, test_class, test_name, device, dtype, param_kwargs):
        """The decorators for one test."""
        return [d for found in self.decorators for d in
                (found.decorators if isinstance(found, DecorateInfo) and found.is_active(test_class, test_name, device, dtype, param_kwargs)
                 else [] if isinstance(found, DecorateInfo) else [found])]


class modules(_TestParametrizer):
    """One test for each module, type and mode; the test takes `module_info`, `dtype` and `training`."""

    def __init__(self, module_info_iterable, allowed_dtypes=None, train_eval_mode=TrainEvalMode.train_and_eval, skip_if_dynamo=True):
        self.infos, self.mode = list(module_info_iterable), train_eval_mode
        self.allowed = None if allowed_dtypes is None else set(allowed_dtypes)

    def _flags(self, info):
        """[(whether it trains, how the name of the test says so)]: said where a module behaves differently and both are asked for."""
        if self.mode is not TrainEvalMode.train_and_eval:
            return [(self.mode is TrainEvalMode.train_only, "")]
        return [(True, "train_mode"), (False, "eval_mode")] if info.train_and_eval_differ else [(True, "")]

    def _parametrize_test(self, test, generic_cls, device_cls):
        """(test, name of the module, arguments, function to decorators)."""
        kind = getattr(device_cls, "device_type", "cpu")
        for info in self.infos:
            for training, called in self._flags(info):
                for dtype in (d for d in info.supported_dtypes(kind) if self.allowed is None or d in self.allowed):
                    kwargs = {"module_info": info, "dtype": dtype, "training": training}
                    decorators = partial(_decorators, info, generic_cls.__name__, test.__name__, kind)
                    yield test, "_".join(x for x in (info.formatted_name, called) if x), kwargs, decorators


def _decorators(info, cls, test, kind, kwargs):
    return info.get_decorators(cls, test, kind, kwargs["dtype"], kwargs)


def _inputs(made, module_info, device, dtype, requires_grad, training, **kwargs):
    t = partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad)
    return [ModuleInput(FunctionInput(*c), FunctionInput(*f)) for c, f in made(t)]


def _module(name, made, **more):
    return ModuleInfo(getattr(_nn, name), module_inputs_func=partial(_inputs, made), **more)


def _index(t, n):
    return make_tensor((3,), device=t.keywords["device"], dtype=int64, low=0, high=n)


def _fractional(n):
    """Windows whose places are given."""
    return lambda t: [((2, 3, None, False, t(1, 2, n, low=0, high=1).detach()), (t(1, 2, *[5] * n),))]


def _signs(t):
    """Ones of either sign."""
    return t(3, low=-1, high=1).detach().sign()


def _labels(t):
    """The classes of each row, ended by -1."""
    out = make_tensor((3, 4), device=t.keywords["device"], dtype=int64, low=0, high=4)
    out[:, 2:] = -1
    return out


def _targets(t):
    return make_tensor((2, 2), device=t.keywords["device"], dtype=int64, low=1, high=4)


_POINTWISE = ("CELU ELU GELU Hardshrink Hardswish Hardtanh ReLU LeakyReLU ReLU6 PReLU Sigmoid LogSigmoid SiLU Softplus Softshrink Softsign Tanh Tanhshrink Mish SELU")
_PADS = {1: (3,), 2: (4, 4), 3: (3, 3, 3)}
module_db = [
    *(_module(n, lambda t: [((), (t(2, 3),)), ((), (t(4),))]) for n in _POINTWISE.split()),
    *(_module(n, lambda t: [((1,), (t(2, 3),))]) for n in ("Softmax", "LogSoftmax", "Softmin")),
    _module("GLU", lambda t: [((), (t(2, 4),))]), _module("Softmax2d", lambda t: [((), (t(1, 2, 3, 3),))]), _module("Threshold", lambda t: [((2.0, 1.0), (t(2, 3),))]),
    _module("Linear", lambda t: [((3, 2), (t(4, 3),)), ((3, 2, False), (t(4, 3),))]), _module("Bilinear", lambda t: [((2, 3, 4), (t(5, 2), t(5, 3)))]),
    _module("Embedding", lambda t: [((4, 3), (_index(t, 4),))]),
    *(_module(f"Conv{n}d", lambda t, n=n: [((2, 3, 2), (t(1, 2, *[4] * n),))]) for n in (1, 2, 3)),
    *(_module(f"ConvTranspose{n}d", lambda t, n=n: [((2, 3, 2), (t(1, 2, *[3] * n),))]) for n in (1, 2, 3)),
    *(_module(f"{p}Pool{n}d", lambda t, n=n: [((2,), (t(1, 2, *[4] * n),))]) for p in ("Avg", "Max", "AdaptiveAvg", "AdaptiveMax") for n in (1, 2, 3)),
    *(_module(f"BatchNorm{n}d", lambda t, n=n: [((3,), (t(4, 3, *[2] * n),))], train_and_eval_differ=True) for n in (1, 2, 3)),
    *(_module(f"InstanceNorm{n}d", lambda t, n=n: [((3,), (t(2, 3, *[3] * n),))], train_and_eval_differ=True) for n in (1, 2, 3)),
    _module("GroupNorm", lambda t: [((2, 4), (t(2, 4, 3),))]), _module("LayerNorm", lambda t: [(([3],), (t(2, 3),))]), _module("RMSNorm", lambda t: [(([3],), (t(2, 3),))]),
    _module("LocalResponseNorm", lambda t: [((2,), (t(1, 3, 4),))]),
    *(_module(f"{p}Pad{n}d", lambda t, n=n, s=s: [((1,), (t(1, 2, *s),))]) for p in ("Reflection", "Replication", "Zero", "Circular") for n, s in _PADS.items()),
    *(_module(f"ConstantPad{n}d", lambda t, n=n, s=s: [((1, 2.0), (t(1, 2, *s),))]) for n, s in _PADS.items()),
    *(_module(n, lambda t: [((), (t(2, 3), t(2, 3)))]) for n in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss")),
    _module("BCEWithLogitsLoss", lambda t: [((), (t(2, 3), t(2, 3, low=0, high=1)))]), _module("BCELoss", lambda t: [((), (t(2, 3, low=0.1, high=0.9), t(2, 3, low=0, high=1)))]),
    _module("CrossEntropyLoss", lambda t: [((), (t(3, 4), _index(t, 4)))]), _module("NLLLoss", lambda t: [((), (t(3, 4), _index(t, 4)))]),
    *(_module(n, lambda t: [((3, 4), (t(2, 3),))]) for n in ("RNNCell", "GRUCell", "LSTMCell")),
    *(_module(n, lambda t: [((3, 4), (t(5, 2, 3),))], train_and_eval_differ=True) for n in ("RNN", "GRU", "LSTM")),
    _module("MultiheadAttention", lambda t: [((4, 2), tuple(t(3, 2, 4) for _ in range(3)))], train_and_eval_differ=True),
    _module("TransformerEncoderLayer", lambda t: [((4, 2, 8, 0.0), (t(3, 2, 4),))], train_and_eval_differ=True),
    _module("TransformerDecoderLayer", lambda t: [((4, 2, 8, 0.0), (t(3, 2, 4), t(2, 2, 4)))]),
    _module("TransformerEncoder", lambda t: [((_nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2), (t(3, 2, 4),))], train_and_eval_differ=True),
    _module("Transformer", lambda t: [((4, 2, 1, 1, 8, 0.0), (t(3, 2, 4), t(2, 2, 4)))]),
    *(_module(f"LazyConv{n}d", lambda t, n=n: [((3, 2), (t(1, 2, *[4] * n),))]) for n in (1, 2, 3)),
    *(_module(f"LazyConvTranspose{n}d", lambda t, n=n: [((3, 2), (t(1, 2, *[3] * n),))]) for n in (1, 2, 3)),
    *(_module(f"LPPool{n}d", lambda t, n=n: [((2.0, 2), (t(1, 2, *[4] * n, low=0.1, high=2),))]) for n in (1, 2, 3)),
    *(_module(f"FractionalMaxPool{n}d", _fractional(n), gradcheck_nondet_tol=1e-12) for n in (2, 3)),
    *(_module(n, lambda t: [((), (t(3, 4), t(3, 4), _signs(t)))]) for n in ("CosineEmbeddingLoss",)),
    *(_module(n, lambda t: [((), (t(3), t(3), _signs(t)))]) for n in ("MarginRankingLoss",)),
    *(_module(n, lambda t: [((), (t(3), _signs(t)))]) for n in ("SoftMarginLoss", "HingeEmbeddingLoss")),
    _module("KLDivLoss", lambda t: [((), (t(3, 4).log_softmax(1), t(3, 4, low=0.1, high=1)))]), _module("MultiMarginLoss", lambda t: [((), (t(3, 4), _index(t, 4)))]),
    _module("MultiLabelMarginLoss", lambda t: [((), (t(3, 4), _labels(t)))]),
    _module("MultiLabelSoftMarginLoss", lambda t: [((), (t(3, 4), t(3, 4, low=0, high=1)))]),
    _module("GaussianNLLLoss", lambda t: [((), (t(3), t(3), t(1, low=0.1, high=1)))]), _module("PoissonNLLLoss", lambda t: [((), (t(3), t(3, low=0, high=2)))]),
    _module("CTCLoss", lambda t: [((), (t(5, 2, 4).log_softmax(2), _targets(t), *[make_tensor((2,), device="cpu", dtype=int64, low=n, high=n + 1) for n in (5, 2)]))]),
    _module("LinearCrossEntropyLoss", lambda t: [((4, 3), (t(3, 4), _index(t, 3)))])]
