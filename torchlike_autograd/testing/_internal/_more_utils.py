"""What `common_utils` has beside the test case (layer 8): flags, guards, matrices, decorators."""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
import types
import unittest.mock

import numpy as np

from ..._core import config, dtypes, publish
from ..._tensor import Tensor
from .._creation import make_tensor
from ._parametrized import parametrize
from .common_dtype import get_all_dtypes

__all__ = [
    "DEVICE_LIST_SUPPORT_PROFILING_TEST", "GRADCHECK_NONDET_TOL", "IS_CPU_EXT_SVE_SUPPORTED", "IS_FILESYSTEM_UTF8_ENCODING", "MACOS_VERSION", "MI200_ARCH",
    "MI300_ARCH", "NATIVE_DEVICES", "NAVI_ARCH", "NOTEST_CPU", "NO_MULTIPROCESSING_SPAWN", "PRINT_REPRO_ON_FAILURE", "TEST_CUDA_GRAPH_CONDITIONAL_NODES",
    "TEST_FAIRSEQ", "TEST_PRIVATEUSE1_DEVICE_TYPE", "TEST_TRANSFORMERS", "TEST_WITH_MIOPEN_SUGGEST_NHWC", "TEST_Z3", "AlwaysWarnTypedStorageRemoval",
    "BytesIOContext", "CudaNonDefaultStream", "CudaSyncGuard", "DeterministicGuard", "LazyVal", "NestedTensorTestCase", "SwapTensorsGuard", "TrackedInput",
    "TrackedInputIter", "bytes_to_scalar", "check_if_enable", "chunk_list", "clone_input_helper", "compare_equal_outs_and_grads", "copy_func",
    "decorateIf", "dtype2prec_DONTUSE", "dtype_name", "find_free_port", "find_library_location", "first_sample", "gcIfJetson", "get_all_dtypes",
    "get_cycles_per_ms", "get_function_arglist", "get_tensors_from", "has_corresponding_torch_dtype", "install_cpp_extension", "is_iterable", "iter_indices",
    "lazy_skip_if",
    "make_fullrank_matrices_with_distinct_singular_values", "make_symmetric_matrices", "make_symmetric_pd_matrices", "make_tensor", "mock_wrapper",
    "outs_and_grads",
    "parse_cmd_line_args", "raise_on_run_directly", "random_hermitian_matrix", "random_hermitian_pd_matrix", "random_hermitian_psd_matrix",
    "random_lowrank_matrix", "random_matrix", "random_square_matrix_of_rank", "random_well_conditioned_matrix", "recover_orig_fp32_precision",
    "requires_cuda", "requires_mkl", "requires_onednn", "retry", "runOnRocm", "runOnRocmArch", "runWithoutCompiledAutograd", "run_concurrently",
    "serialTest", "setBlasBackendsToDefaultFinally", "setLinalgBackendsToDefaultFinally", "setSdpaBackendsToDefaultFinally", "set_cwd",
    "set_default_tensor_type", "shell", "skipIfHpu_BUGGY", "skipIfNoXPU", "skipIfNotRegistered", "skipIfPythonVersionMismatch", "skipIfRocm_BUGGY",
    "skipIfXpu_BUGGY", "skip_exception_type", "skip_if_pytest", "swap", "to_gpu", "with_ieee_matmul_precision", "wrapDeterministicFlagAPITest",
    "wrapSwapTensorsTest", "xfailIfLinux", "xfail_inherited_tests", "xpassIfTorchDynamo_np"]

GRADCHECK_NONDET_TOL = 0.0
IS_FILESYSTEM_UTF8_ENCODING = sys.getfilesystemencoding() == "utf-8"
MACOS_VERSION = -1.0
MI200_ARCH = MI300_ARCH = NAVI_ARCH = ()
NATIVE_DEVICES = ("cpu", "cuda", "xpu", "meta", "mps", "mtia", "privateuse1")
DEVICE_LIST_SUPPORT_PROFILING_TEST = ("cuda", "xpu")
PRINT_REPRO_ON_FAILURE = os.getenv("PYTORCH_PRINT_REPRO_ON_FAILURE", "1") == "1"
NOTEST_CPU = "cpu" in os.getenv("PYTORCH_TESTING_DEVICE_EXCEPT_FOR", "").split(",")
NO_MULTIPROCESSING_SPAWN = IS_CPU_EXT_SVE_SUPPORTED = TEST_CUDA_GRAPH_CONDITIONAL_NODES = TEST_FAIRSEQ = False
TEST_PRIVATEUSE1_DEVICE_TYPE = TEST_TRANSFORMERS = False
TEST_WITH_MIOPEN_SUGGEST_NHWC = TEST_Z3 = False


