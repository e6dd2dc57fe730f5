"""torch.testing._internal.common_device_type (layer 8): device-generic tests, of which there are those of the CPU."""

from __future__ import annotations

import contextlib
import enum
import inspect
import os
import unittest
from functools import partial
from typing import NamedTuple

from ..._core import dtypes as _d
from ..._core import publish as _publish
from . import common_dtype as _types
from ._parametrized import _TestParametrizer, bound
from .common_cuda import _get_torch_cuda_version  # noqa: F401
from .common_utils import TestCase, _needless
from .opinfo.rules import running as _rules


class tol(NamedTuple):
    """A pair of tolerances."""

    atol: float
    rtol: float


class DeviceTypeTestBase(TestCase):
    """What instantiated classes derive from."""

    device_type = "generic_device_type"

    @classmethod
    def get_primary_device(cls):
        """The device of the tests."""
        return cls.device_type

    @classmethod
    def get_all_devices(cls):
        """All devices of the type."""
        return [cls.get_primary_device()]


class CPUTestBase(DeviceTypeTestBase):
    """The CPU."""

    device_type = "cpu"


class _For:
    """Remembers values for some device types on a test."""

    key, device = "dtypes", "all"

    def __init__(self, *values):
        self.values = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) and self.key == "dtypes" else values

    def __call__(self, fn):
        held = dict(getattr(fn, self.key, {}))
        held[self.device] = self.values
        setattr(fn, self.key, held)
        return fn


class dtypes(_For):
    """One test for each dtype."""


class dtypesIfCPU(dtypes):
    """For the CPU only."""

    device = "cpu"


class dtypesIfCUDA(dtypes):
    """For CUDA only."""

    device = "cuda"


class dtypesIfMPS(dtypes):
    """For MPS only."""

    device = "mps"


class dtypesIfXPU(dtypes):
    """For XPU only."""

    device = "xpu"


class dtypesIfHPU(dtypes):
    """For HPU only."""

    device = "hpu"


class dtypesIfPRIVATEUSE1(dtypes):
    """For other devices only."""

    device = "privateuse1"


class precisionOverride:
    """{dtype: absolute tolerance} of a test."""

    def __init__(self, d):
        self.d = d

    def __call__(self, fn):
        fn.precision_overrides = self.d
        return fn


class toleranceOverride(precisionOverride):
    """{dtype: tol} of a test."""

    def __call__(self, fn):
        fn.tolerance_overrides = self.d
        return fn


def _only(*devices, said=None):
    def decorate(fn):
        return fn if "cpu" in devices else unittest.skip(f"Only runs on {said or list(devices)}")(fn)

    return decorate


onlyCPU, onlyCUDA, onlyMPS, onlyXPU, onlyHPU = (_only(d, said=d) for d in ("cpu", "cuda", "mps", "xpu", "hpu"))
onlyCUDAAndPRIVATEUSE1 = onlyAccelerator = onlyPRIVATEUSE1 = _only("cuda")
onlyNativeDeviceTypes = _needless


def onlyOn(device_type):
    """Only on a device type or some."""
    return _only(*([device_type] if isinstance(device_type, str) else device_type))


def onlyNativeDeviceTypesAnd(devices=None):
    """The CPU is one."""
    return _needless


def deviceCountAtLeast(num_required_devices):
    """Only with so many devices; the test then takes a list of them."""

    def decorate(fn):
        fn.num_required_devices = num_required_devices
        return fn if num_required_devices <= 1 else unittest.skip(f"fewer than {num_required_devices} devices detected")(fn)

    return decorate


def largeTensorTest(size, device=None, inductor=False):
    """Runs."""
    return _needless


def expectedFailure(device_type):
    """Expected to fail on a device type."""
    return unittest.expectedFailure if device_type == "cpu" else _needless


expectedFailureCPU = unittest.expectedFailure
for _name in ("CUDA", "HPU", "MPS", "MPSComplex", "MPSPre14", "MPSPre15", "Meta", "XLA", "XPU"):
    globals()[f"expectedFailure{_name}"] = _needless
