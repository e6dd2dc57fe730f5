"""torch.testing._internal.common_utils (layer 8): a TestCase for tensors, parametrised tests, flags and guards."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import os
import platform
import random
import re
import sys
import tempfile
import unittest
import warnings

import numpy as np

from ..._core import dtypes, worth
from ..._core import publish as _publish
from ..._tensor import Tensor
from ...autograd import gradcheck as _check
from ...autograd.grad_mode import is_grad_enabled, set_grad_enabled
from ...overrides import TorchFunctionMode
from ...random import get_rng_state, manual_seed, set_rng_state
from ._equal import difference
from ._filled import do_test_dtypes, do_test_empty_full  # noqa: F401
from ._more_utils import *  # noqa: F403
from ._more_utils import DeterministicGuard
from ._of_machines import *  # noqa: F403
from ._parametrized import _TestParametrizer, instantiate_parametrized_tests, parametrize, reparametrize, subtest  # noqa: F401
from ._recorded import RecordedCase
from ._sparse_made import SparseCase, coalescedonoff, is_coalesced_indices, random_sparse_matrix, random_sparse_pd_matrix  # noqa: F401


class CrossRefMode(TorchFunctionMode):
    """A mode that calls everything as it is: runs that compare with other implementations put theirs here."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


SEED = 1234
IS_WINDOWS, IS_MACOS, IS_LINUX = sys.platform == "win32", sys.platform == "darwin", sys.platform == "linux"
IS_X86, IS_ARM64 = platform.machine() in ("x86_64", "i386"), platform.machine() in ("arm64", "aarch64")
IS_PPC = IS_S390X = IS_JETSON = IS_CI = IS_FBCODE = IS_SANDCASTLE = IS_REMOTE_GPU = IS_IN_CI = False
TEST_NUMPY = True
TEST_SCIPY = importlib.util.find_spec("scipy") is not None
TEST_MKL = False
TEST_WITH_SLOW = os.getenv("PYTORCH_TEST_WITH_SLOW", "0") == "1"
TEST_SKIP_FAST = os.getenv("PYTORCH_TEST_SKIP_FAST", "0") == "1"
TEST_WITH_SLOW_GRADCHECK = os.getenv("PYTORCH_TEST_WITH_SLOW_GRADCHECK", "0") == "1"
_NOT_HERE = ("ACCELERATOR", "ACL", "CUDA", "CUDA_GRAPH", "DILL", "HPU", "MPS", "MULTIACCELERATOR", "MULTIGPU", "NUMBA", "ONEDNN", "PRIVATEUSE1", "XPU",
             "WITH_AOT_EAGER", "WITH_ASAN", "WITH_CROSSREF", "WITH_DEV_DBG_ASAN", "WITH_MTIA", "WITH_ROCM", "WITH_TORCHDYNAMO", "WITH_TORCHINDUCTOR",
             "WITH_TSAN", "WITH_TV", "WITH_UBSAN", "CUDA_MEM_LEAK_CHECK", "LIBROSA", "OPT_EINSUM", "WITHOUT_COMPILED_AUTOGRAD")
globals().update({f"TEST_{n}": False for n in _NOT_HERE})


def load_tests(loader, tests, pattern):
    """All tests, for unittest's loader."""
    return tests


def run_tests(argv=None):
    """Run the tests of the main module."""
    unittest.main(argv=argv or sys.argv)


# Skips: conditions of machines and builds that this package never has need no skip

def _needless(fn=None, *args, **kwargs):
    """A decorator, or one with arguments, that changes nothing."""
    return fn if callable(fn) else lambda f: f


for _name in ("CachingAllocatorDisabled", "CompiledWithoutNumpy", "CrossRef", "FreeThreaded", "Hpu", "LegacyJitExecutor", "MPS", "NNModuleInlined", "NoLapack",
              "Rocm", "RocmArch", "RocmVersionLessThan", "SlowGradcheckEnv", "TorchDynamo", "TorchInductor", "Windows", "WindowsXPU", "Xpu"):
    globals()[f"skipIf{_name}"] = _needless