def _torch(name):
    return publish.load_all()[f"torch.{name}"]


# Decorators

def _same(fn=None, *args, **kwargs):
    return fn if callable(fn) else lambda f: f


runOnRocm = unittest.skip("test only runs on ROCm")
runWithoutCompiledAutograd = recover_orig_fp32_precision = gcIfJetson = _same
skipIfRocm_BUGGY = skipIfXpu_BUGGY = skipIfHpu_BUGGY = _same
setBlasBackendsToDefaultFinally = setLinalgBackendsToDefaultFinally = setSdpaBackendsToDefaultFinally = with_ieee_matmul_precision = _same
xpassIfTorchDynamo_np = _same
requires_cuda = unittest.skip("Requires CUDA")
requires_mkl = unittest.skip("Requires MKL")
requires_onednn = unittest.skip("Requires oneDNN")
skipIfNoXPU = unittest.skip("test required PyTorched compiled with XPU")


def runOnRocmArch(arch):
    """Skip: there is no ROCm device of any architecture."""
    return runOnRocm


def skipIfPythonVersionMismatch(predicate):
    """Skip where the version of Python does not fit."""
    return unittest.skipUnless(predicate(*sys.version_info[:3]), "the version of Python does not fit the test")


def xfailIfLinux(fn):
    """Expected to fail on Linux."""
    return unittest.expectedFailure(fn) if sys.platform == "linux" else fn


def serialTest(condition=True):
    """A test that wants the machine for itself."""
    return _same


def lazy_skip_if(condition, reason):
    """Skip by a condition that is asked for when the test runs."""

    def decorate(fn):
        @functools.wraps(fn)
        def test(*args, **kwargs):
            if condition():
                raise unittest.SkipTest(reason)
            return fn(*args, **kwargs)

        return test

    return decorate


def skip_if_pytest(fn):
    """Skip under pytest."""
    return lazy_skip_if(lambda: "PYTEST_CURRENT_TEST" in os.environ, "does not work under pytest")(fn)


def skipIfNotRegistered(op_name, message):
    """Skip: there is no registry of Caffe2's operators."""
    return unittest.skip(message)


def decorateIf(decorators, predicate_fn):
    """Decorate those tests of a parametrised one whose arguments `predicate_fn` picks."""
    many = decorators if isinstance(decorators, (list, tuple)) else [decorators]

    def decorate(fn):
        variants = getattr(fn, "parametrize_fn", None)
        pick = lambda kwargs, rest: [*rest, *(many if predicate_fn(kwargs) else [])]  # noqa: E731

        def again(test, generic_cls, device_cls):
            found = [(test, "", {}, lambda _: [])] if variants is None else variants(test, generic_cls, device_cls)
            for made, name, kwargs, more in found:
                yield made, name, kwargs, lambda k, m=more: pick(k, m(k))

        fn.parametrize_fn = again
        return fn

    return decorate


def xfail_inherited_tests(tests):
    """A class decorator: these inherited tests are expected to fail."""

    def decorate(cls):
        for name in tests:
            setattr(cls, name, unittest.expectedFailure(copy_func(getattr(cls, name))))
        return cls

    return decorate


def copy_func(f):
    """Another function object of the same code."""
    g = types.FunctionType(f.__code__, f.__globals__, name=f.__name__, argdefs=f.__defaults__, closure=f.__closure__)
    g = functools.update_wrapper(g, f)
    g.__kwdefaults__ = f.__kwdefaults__
    return g


def retry(ExceptionToCheck, tries=3, delay=3, skip_after_retries=False):
    """Call again after `delay` seconds where one of these exceptions comes; skip or raise after `tries` calls."""

    def decorate(fn):
        @functools.wraps(fn)
        def again(*args, **kwargs):
            for _ in range(tries - 1):
                with contextlib.suppress(ExceptionToCheck):
                    return fn(*args, **kwargs)
                time.sleep(delay)
            try:
                return fn(*args, **kwargs)
            except ExceptionToCheck as e:
                if not skip_after_retries:
                    raise
                raise unittest.SkipTest(f"Skipping after {tries} consecutive {e}") from e

        return again

    return decorate