for _name in ("CPUIfNoFFT", "CPUIfNoLapack", "CUDAIfMiopen", "CUDAIfNoCudnn", "CUDAIfNoCusolver", "CUDAIfNoMagma", "CUDAIfNoMagmaAndNoCusolver", "CUDAIfRocm",
              "HPU", "Lazy", "MPS", "Meta", "PRIVATEUSE1", "XLA", "XPU", "CUDAIfNoSparseGeneric", "CUDAIfNotRocm", "CUDAIfNoMagmaAndNoLinalgsolver"):
    globals()[f"skip{_name}"] = _needless
for _name in ("CUDAIf", "HPUIf", "LazyIf", "MPSIf", "MetaIf", "PRIVATEUSE1If", "XLAIf", "XPUIf", "CUDAIfCudnnVersionLessThan", "CUDAVersionIn",
              "CUDAIfRocmVersionLessThan", "CUDAIfVersionLessThan", "GPUIf"):
    globals()[f"skip{_name}"] = lambda *args, **kwargs: lambda fn: fn
skipCPUIfNoMkl = unittest.skip("there is no MKL here")
skipCPUIfNoMkldnn = unittest.skip("there is no MKLDNN here")


def skipCPUIf(dep, reason):
    """Skip under a condition."""
    return unittest.skipIf(dep, reason)


skipCPUIfNoMklSparse = unittest.skip("there is no MKL here")
NATIVE_DEVICES = ("cpu", "cuda", "xpu", "meta", "mps", "mtia", "privateuse1")
for _name in ("CUDAIfNoCusparseGeneric", "CUDAIfNoHipsparseGeneric", "CUDAIfNoMiopen", "CUDAIfNotMiopenSuggestNHWC", "CUDAIfNoCusolverROCMIfNoMagma"):
    globals()[f"skip{_name}"] = _needless


class skipIf:
    """Skip on a device type under a condition (which may be the name of an attribute of the class)."""

    def __init__(self, dep, reason, device_type=None):
        self.dep, self.reason, self.device_type = dep, reason, device_type

    def __call__(self, fn):
        meant = self.device_type in (None, "all", "cpu") and not isinstance(self.dep, str) and self.dep
        return unittest.skip(self.reason)(fn) if meant else fn


PYTORCH_CUDA_MEMCHECK = TEST_WITH_ROCM = TEST_WITH_ASAN = TEST_WITH_TSAN = TEST_WITH_UBSAN = TEST_WITH_MTIA = TEST_XPU = TEST_MPS = TEST_HPU = TEST_MKL = False
IS_FLEX_ATTENTION_CPU_PLATFORM_SUPPORTED = IS_FLEX_ATTENTION_CUDA_PLATFORM_SUPPORTED = IS_FLEX_ATTENTION_XPU_PLATFORM_SUPPORTED = HAS_PSUTIL = False


class CUDATestBase(DeviceTypeTestBase):
    """CUDA, of which no tests are made."""

    device_type = "cuda"


class OpDTypes(enum.Enum):
    """Which types of an operator `ops` makes tests of."""

    supported = 0
    unsupported = 1
    supported_backward = 2
    unsupported_backward = 3
    any_one = 4
    none = 5
    any_common_cpu_cuda_one = 6


ANY_DTYPE_ORDER = (_d.float32, _d.float64, _d.complex64, _d.complex128, _d.float16, _d.bfloat16, _d.int64, _d.int32, _d.int16, _d.int8, _d.uint8, _d.bool_)


