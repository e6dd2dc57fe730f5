"""torch.testing._internal.common_optimizers (layer 8): optimizers with settings, for tests that go over all of them."""

from __future__ import annotations

import importlib
from functools import partial

from ..._core import publish as _publish
from ._parametrized import parametrize
from .opinfo.core import DecorateInfo

_optim = importlib.import_module(f"{__package__.split('.')[0]}.optim")


class OptimizerInput:
    """Parameters and settings of an optimizer."""

    __slots__ = ("desc", "kwargs", "params")

    def __init__(self, params, kwargs, desc=""):
        self.params = params if isinstance(params, (list, tuple)) or params is None else list(params)
        self.kwargs, self.desc = kwargs, desc

    def __repr__(self):
        return f"params={self.params}, kwargs={self.kwargs}, desc={self.desc}"


class OptimizerInfo:
    """A class of optimizers and settings of it."""

    def __init__(self, optim_cls, *, optim_inputs_func, supported_impls=("foreach", "differentiable"), supports_sparse=False, supports_complex=True,
                 step_requires_closure=False, supports_param_groups=True, skips=(), decorators=None, only_supports_sparse_grads=False,
                 supports_multiple_devices=True):
        self.optim_cls, self.optim_inputs_func, self.supported_impls = optim_cls, optim_inputs_func, supported_impls
        self.supports_sparse, self.supports_complex, self.step_requires_closure = supports_sparse, supports_complex, step_requires_closure
        self.supports_param_groups, self.only_supports_sparse_grads = supports_param_groups, only_supports_sparse_grads
        self.supports_multiple_devices, self.supports_fused_on, self.has_capturable_arg = supports_multiple_devices, (), False
        self.decorators = (*(decorators or ()), *skips)

    def get_decorators(self, test_class, test_name, device, dtype, param_kwargs):
        """The decorators for one test."""
        fits = lambda d: d.is_active(test_class, test_name, device, dtype, param_kwargs)  # noqa: E731
        return [d for x in self.decorators for d in ([x] if not isinstance(x, DecorateInfo) else x.decorators if fits(x) else [])]

    @property
    def name(self):
        """The name of the class."""
        return self.optim_cls.__name__


class optims(parametrize):
    """One test for each optimizer and type; the test takes `optim_info` and `dtype`."""

    def __init__(self, optim_info_iterable, dtypes=None):
        self.infos, self.types = list(optim_info_iterable), list(dtypes or [None])

    def variants(self, test, generic_cls, device_cls):
        """(test, name of the optimizer, arguments, function to decorators)."""
        kind = getattr(device_cls, "device_type", "cpu")
        for info in self.infos:
            for dtype in self.types:
                kwargs = {"optim_info": info, "dtype": dtype}
                yield test, info.name, kwargs, partial(_decorators, info, generic_cls.__name__, test.__name__, kind)


def _decorators(info, cls, test, kind, kwargs):
    return info.get_decorators(cls, test, kind, kwargs["dtype"], kwargs)


def _inputs(settings, device, dtype=None):
    return [OptimizerInput(None, dict(kwargs), "_".join(kwargs) or "default") for kwargs in settings]


def _info(name, *settings, **more):
    return OptimizerInfo(getattr(_optim, name), optim_inputs_func=partial(_inputs, ({}, *settings)), **more)


optim_db = [
    _info("Adadelta", {"lr": 0.01}, {"weight_decay": 0.1}, {"rho": 0.95}, {"maximize": True}),
    _info("Adafactor", {"lr": 0.01}, {"weight_decay": 0.1}, supports_complex=False),
    _info("Adagrad", {"lr": 0.1}, {"weight_decay": 0.1}, {"lr_decay": 0.1}, {"maximize": True}, supports_sparse=True),
    _info("Adam", {"lr": 0.01}, {"weight_decay": 0.1}, {"amsgrad": True}, {"maximize": True}),
    _info("Adamax", {"lr": 0.01}, {"weight_decay": 0.1}, {"maximize": True}),
    _info("AdamW", {"lr": 0.01}, {"weight_decay": 0.1}, {"amsgrad": True}, {"maximize": True}),
    _info("ASGD", {"lr": 0.02}, {"t0": 100}, {"weight_decay": 0.1}, {"maximize": True}),
    _info("LBFGS", {"lr": 0.01}, {"tolerance_grad": 1e-6}, {"line_search_fn": "strong_wolfe"}, step_requires_closure=True, supports_param_groups=False),
    _info("NAdam", {"lr": 1e-3}, {"weight_decay": 0.1}, {"momentum_decay": 6e-3}, {"decoupled_weight_decay": True}),
    _info("RAdam", {"lr": 2e-3}, {"eps": 1e-6}, {"weight_decay": 0.1}, {"decoupled_weight_decay": True}),
    _info("RMSprop", {"lr": 1e-3}, {"weight_decay": 0.1}, {"centered": True}, {"momentum": 0.1}, {"maximize": True}),
    _info("Rprop", {"lr": 2e-4}, {"etas": (0.5, 1.5)}, {"maximize": True}),
    _info("SGD", {"lr": 1e-2}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.5}, {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.1},
          supports_sparse=True)]


def _get_optim_inputs_including_global_cliquey_kwargs(device, dtype, optim_info, skip=()):
    """The settings, and each of them with every way of computing it that is not in `skip`."""
    plain = optim_info.optim_inputs_func(device=device)
    flags = [f for f in ("foreach", "fused", "differentiable") if f not in skip and f in optim_info.supported_impls]
    out = []
    for given in plain:
        out.append(OptimizerInput(given.params, {**given.kwargs, **dict.fromkeys(flags, False)}, f"{given.desc} default"))
        out += [OptimizerInput(given.params, {**given.kwargs, **dict.fromkeys(flags, False), flag: True}, f"{given.desc} {flag}") for flag in flags]
    return out


__getattr__ = _publish.missing("torch.testing._internal.common_optimizers")
