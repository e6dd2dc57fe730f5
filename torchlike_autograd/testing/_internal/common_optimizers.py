"""torch.testing._internal.common_optimizers (layer 8): optimizers with settings, for tests that go over all of them."""

from __future__ import annotations

import enum
import importlib
from functools import partial

from ..._core import publish as _publish
from ._optim_settings import FLAGS, REFUSED, SETTINGS, TENSOR
from ._parametrized import _TestParametrizer
from .opinfo.core import DecorateInfo

_torch = importlib.import_module(__package__.split(".")[0])
_optim = importlib.import_module(f"{_torch.__name__}.optim")


class OptimizerInput:
    """Parameters and settings of an optimizer."""

    __slots__ = ("desc", "kwargs", "params")

    def __init__(self, params, kwargs, desc=""):
        self.params = params if isinstance(params, (list, tuple)) or params is None else list(params)
        self.kwargs, self.desc = kwargs, desc

    def __repr__(self):
        return f"params={self.params}, kwargs={self.kwargs}, desc={self.desc}"


_lr = _optim.lr_scheduler
_SCHEDULERS = ([lambda opt: _lr.StepLR(opt, gamma=0.9, step_size=10), lambda opt: _lr.ReduceLROnPlateau(opt)],)


class OptimizerErrorEnum(enum.Enum):
    """When an optimizer refuses."""

    CONSTRUCTION_ERROR = 0
    STEP_ERROR = 1


class ErrorOptimizerInput:
    """Parameters and settings that an optimizer refuses, when, and how."""

    __slots__ = ("error_on", "error_regex", "error_type", "optimizer_error_input")

    def __init__(self, optimizer_error_input, *, error_on=OptimizerErrorEnum.CONSTRUCTION_ERROR, error_type=RuntimeError, error_regex=""):
        self.optimizer_error_input, self.error_on, self.error_type, self.error_regex = optimizer_error_input, error_on, error_type, error_regex