# Guards

class DeterministicGuard:
    """Other settings of deterministic algorithms inside."""

    def __init__(self, deterministic, *, warn_only=False, fill_uninitialized_memory=True):
        self.new = deterministic, warn_only, fill_uninitialized_memory

    def _now(self):
        return *config.deterministic, config.fills[0]

    def _set(self, on, warn, fill):
        _api().use_deterministic_algorithms(on, warn_only=warn)
        config.set_fills(fill)

    def __enter__(self):
        self.before = self._now()
        self._set(*self.new)

    def __exit__(self, *exc):
        self._set(*self.before)


def _api():
    import importlib

    return importlib.import_module(__package__.split(".")[0])


def wrapDeterministicFlagAPITest(fn):
    """The settings of deterministic algorithms are put back after the test."""

    @functools.wraps(fn)
    def test(*args, **kwargs):
        now = DeterministicGuard(False)._now()
        with DeterministicGuard(now[0], warn_only=now[1]):
            return fn(*args, **kwargs)

    return test


class CudaSyncGuard(contextlib.nullcontext):
    """There is no CUDA to wait for."""


class CudaNonDefaultStream(contextlib.nullcontext):
    """There are no CUDA streams."""


class AlwaysWarnTypedStorageRemoval(contextlib.nullcontext):
    """Warnings of TypedStorage come as they are set."""


class BytesIOContext(io.BytesIO):
    """Bytes in memory, as a context manager that leaves them open."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        """Stays open."""


class SwapTensorsGuard:
    """Another setting of `torch.__future__.set_swap_module_params_on_conversion` inside."""

    def __init__(self, use_swap_tensors):
        self.use = use_swap_tensors

    def __enter__(self):
        future = _api().__future__
        self.before = future.get_swap_module_params_on_conversion()
        if self.use is not None:
            future.set_swap_module_params_on_conversion(self.use)

    def __exit__(self, *exc):
        _api().__future__.set_swap_module_params_on_conversion(self.before)


def wrapSwapTensorsTest(swap_flag=None):
    """The test runs under `SwapTensorsGuard`."""

    def decorate(fn):
        @functools.wraps(fn)
        def test(*args, **kwargs):
            with SwapTensorsGuard(swap_flag):
                return fn(*args, **kwargs)

        return test

    return decorate


@contextlib.contextmanager
def set_default_tensor_type(tensor_type):
    """Another default type inside."""
    before = _api().get_default_dtype()
    _api().set_default_tensor_type(tensor_type)
    try:
        yield
    finally:
        _api().set_default_dtype(before)


@contextlib.contextmanager
def set_cwd(path):
    """Another working directory inside."""
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def skip_exception_type(exc_type):
    """A test that raises this is skipped."""
    try:
        yield
    except exc_type as e:
        raise unittest.SkipTest(f"not implemented: {e}") from e


class LazyVal:
    """A value that is worked out when it is asked for."""

    def __init__(self, compute):
        self.compute = functools.lru_cache(maxsize=1)(compute)

    def __bool__(self):
        return bool(self.compute())


class TrackedInput:
    """A sample, where it is in its list, and what it is a sample of."""

    def __init__(self, index, val, type_desc):
        self.index, self.val, self.type_desc = index, val, type_desc


class TrackedInputIter:
    """Goes through samples; `track_callback` says what of them is kept for a message."""

    def __init__(self, child_iter, input_type_desc, item_callback=None, track_callback=None, set_seed=True, restrict_to_index=None):
        self.items, self.type_desc = enumerate(child_iter), input_type_desc
        self.item_callback = item_callback or (lambda x, i: x)
        self.track, self.only = track_callback or (lambda x: x), restrict_to_index

    def __iter__(self):
        return self

    def __next__(self):
        for i, x in self.items:
            if self.only in (None, i):
                return self.item_callback(x, i)
        raise StopIteration


# Small helpers

def dtype_name(dtype):
    """The name without the module's."""
    return str(dtype).split(".")[-1]


dtype2prec_DONTUSE = {dtypes.float32: 1e-5, dtypes.float64: 1e-5, dtypes.float16: 1e-2, dtypes.bfloat16: 1e-1}


def first_sample(self, samples):
    """The first of some samples; the test is skipped where there is none."""
    for sample in samples:
        return sample
    raise unittest.SkipTest("Skipped! Need at least 1 sample input")