class ops(_TestParametrizer):
    """One test for each operator of a list, and each of its types that is wanted; the test takes `op` and, with types, `dtype`."""

    def __init__(self, op_list, *, dtypes=OpDTypes.supported, allowed_dtypes=None, skip_if_dynamo=True):
        self.op_list, self.wanted = list(op_list), dtypes
        self.allowed = None if allowed_dtypes is None else set(allowed_dtypes)

    def _parametrize_test(self, test, generic_cls, device_cls):
        """(test, name of the operator, arguments, function to decorators)."""
        kind = getattr(device_cls, "device_type", "cpu")
        for op in self.op_list:
            for dtype in self._types(op, kind):
                kwargs = {"op": op} if dtype is None else {"op": op, "dtype": dtype}
                yield test, op.formatted_name, kwargs, partial(_of_op, op, generic_cls.__name__, test, kind)

    def _types(self, op, kind):
        wanted = self.wanted
        if wanted is OpDTypes.none:
            return [None]
        every, backward = op.supported_dtypes(kind), op.supported_backward_dtypes(kind)
        if isinstance(wanted, OpDTypes):
            found = {OpDTypes.supported: every, OpDTypes.unsupported: set(_types.get_all_dtypes()) - every, OpDTypes.supported_backward: backward,
                     OpDTypes.unsupported_backward: set(_types.get_all_dtypes()) - backward, OpDTypes.any_one: every,
                     OpDTypes.any_common_cpu_cuda_one: every & op.supported_dtypes("cuda")}[wanted]
        else:
            found = set(wanted)
        if self.allowed is not None:
            found = found & self.allowed
        found = [d for d in ANY_DTYPE_ORDER if d in found]
        return found[:1] if wanted in (OpDTypes.any_one, OpDTypes.any_common_cpu_cuda_one) else found


def _of_op(op, cls, test, kind, kwargs):
    dtype = kwargs.get("dtype")
    return [*op.get_decorators(cls, test.__name__, kind, dtype, kwargs), *_by_spec(test, op, kind, dtype)]


class SkipSpec(NamedTuple):
    """Which tests of an operator are skipped, or expected to fail."""

    op_name: str
    variant_name: str
    device_type: str | None
    dtypes: tuple | None
    expected_failure: bool


def xfail(op_name, variant_name="", *, device_type=None, dtypes=None):
    """For `skipOps`: an operator whose test is expected to fail."""
    return SkipSpec(op_name, variant_name, device_type, dtypes, True)


def skip(op_name, variant_name="", *, device_type=None, dtypes=None):
    """For `skipOps`: an operator whose test is skipped."""
    return SkipSpec(op_name, variant_name, device_type, dtypes, False)


def skipOps(to_skip):
    """Skip some tests of a test under `ops`, or expect them to fail."""

    def decorate(fn):
        fn.skipped_ops = [*getattr(fn, "skipped_ops", ()), *to_skip]
        return fn

    return decorate


def _by_spec(test, op, kind, dtype):
    return [unittest.expectedFailure if s.expected_failure else unittest.skip("Skipped!") for s in getattr(test, "skipped_ops", ())
            if (s.op_name, s.variant_name) == (op.name, op.variant_test_name) and s.device_type in (None, kind) and (s.dtypes is None or dtype in s.dtypes)]


def get_all_device_types():
    """Those that tests run on."""
    return ["cpu"]


def get_device_type_test_bases():
    """The CPU's."""
    return [CPUTestBase]


PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY, PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY = "PYTORCH_TESTING_DEVICE_ONLY_FOR", "PYTORCH_TESTING_DEVICE_EXCEPT_FOR"


def filter_desired_device_types(device_type_test_bases, except_for=None, only_for=None):
    """Those of the classes whose device types are wanted."""
    listed = [set(names) if names else None for names in (except_for, only_for)]
    if all(listed) and listed[0] & listed[1]:
        raise AssertionError(f"device types both in except_for and in only_for: {sorted(listed[0] & listed[1])}")
    return [b for b in device_type_test_bases if b.device_type not in (listed[0] or ()) and (listed[1] is None or b.device_type in listed[1])]


def get_desired_device_type_test_bases(except_for=None, only_for=None, include_lazy=False, allow_mps=False, allow_xpu=False):
    """The classes of device types that a file wants, and the environment."""
    one = lambda names: [names] if isinstance(names, str) else names  # noqa: E731
    asked = lambda key: [n for n in os.getenv(key, "").split(",") if n]  # noqa: E731
    found = filter_desired_device_types(get_device_type_test_bases(), one(except_for), one(only_for))
    return filter_desired_device_types(found, asked(PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY), asked(PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY))