for _name in ("ACL", "Py312Plus", "ROCm", "S390X", "TorchDynamo", "Windows"):
    globals()[f"xfailIf{_name}"] = _needless
markDynamoStrictTest = unMarkDynamoStrictTest = skipCUDAMemoryLeakCheckIf = skipCUDANonDefaultStreamIf = skipRocmIfTorchInductor = _needless
skipIfNoSciPy = unittest.skipUnless(TEST_SCIPY, "test require SciPy, but SciPy not found")
skipIfNoXNNPACK = unittest.skip("there is no XNNPACK here")
skipIfNoDill = unittest.skip("there is no dill here")
skipIfNotMiopenSuggestNHWC = unittest.skip("there is no MIOpen here")


def slowTest(fn):
    """A test that runs only where slow tests are asked for (PYTORCH_TEST_WITH_SLOW=1)."""
    return slowTestIf(True)(fn)


def slowTestIf(condition):
    """`slowTest` under a condition."""
    return unittest.skipIf(condition and not TEST_WITH_SLOW, "test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")


def xfailIf(condition):
    """Expect failure under a condition."""
    return unittest.expectedFailure if condition else _needless


def skip_but_pass_in_sandcastle_if(condition, reason):
    """Skip under a condition."""
    return unittest.skipIf(condition, reason)


def skip_but_pass_in_sandcastle(reason):
    """Skip."""
    return unittest.skip(reason)


def scoped_load_inline(fn):
    """Skips a test that builds C++: nothing here loads extensions of PyTorch."""
    return unittest.skip("there are no C++ extensions here")(fn)


# Guards

@contextlib.contextmanager
def freeze_rng_state():
    """The random state before is the random state after."""
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def set_rng_seed(seed=None):
    """Seed every generator of numbers that tests use."""
    seed = SEED if seed is None else seed
    manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def _setting(name, read, value):
    """Set by torch's own function inside, and set back."""
    table = _publish.load_all()
    before = table[read]()
    table[name](value)
    try:
        yield
    finally:
        table[name](before)


@contextlib.contextmanager
def set_default_dtype(dtype):
    """Another default dtype inside."""
    yield from _setting("torch.set_default_dtype", "torch.get_default_dtype", dtype)


@contextlib.contextmanager
def set_warn_always_context(new_val: bool):
    """Warnings that come once come every time inside."""
    yield from _setting("torch.set_warn_always", "torch.is_warn_always_enabled", new_val)