def is_iterable(obj):
    """Whether something can be gone through."""
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def iter_indices(tensor):
    """All indices of a tensor."""
    if tensor.dim() == 0:
        return range(0)
    return range(tensor.size(0)) if tensor.dim() == 1 else itertools.product(*map(range, tensor.size()))


def chunk_list(lst, nchunks):
    """Every nchunks-th item, from each of the first ones."""
    return [lst[i::nchunks] for i in range(nchunks)]


def check_if_enable(test):
    """Every test is."""


def get_function_arglist(func):
    """The names of the parameters of a function."""
    import inspect

    return inspect.getfullargspec(func).args


def get_cycles_per_ms():
    """NotImplementedError: there is no clock of a GPU to ask."""
    raise NotImplementedError("get_cycles_per_ms: there is no CUDA here")


def find_library_location(lib_name):
    """NotImplementedError: there are no libraries of PyTorch's."""
    raise NotImplementedError(f"find_library_location: {lib_name} is a library of PyTorch's own build")


def install_cpp_extension(extension_root):
    """NotImplementedError: nothing here loads extensions of PyTorch."""
    raise NotImplementedError("install_cpp_extension: there are no C++ extensions here")


def find_free_port():
    """A port that nobody listens at."""
    with contextlib.closing(socket.socket()) as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def shell(command, cwd=None, env=None, stdout=None, stderr=None, timeout=None):
    """Run a command given as a list; its exit code."""
    return subprocess.run(command, cwd=cwd, env=env, stdout=stdout, stderr=stderr, timeout=timeout, check=False).returncode


def run_concurrently(worker_func, num_threads=None, args=(), kwargs=None):
    """Call one function or several in threads that begin together; the first exception is raised here."""
    workers = list(worker_func) if isinstance(worker_func, (list, tuple)) else [worker_func] * (num_threads or os.cpu_count())
    gate, raised = threading.Barrier(len(workers)), []

    def run(f):
        try:
            gate.wait()
            f(*args, **(kwargs or {}))
        except Exception as e:
            raised.append(e)

    threads = [threading.Thread(target=run, args=(f,)) for f in workers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if raised:
        raise raised[0]


class swap(parametrize):
    """One test for each setting of `SwapTensorsGuard`."""

    def __init__(self, swap_values):
        super().__init__("swap", swap_values)

    def _parametrize_test(self, test, generic_cls, device_cls):
        for value in self.values:
            yield wrapSwapTensorsTest(value)(test), f"swap_{value}", {}, lambda _: []


def mock_wrapper(method):
    """A method that also tells `.mock` of its arguments."""

    @functools.wraps(method)
    def told(self, *args, **kwargs):
        told.mock(*args, **kwargs)
        return method(self, *args, **kwargs)

    told.mock = unittest.mock.MagicMock()
    return told


def get_tensors_from(args, kwargs):
    """The set of the tensors among arguments."""
    return {x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)}


def to_gpu(obj, type_map=None):
    """NotImplementedError: there is no CUDA in the sense of the tests."""
    raise NotImplementedError("to_gpu: there is no CUDA here")


def parse_cmd_line_args():
    """The arguments that PyTorch's own runner knows, taken from the command line; what is left is unittest's."""
    known = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    known.add_argument("--subprocess", action="store_true")
    known.add_argument("--seed", type=int, default=1234)
    return known.parse_known_args(sys.argv[1:])[0]


def raise_on_run_directly(file_to_call):
    """RuntimeError: the tests of this file are run from another one."""
    raise RuntimeError("This test file is not meant to be run directly, use:\n\n"
                       f"\tpython {file_to_call} TESTNAME\n\ninstead.")


def bytes_to_scalar(byte_list, dtype, device):
    """The number that these bytes are."""
    kind = np.dtype(dtype_name(dtype).replace("bfloat16", "uint16"))
    value = np.frombuffer(bytes(byte_list), dtype=kind)[0].item()
    return _torch("tensor")(value, device=device, dtype=dtype)


def has_corresponding_torch_dtype(np_dtype):
    """Whether a dtype of NumPy is one here too."""
    return np.dtype(np_dtype).name in dtypes.DTYPES


def clone_input_helper(input):
    """A copy of a tensor, or of those in a list."""
    return input.clone() if isinstance(input, Tensor) else [clone_input_helper(x) for x in input] if isinstance(input, (list, tuple)) else input