def instantiate_device_type_tests(generic_test_class, scope, except_for=None, only_for=None, include_lazy=False, allow_mps=False, allow_xpu=False):
    """Put a class of the CPU's tests in `scope` instead of a generic one: each test gets `device`, and `dtype` where it names some."""
    scope.pop(generic_test_class.__name__, None)
    if CPUTestBase not in get_desired_device_type_test_bases(except_for, only_for):
        return
    name = f"{generic_test_class.__name__}CPU"
    tests = {k: f for k, f in vars(generic_test_class).items() if k.startswith("test") and callable(f)}
    for key in tests:  # what is made derives from it, for `super()` in its methods, and has its own tests only
        delattr(generic_test_class, key)
    made = type(name, (CPUTestBase, generic_test_class), {"__module__": generic_test_class.__module__, "__qualname__": name})
    for key, test in tests.items():
        _instantiate(made, key, test, generic_test_class)
    scope[name] = made


def _instantiate(made, name, test, generic):
    variants = getattr(test, "parametrize_fn", None)
    sets = [(test, "", {}, lambda _: [])] if variants is None else list(variants(test, generic, made))
    held = getattr(test, "dtypes", {})
    types = held.get("cpu", held.get("all", (None,)))
    for body, suffix, kwargs, decorators in sets:
        for group in types:
            _place(made, name, body, suffix, dict(kwargs), group, decorators)


def _place(made, name, body, suffix, kwargs, group, decorators):
    full = "_".join(x for x in (name, suffix, "cpu", _called(group or kwargs.get("dtype"))) if x)
    asked = inspect.signature(body).parameters
    if group is not None:
        kwargs["dtypes" if isinstance(group, (list, tuple)) else "dtype"] = group
    run = bound(body, kwargs, decorators(kwargs))
    plural = hasattr(body, "num_required_devices")

    def test(self):
        kind = kwargs.get("dtype", group)
        overrides = getattr(run, "tolerance_overrides", {}).get(kind) if not isinstance(kind, (list, tuple)) else None
        precision = getattr(run, "precision_overrides", {}).get(kind) if not isinstance(kind, (list, tuple)) else None
        if overrides is not None:
            self.precision, self.rel_tol = overrides.atol, overrides.rtol
        elif precision is not None:
            self.precision = precision
        with _ruled(getattr(run, "sample_skips_and_xfails", ())):
            if "device" not in asked and "devices" not in asked:
                return run(self)
            return run(self, **{"devices" if "devices" in asked else "device": ["cpu"] if plural else "cpu"})

    test.__dict__.update({k: v for k, v in vars(run).items() if k != "__wrapped__"})  # whether it is skipped, and what else decorators say of it
    test.__name__ = full
    setattr(made, full, test)


@contextlib.contextmanager
def _ruled(rules):
    _rules.append(rules)
    try:
        yield
    finally:
        _rules.pop()


def _called(group):
    if group is None:
        return ""
    return "_".join(str(d).split(".")[-1] for d in (group if isinstance(group, (list, tuple)) else (group,)))


e4m3_type, e5m2_type = getattr(_d, "float8_e4m3fn", None), getattr(_d, "float8_e5m2", None)
E4M3_MAX_POS, E5M2_MAX_POS = 448.0, 57344.0


def has_cusolver():
    """False: there is no CUDA in the sense of these flags."""
    return False


has_hipsolver = has_cusolver


def disablecuDNN(fn):
    """A test as it is: there is nothing to turn off."""
    return fn


disableMkldnn = disablecuDNN


def skipCUDAIfRocmHipBlasltVersionLessThan(version=None):
    """A test as it is."""
    return lambda fn: fn


skipCUDANonDefaultStreamIf = skipCUDAIfRocmHipBlasltVersionLessThan
__getattr__ = _publish.missing("torch.testing._internal.common_device_type")
