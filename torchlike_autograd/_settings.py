"""Names of `torch` itself that are settings, questions about the build, or arithmetic of sizes (layer 8)."""

from __future__ import annotations

import functools
import importlib
import math
import sys

from ._core import config as _config
from ._core import devices as _devices
from ._core.enums import enumeration
from ._core.shapes import is_long
from ._core.words import type_name
from ._tensor import Tensor

has_lapack = has_mkl = has_openmp = has_spectral = True  # what they stood for is here, by XLA


class OutOfMemoryError(RuntimeError):
    """An accelerator has no memory left; nothing here raises it by itself."""


class AcceleratorError(RuntimeError):
    """An accelerator failed; nothing here raises it by itself."""


class FatalError(Exception):
    """For programs that name it."""


class JITException(Exception):
    """An error of TorchScript, which is not here."""


Tag = enumeration("Tag", "torch", {n: i for i, n in enumerate((
    "core", "cudagraph_unsafe", "data_dependent_output", "dynamic_output_shape", "flexible_layout", "generated", "inplace", "inplace_view",
    "maybe_aliasing_or_mutating", "needs_contiguous_strides", "needs_exact_strides", "needs_fixed_stride_order", "nondeterministic_bitwise",
    "nondeterministic_seeded", "out", "out_variant", "pointwise", "pt2_compliant_tag", "reduction", "view_copy"))}, "What can be said of an operator.")


# Deterministic algorithms

class Deterministic:
    """What `use_deterministic_algorithms` and `set_deterministic_debug_mode` were told: (asked for, only warn)."""

    asked = _config.deterministic


def set_deterministic_debug_mode(debug_mode):
    """0 or "default", 1 or "warn", 2 or "error"; remembered, what runs here is deterministic on the CPU anyway."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    Deterministic.asked[:] = debug_mode > 0, debug_mode == 1


_MODES = ("default", "warn", "error")


def get_deterministic_debug_mode():
    """0, 1 or 2."""
    asked, only_warn = Deterministic.asked
    return (1 if only_warn else 2) if asked else 0


# Threads and numbers

def get_num_interop_threads():
    """What `set_num_interop_threads` was told, otherwise the number of cores that XLA may use."""
    if _interop:
        return _interop[0]
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def set_num_interop_threads(*args, **kwargs):
    """set_num_interop_threads(int): looked at; XLA chooses its threads at start.  RuntimeError the second time, as in torch."""
    if kwargs:
        raise TypeError("torch.set_num_interop_threads() takes no keyword arguments")
    if len(args) != 1:
        raise TypeError(f"torch.set_num_interop_threads() takes exactly one argument ({len(args)} given)")
    if type(args[0]).__name__ != "int":
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(args[0]).__name__}")
    if not is_long(args[0]):
        raise ValueError("Overflow when unpacking long")
    if args[0] <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _interop:
        raise RuntimeError("Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called")
    _interop[:] = args


_interop = []


def set_flush_denormal(*args, **kwargs):
    """set_flush_denormal(mode) -> bool, whether it is so: XLA's CPU programs flush numbers next to 0, always (PyTorch can switch that).

    PyTorch says True to both.
    """
    if kwargs:
        raise TypeError("torch.set_flush_denormal() takes no keyword arguments")
    if len(args) != 1:
        raise TypeError(f"torch.set_flush_denormal() takes exactly one argument ({len(args)} given)")
    if type(args[0]) is not bool:
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(args[0]).__name__}")
    return args[0]


def get_file_path(*path_components):
    """A path below the folder that the package lies in; its first part "torch" means the package."""
    import os

    package = os.path.dirname(os.path.abspath(__file__))
    parts = list(path_components)
    if parts[:1] == ["torch"]:
        return os.path.join(package, *parts[1:])
    return os.path.join(os.path.dirname(package), *parts)


def prepare_multiprocessing_environment(path):
    """Nothing to prepare."""


def sym_constrain_range(size, *, min=None, max=None):
    """RuntimeError where a number is not in a range."""
    if (min is not None and size < min) or (max is not None and size > max):
        low, high = -(2 ** 63) if min is None else min, 2 ** 63 - 1 if max is None else max
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


def sym_constrain_range_for_size(size, *, min=None, max=None):
    """`sym_constrain_range` of a length."""
    if max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    sym_constrain_range(size, min=0 if min is None else min, max=max)


def init_num_threads():
    """Nothing to do."""


def compiled_with_cxx11_abi():
    """True."""
    return True


def _nnpack_available():
    """True, as where PyTorch is built for the CPU; nothing here needs it."""
    return True


def is_vulkan_available():
    """False."""
    return False


def get_device(input):
    """`input.get_device()`."""
    return input.get_device()


def get_device_module(device=None):
    """The module of a device type, `torch.cpu` by default."""
    if device is None:
        kind = "cpu"
    elif isinstance(device, (str, _devices.device)):
        kind = _devices.device(device).type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    root = __package__
    try:
        return importlib.import_module(f"{root}.{kind}")
    except ImportError:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.") from None


# Arithmetic of sizes, which are plain numbers here

def _overridable(f):
    """`f` that asks objects with a `__torch_function__`, as proxies of tracers are."""
    from ._core import overriding

    @functools.wraps(f)
    def function(*args):
        found = [a for a in args if overriding.overrides(type(a))]
        return overriding.hand_over(function, found, args, {}) if found else f(*args)

    return function


@_overridable
def sym_int(a):
    """The integer next to a number towards 0."""
    return int(a)


@_overridable
def sym_float(a):
    """A number as float."""
    return float(a)


@_overridable
def sym_not(a):
    """`not a`."""
    return not a


@_overridable
def sym_sqrt(a):
    """The square root of a number."""
    return math.sqrt(a)


def _numbers(*values):
    import numpy as np

    kinds = (np.integer, np.floating, int, float)
    for x in values:
        if not isinstance(x, kinds):
            raise AssertionError(f"expected {kinds}, got {type(x)}")
    return any(isinstance(x, (float, np.floating)) for x in values)


@_overridable
def sym_max(a, b):
    """The larger of two numbers, a float where one is a float."""
    return float(max(a, b)) if _numbers(a, b) else max(a, b)


@_overridable
def sym_min(a, b):
    """The smaller of two numbers, a float where one is a float."""
    return float(min(a, b)) if _numbers(a, b) else min(a, b)


def sym_sum(*args):
    """The sum of numbers, given one by one or as a list."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)


def sym_ite(b, t, f):
    """t where b, otherwise f; both of one type."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


def sym_fresh_size(expr):
    """The number itself: sizes are known here."""
    return int(expr)


def view_as_real_copy(input):
    """`view_as_real` as a copy."""
    return _copied("view_as_real", input)


def view_as_complex_copy(input):
    """`view_as_complex` as a copy."""
    return _copied("view_as_complex", input)


def _copied(name, input):
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}_copy(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    return getattr(sys.modules[__package__], name)(input).clone()


__all__ = [n for n in globals() if not n.startswith("_") and n not in (
    "annotations", "importlib", "math", "sys", "Tensor", "Deterministic", "enumeration")]