def outs_and_grads(fn, graph_inps, inps):
    """(results, gradients of `inps`) of a call."""
    outs = fn(*graph_inps)
    outs = outs if isinstance(outs, (list, tuple)) else [outs]
    for o in outs:
        if isinstance(o, Tensor) and o.requires_grad:
            o.sum().backward(retain_graph=True)
    grads = [x.grad for x in inps if isinstance(x, Tensor)]
    for x in inps:
        if isinstance(x, Tensor):
            x.grad = None
    return outs, grads


def compare_equal_outs_and_grads(test, m1, m2, inps):
    """Fail unless two functions give the same results and gradients."""
    for a, b in zip(outs_and_grads(m1, inps, inps), outs_and_grads(m2, inps, inps)):
        test.assertEqual(a, b)


# Matrices

def random_matrix(rows, columns, *batch_dims, **kwargs):
    """A random matrix with singular values between 0 and 1, the largest 1; `singular=True`: one of them 0."""
    singular = kwargs.pop("singular", False)
    a = _torch("randn")(*batch_dims, rows, columns, **kwargs)
    u, _, vh = _torch("linalg.svd")(a, full_matrices=False)
    k = min(rows, columns)
    s = _torch("linspace")(1.0 / (k + 1), 1.0, k, **kwargs).to(u.real.dtype)
    if singular:
        s[0] = 0
    return (u * s.to(u.dtype).unsqueeze(-2)) @ vh


def random_lowrank_matrix(rank, rows, columns, *batch_dims, **kwargs):
    """A random matrix of a rank."""
    return _torch("randn")(*batch_dims, rows, rank, **kwargs) @ _torch("randn")(*batch_dims, rank, columns, **kwargs)


def random_square_matrix_of_rank(l, rank, dtype=dtypes.float64, device="cpu"):
    """A random square matrix of a rank."""
    return random_lowrank_matrix(rank, l, l, dtype=dtype, device=device)


def random_well_conditioned_matrix(*shape, dtype, device, mean=1.0, sigma=0.001):
    """A random matrix whose singular values are near `mean`."""
    x = _torch("rand")(shape, dtype=dtype, device=device)
    u, _, vh = _torch("linalg.svd")(x, full_matrices=False)
    s = (_torch("randn")(*shape[:-2], min(shape[-2:]), dtype=u.real.dtype, device=device) * sigma + mean).sort(-1, descending=True).values.to(dtype)
    return (u * s.unsqueeze(-2)) @ vh


def random_hermitian_matrix(l, *batches, **kwargs):
    """A random Hermitian matrix."""
    a = _torch("randn")(*batches, l, l, **kwargs)
    return (a + a.mH).div_(2)


def random_hermitian_psd_matrix(l, *batches, **kwargs):
    """A random Hermitian matrix without negative eigenvalues."""
    a = _torch("randn")(*batches, l, l, **kwargs)
    return a @ a.mH


def random_hermitian_pd_matrix(matrix_size, *batch_dims, dtype, device):
    """A random Hermitian matrix of positive eigenvalues."""
    return random_hermitian_psd_matrix(matrix_size, *batch_dims, dtype=dtype, device=device) + _torch("eye")(matrix_size, dtype=dtype, device=device)


def make_symmetric_matrices(*shape, device, dtype):
    """Random symmetric matrices."""
    t = make_tensor(shape, device=device, dtype=dtype)
    return (t + t.mT).div_(2)


def make_symmetric_pd_matrices(*shape, device, dtype):
    """Random symmetric matrices of positive eigenvalues."""
    t = make_tensor(shape, device=device, dtype=dtype)
    return t @ t.mT + _torch("eye")(shape[-1], device=device) * 1e-5


def make_fullrank_matrices_with_distinct_singular_values(*shape, device, dtype, requires_grad=False):
    """Random matrices whose singular values are apart from each other and from 0."""
    t = make_tensor(shape, device=device, dtype=dtype)
    u, _, vh = _torch("linalg.svd")(t, full_matrices=False)
    k = min(shape[-2:])
    s = 1.0 + _torch("arange")(k, dtype=u.real.dtype, device=device) / k
    return ((u * s.to(dtype)) @ vh).detach().requires_grad_(requires_grad)


class NestedTensorTestCase(unittest.TestCase):
    """Skips: there are no nested tensors here."""

    def setUp(self):
        """Skip."""
        self.skipTest("there are no nested tensors here")