@contextlib.contextmanager
def disable_gc():
    """No collection of cycles inside."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextlib.contextmanager
def TemporaryFileName(*args, **kwargs):
    """The name of a file that goes away after."""
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "file")


TemporaryDirectoryName = tempfile.TemporaryDirectory


def suppress_warnings(fn):
    """A function whose warnings are not shown."""

    @functools.wraps(fn)
    def quiet(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fn(*args, **kwargs)

    return quiet


class CudaMemoryLeakCheck(contextlib.nullcontext):
    """There is no CUDA memory to look after."""


# Numbers

numpy_to_torch_dtype_dict = {np.dtype(n).type: dtypes.DTYPES[n] for n in
                             ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
                              "complex128")}
torch_to_numpy_dtype_dict = {v: k for k, v in numpy_to_torch_dtype_dict.items()} | {dtypes.bfloat16: np.float32, dtypes.SMALL["complex32"]: np.complex64}


def numpy_to_torch_dtype(np_dtype):
    """The dtype here of one of NumPy."""
    return numpy_to_torch_dtype_dict[np_dtype if isinstance(np_dtype, type) else np_dtype.type]


def random_symmetric_matrix(size, *batch, dtype=None, device=None):
    """A random symmetric matrix (batch of them)."""
    a = _publish.load_all()["torch.randn"](*batch, size, size, dtype=dtype, device=device)
    return (a + a.mT).div_(2)


def random_symmetric_psd_matrix(size, *batch, dtype=None, device=None):
    """A random symmetric matrix without negative eigenvalues."""
    a = _publish.load_all()["torch.randn"](*batch, size, size, dtype=dtype, device=device)
    return a @ a.mT


def random_symmetric_pd_matrix(size, *batch, dtype=None, device=None):
    """A random symmetric matrix of positive eigenvalues."""
    table = _publish.load_all()
    return random_symmetric_psd_matrix(size, *batch, dtype=dtype, device=device) + table["torch.eye"](size, dtype=dtype, device=device) * 1e-5


def is_iterable_of_tensors(iterable, include_empty=False):
    """Whether something is iterable and holds only tensors."""
    if isinstance(iterable, Tensor):
        return False
    try:
        items = list(iterable)
    except TypeError:
        return False
    return bool(items or include_empty) and all(isinstance(x, Tensor) for x in items)


def noncontiguous_like(t):
    """The values of `t` in memory with gaps."""
    if not t.is_contiguous() or t.numel() < 2:
        return t
    wide = t.detach().unsqueeze(-1).expand(*t.shape, 2).clone()
    return wide[..., 0].requires_grad_(t.requires_grad)


def gradcheck(fn, inputs, **kwargs):
    """`torch.autograd.gradcheck` in fast mode with batched gradients, unless told otherwise."""
    return _check(fn, inputs, **_filled(kwargs))


def gradgradcheck(fn, inputs, grad_outputs=None, **kwargs):
    """`torch.autograd.gradgradcheck`, likewise."""
    from ...autograd import gradgradcheck as again

    return again(fn, inputs, grad_outputs, **_filled(kwargs))


def _assertGradAndGradgradChecks(test_case, apply_fn, inputs, **kwargs):
    """First and second gradients hold, or an assertion of the test case fails."""
    test_case.assertTrue(gradcheck(apply_fn, inputs, **kwargs))
    test_case.assertTrue(gradgradcheck(apply_fn, inputs, **kwargs))


def download_file(url, binary=True):
    """Skips the test: nothing is downloaded."""
    raise unittest.SkipTest(f"{url} is not here, and tests download nothing")


def _filled(kwargs):
    defaults = {"check_batched_grad": True, "fast_mode": not TEST_WITH_SLOW_GRADCHECK}
    return {**kwargs, **{k: v for k, v in defaults.items() if kwargs.get(k) is None}}


# The test case

class TestCase(SparseCase, RecordedCase):
    """unittest's, with comparisons of tensors; every test starts from the same seed."""

    _precision = 0.0
    _rel_tol = 0.0
    longMessage = True
    maxDiff = None

    def setUp(self):
        """Seed; no advice about programs that compile again and again, which tests over shapes are full of."""
        set_rng_seed(SEED)
        self.addCleanup(worth.advice.__setitem__, 0, worth.advice[0])
        worth.advice[0] = False
        self._grad_before = is_grad_enabled()

    def tearDown(self):
        """The grad mode is what it was."""
        if hasattr(self, "_grad_before"):
            set_grad_enabled(self._grad_before)

    @property
    def precision(self):
        """Absolute tolerance below which no comparison goes."""
        return self._precision

    @precision.setter
    def precision(self, value):
        self._precision = value

    @property
    def rel_tol(self):
        """Relative tolerance below which no comparison goes."""
        return self._rel_tol

    @rel_tol.setter
    def rel_tol(self, value):
        self._rel_tol = value

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, equal_nan=True, exact_dtype=True, exact_device=False, exact_layout=False,
                    exact_stride=False, exact_is_coalesced=False):
        """Fail unless both are equal: tensors within tolerances of their types, a tensor of one element also to a number, containers item by item."""
        if (atol is None) != (rtol is None):
            raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {'rtol' if rtol is None else 'atol'}.")
        options = {"atol": atol, "rtol": rtol, "equal_nan": equal_nan, "exact_dtype": exact_dtype, "exact_device": exact_device, "exact_stride": exact_stride,
                   "exact_layout": exact_layout, "precision": self.precision, "rel_tol": self.rel_tol}
        text = difference(x, y, options)
        if text is not None:
            raise self.failureException(text if msg is None else msg(text) if callable(msg) else f"{text}\n{msg}" if self.longMessage else msg)

    def assertNotEqual(self, x, y, msg=None, *, atol=None, rtol=None, **kwargs):
        """Fail where `assertEqual` does not."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, atol=atol, rtol=rtol, **kwargs)

    def assertEqualIgnoreType(self, *args, **kwargs):
        """`assertEqual` that does not look at dtypes."""
        return self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertEqualBroadcasting(self, x, y, *args, **kwargs):
        """`assertEqual` with y spread over the shape of x."""
        table = _publish.load_all()
        y = y if isinstance(y, Tensor) else table["torch.ones"](x.shape, dtype=x.dtype) * y
        return self.assertEqual(x, y.expand_as(x), *args, **kwargs)

    def assertEqualTypeString(self, x, y):
        """Same device, dtype and kind of type."""
        self.assertEqual(x.device, y.device)
        self.assertEqual(x.dtype, y.dtype)
        self.assertEqual(x.is_sparse, y.is_sparse)

    def assertObjectIn(self, obj, iterable):
        """Fail unless the very object is among the items."""
        if not any(obj is x for x in iterable):
            raise AssertionError("object not found in iterable")

    def assertGreaterAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        """first >= second, or nearly."""
        if not first >= second:
            self.assertAlmostEqual(first, second, places, msg, delta)

    def check_nondeterministic_alert(self, fn, caller_name, should_alert=True):
        """Fail unless a function raises, or warns, that it is not deterministic where that is asked for, and only then; not `should_alert`: never."""
        words = "does not have a deterministic implementation, but you set"
        for asked, warn_only in ((True, False), (True, True), (False, False)):
            with DeterministicGuard(asked, warn_only=warn_only), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                if asked and should_alert and not warn_only:
                    with self.assertRaisesRegex(RuntimeError, f"{caller_name} {words}"):
                        fn()
                    continue
                fn()
            found = any(words in str(w.message) and caller_name in str(w.message) for w in caught)
            self.assertEqual(found, asked and should_alert)

    def assertExpectedInline(self, actual, expect, skip=0):
        """A text is what stands in the test."""
        self.assertMultiLineEqual(actual if isinstance(actual, str) else str(actual), expect)

    def assertExpectedRaisesInline(self, exc_type, callable, expect, *args, **kwargs):
        """The words of what is raised."""
        try:
            callable(*args, **kwargs)
        except exc_type as e:
            self.assertExpectedInline(str(e), expect)
            return
        self.fail("Did not raise when expected to")

    def assertNotWarn(self, callable, msg=""):
        """Calling something gives no warning, with those that come once coming again."""
        with set_warn_always_context(True), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            callable()
        self.assertTrue(not said, msg)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category, regex=""):
        """Some warning inside is of the very class, and the words of one match, with those that come once coming again."""
        with set_warn_always_context(True), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yield
        if not said:
            self.fail("no warning caught")
        self.assertTrue(any(type(w.message) is category for w in said))
        self.assertTrue(any(re.match(regex, str(w.message)) for w in said), f"{re.compile(regex)}, {[w.message for w in said if type(w.message) is category]}")


class NoTest:
    """Nothing to run."""


def __getattr__(name):
    if name == "TestGradients":  # made of `TestCase`
        from ._gradients import TestGradients

        return TestGradients
    raise AttributeError(f"module 'torch.testing._internal.common_utils' has no attribute '{name}'")