def get_error_inputs_for_all_optims(device, dtype):
    """What every optimizer refuses; nothing for other devices than the CPU."""
    if _get_device_type(device) != "cpu":
        return []
    one, two = (_torch.nn.Parameter(_torch.randn(1, 1, device=device, dtype=dtype)) for _ in range(2))
    refused = lambda params, desc, kind, words, **kwargs: ErrorOptimizerInput(  # noqa: E731
        _given(params, kwargs, desc), error_type=kind, error_regex=words)
    missing = "all optimizer params should be with/without names. Some param names are missing"
    mixed = "all optimizer param groups should be with/without names. cannot add param group with names to the optimizer"
    return [
        refused(one, "invalid param type", TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts"),
        refused([one, one], "a param group cannot have duplicate parameters", UserWarning, ".*a parameter group with duplicate parameters.*"),
        refused([{"params": one}, {"params": one}], "duplicate parameters should not occur across param groups either", ValueError,
                "some parameters appear in more than one parameter group"),
        refused(None, "Tensor lr must be 1-element", ValueError, "Tensor lr must be 1-element", lr=_torch.tensor([0.001, 0.001])),
        refused([("weight", one), two], "all optimizer params should be with/without names", ValueError, missing),
        refused([{"params": [one], "lr": 1e-2}, {"params": [("weight", two)]}], "all optimizer param groups should be with/without names.", ValueError,
                mixed)]


def _given(params, kwargs, desc):
    """An OptimizerInput whose parameters are what is given, be it one tensor."""
    out = OptimizerInput(None, kwargs, desc)
    out.params = params
    return out


def _get_device_type(device):
    """The type of a device, or of the name of one."""
    return device.type if isinstance(device, _torch.device) else _torch.device(device).type


class TensorTracker:
    """Tensors in the order in which they were made, to compare with those of a second run."""

    def __init__(self, assert_eq_kwargs=None):
        self.assert_eq_kwargs, self.tensors = assert_eq_kwargs or {}, []

    def add(self, tensor):
        """Keep a copy."""
        self.tensors.append(tensor.detach().clone())

    def pop_check_set(self, tensor_to_set, testcase):
        """Compare a tensor with the first one kept, forget that, and give its values to the tensor."""
        testcase.assertGreater(len(self.tensors), 0, "no tensors to pop")
        kept = self.tensors.pop(0)
        testcase.assertTrue(isinstance(kept, _torch.Tensor))
        testcase.assertEqual(tensor_to_set, kept, **self.assert_eq_kwargs)
        with _torch.no_grad():
            tensor_to_set.copy_(kept)

    def all_popped(self):
        """Whether none is left."""
        return not self.tensors


class OptimizerInfo:
    """A class of optimizers and settings of it."""

    def __init__(self, optim_cls, *, optim_inputs_func, supported_impls=("foreach", "differentiable"), supports_sparse=False, supports_complex=True,
                 step_requires_closure=False, supports_param_groups=True, skips=(), decorators=None, only_supports_sparse_grads=False,
                 supports_multiple_devices=True, scheduler_inputs=None, metadata_for_sparse=({}, ()), optim_error_inputs_func=None,
                 supports_fused_on=(), has_capturable_arg=False,
                 not_og_supported_flags=("foreach", "differentiable", "maximize", "capturable")):
        self.optim_cls, self.optim_inputs_func, self.supported_impls = optim_cls, optim_inputs_func, supported_impls
        self.scheduler_inputs = _SCHEDULERS if scheduler_inputs is None else scheduler_inputs
        self.metadata_for_sparse, self.not_og_supported_flags = metadata_for_sparse, not_og_supported_flags
        self.optim_error_inputs_func = optim_error_inputs_func or get_error_inputs_for_all_optims
        self.supports_sparse, self.supports_complex, self.step_requires_closure = supports_sparse, supports_complex, step_requires_closure
        self.supports_param_groups, self.only_supports_sparse_grads = supports_param_groups, only_supports_sparse_grads
        self.supports_multiple_devices, self.supports_fused_on, self.has_capturable_arg = supports_multiple_devices, supports_fused_on, has_capturable_arg
        self.decorators = (*(decorators or ()), *skips)

    def get_decorators(self, test_class, test_name, device, dtype, param_kwargs):
        """The decorators for one test."""
        fits = lambda d: d.is_active(test_class, test_name, device, dtype, param_kwargs)  # noqa: E731
        return [d for x in self.decorators for d in ([x] if not isinstance(x, DecorateInfo) else x.decorators if fits(x) else [])]

    @property
    def name(self):
        """The name of the class."""
        return self.optim_cls.__name__


class optims(_TestParametrizer):
    """One test for each optimizer and type; the test takes `optim_info` and `dtype`."""

    def __init__(self, optim_info_iterable, dtypes=None):
        self.infos, self.types = list(optim_info_iterable), list(dtypes or [None])

    def _parametrize_test(self, test, generic_cls, device_cls):
        """(test, name of the optimizer, arguments, function to decorators)."""
        kind = getattr(device_cls, "device_type", "cpu")
        for info in self.infos:
            for dtype in self.types:
                kwargs = {"optim_info": info, "dtype": dtype}
                yield test, info.name, kwargs, partial(_decorators, info, generic_cls.__name__, test.__name__, kind)


def _decorators(info, cls, test, kind, kwargs):
    return info.get_decorators(cls, test, kind, kwargs["dtype"], kwargs)


def _with_tensors(value):
    """A setting with tensors in the places that are marked."""
    if isinstance(value, tuple):
        return tuple(map(_with_tensors, value))
    return _torch.tensor(0.001) if isinstance(value, str) and value == TENSOR else value


def _inputs(name, device, dtype=None):
    return [OptimizerInput(None, {k: _with_tensors(x) for k, x in kwargs.items()}, ", ".join(kwargs) or "default") for kwargs in SETTINGS[name]]


def _refused(name, device, dtype):
    """What every optimizer refuses, and what this one does."""
    out = get_error_inputs_for_all_optims(device, dtype)
    if not out:
        return out
    for kwargs, kind, words in REFUSED.get(name, ()):
        given = OptimizerInput(None, {k: _with_tensors(x) for k, x in kwargs.items()}, ", ".join(kwargs))
        out.append(ErrorOptimizerInput(given, error_type=kind, error_regex=words))
    return out


def _info(name):
    return OptimizerInfo(getattr(_optim, name), optim_inputs_func=partial(_inputs, name), optim_error_inputs_func=partial(_refused, name),
                         **FLAGS.get(name, {}))


optim_db = [_info(name) for name in SETTINGS]


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
