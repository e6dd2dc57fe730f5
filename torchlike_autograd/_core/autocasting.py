"""Autocast on the CPU and on CUDA devices (layer 6): calls whose tensors are cast to a half precision dtype, or back to float32, before they are bound.

Cold while it is off: functions of the op table look here only where they do not remember a call, and functions written in Python hold their own code.
The first region entered (by any thread) lets the functions of the lists look here first (`_install`): what their tables remember is forgotten,
Python functions get other code; when the last one is left, everything is as before.

A function named in a list (autocast_lists.py) casts those of its arguments that live on such a device and runs with nothing cast within, as in torch, where
the lists name operators of the dispatcher.  float64 is never cast.  float32 leaves that require grad are cast once in an outermost region: the cache, which
torch keeps by tensor alone (so that it does not see writes, nor another dtype of an inner region).

What differs: a backward pass inside a region casts nothing within torch's own formulas (for the few float32 gradients that contain a matrix product, as that of
an inverse, torch does); recurrent layers with float32 parameters always go cell by cell, where torch takes oneDNN's layer on processors that have one.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from types import FunctionType

from .._tensor import Tensor
from . import autocast_lists, bind, overriding
from .composite import COMPOSITES
from .dispatch import cast_spec, run
from .dtypes import bfloat16, float16, float32
from .dtypes import dtype as _Dtype
from .overriding import Overridden, swapped_code
from .record import thread

_REAL = (float32, bfloat16, float16)


class _Here(threading.local):
    """What belongs to one thread."""

    def __init__(self):
        self.on = False  # a region of a kind of device that casts is entered
        self.within = False  # inside a function that has cast its arguments
        self.enabled = {}  # the same for every kind of device
        self.dtypes = {}
        self.caches, self.depth, self.cache = True, 0, {}


here = _Here()
_lock = threading.RLock()
_entered = [0]
_swapped: dict = {}  # {function: (its own code and defaults, the code that it has meanwhile)}
_own: dict = {}  # {id of Recipes: (Recipes, the same function without a policy)}
_more: list = []  # (function, policy) beyond the lists


# Casting

def _eligible(x, kind):
    return x._tl_v.aval.dtype in _REAL and x.device.type == kind


def cast(x, dtype, kind):
    """A tensor in `dtype` where autocast casts it on a kind of device; tensors within lists and tuples too; everything else as it is."""
    if isinstance(x, Tensor):
        if x._tl_v.aval.dtype is dtype or not _eligible(x, kind):
            return x
        if here.caches and dtype is not float32 and x._tl_v.aval.dtype is float32 and x.is_leaf and x._tl_needs and not x._is_view():
            return _cached(x, dtype)
        return run(cast_spec(dtype), [x])
    if type(x) in (list, tuple):
        return type(x)([cast(y, dtype, kind) for y in x])
    return x


def _cached(x, dtype):
    found = here.cache.get(id(x))
    if found is None:
        grad, thread.state.grad = thread.state.grad, True
        try:
            found = here.cache[id(x)] = (x, run(cast_spec(dtype), [x]))
        finally:
            thread.state.grad = grad
    return found[1]


def _all(args, kwargs, dtype, kind):
    return [cast(x, dtype, kind) for x in args], {k: cast(x, dtype, kind) for k, x in kwargs.items()}


def lower(args, kwargs, kind):
    """Everything in the dtype of the region."""
    return _all(args, kwargs, dtype_of(kind), kind)


def _full(args, kwargs, kind):
    """Everything in float32."""
    return _all(args, kwargs, float32, kind)


def widest(args, kwargs, kind):
    """float32 where an argument is, otherwise the dtype of the region."""
    low = dtype_of(kind)
    have = {x._tl_v.aval.dtype for x in overriding.arguments(args, kwargs) if isinstance(x, Tensor) and _eligible(x, kind)}
    if float32 not in have and have - {low}:
        raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return _all(args, kwargs, float32 if float32 in have else low, kind)


def _added_in_full(args, kwargs, kind):
    """What is added or multiplied in float32, as if the call had said that dtype, where it says none."""
    first = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
    if first is None or not _eligible(first, kind) or any(isinstance(x, _Dtype) for x in (*args, *kwargs.values())):
        return args, kwargs
    given = list(args)
    while given and given[-1] is None:  # among them a dtype that is not said
        given.pop()
    return given, {**kwargs, "dtype": float32}


_UNSAFE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\nMany models use a sigmoid layer right before the binary cross "
    "entropy layer.\nIn this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  "
    "binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast.")


def _unsafe(args, kwargs, kind):
    """torch's refusal, for tensors of such a device."""
    if any(isinstance(x, Tensor) and x.device.type == kind for x in overriding.arguments(args, kwargs)):
        raise RuntimeError(_UNSAFE)
    return args, kwargs


_STEPS = {autocast_lists.LOWER: lower, autocast_lists.FULL: _full, autocast_lists.WIDEST: widest, autocast_lists.ADDED_IN_FULL: _added_in_full,
          autocast_lists.UNSAFE: _unsafe}


# Functions that look first

def _active(args, kwargs):
    if not here.on or here.within or kwargs.get("out") is not None:
        return False
    if not overriding.ACTIVE or overriding.here.all_off:
        return True
    # `__torch_function__` comes first; what it calls comes here again
    return not (overriding.here.modes or (not overriding.here.off and overriding.found_in(overriding.arguments(args, kwargs))))


def _behind(body, policy):
    @functools.wraps(body)
    def looking(*args, **kwargs):
        if not _active(args, kwargs) or not policy.holds():
            return body(*args, **kwargs)
        args, kwargs = policy(args, kwargs)
        here.within = True
        try:
            return body(*args, **kwargs)
        finally:
            here.within = False

    return looking


def _for_table(recipes, policy):
    """What `Recipes.find` asks: raises `Overridden` with the result of a call, by the same function without a policy."""
    if id(recipes) not in _own:
        _own[id(recipes)] = recipes, bind.make_function(recipes.name, recipes.ops, recipes.method, register=False)
    plain = _own[id(recipes)][1]

    def find(args, kwargs):
        if here.on and not here.within and policy.holds():
            args, kwargs = policy(args, kwargs)
        raise Overridden(plain(*args, **kwargs))

    return find


class _Policy:
    """How a function casts its arguments: steps by kind of device."""

    __slots__ = ("steps",)

    def __init__(self, steps):
        self.steps = steps

    def holds(self):
        """Whether a region is entered for a kind of device that has a step."""
        return any(here.enabled.get(kind) for kind in self.steps)

    def __call__(self, args, kwargs):
        for kind, step in self.steps.items():
            if here.enabled.get(kind):
                args, kwargs = step(args, kwargs, kind)
        return args, kwargs


def policy_of(path):
    """How a public path or operator name is cast: a `_Policy`, or None."""
    where, _, name = path.removeprefix("torch.").removeprefix("Tensor.").rpartition(".")
    if where in ("nn.functional", "_C._nn"):
        where = ""
    name = f"{where}.{name}" if where else name
    steps = {kind: _STEPS[listed[name]] for kind, listed in autocast_lists.LISTS.items() if name in listed}
    return _Policy(steps) if steps else None


def also(**steps):
    """The decorated function of the package casts its arguments by ``step(args, kwargs, kind)`` for the kinds of device named."""

    def note(f):
        _more.append((f, _Policy(steps)))
        return f

    return note


@functools.cache
def _functions():
    """{function: policy} of functions written in Python."""
    out = dict(_more)
    for path, f in COMPOSITES.items():
        policy = policy_of(path)
        if policy is not None and type(f) is FunctionType:
            out.setdefault(f, policy)
    return out


def _give_policy(recipes):
    policy = policy_of(recipes.name)
    if policy is not None:
        recipes.policy = _for_table(recipes, policy)
        recipes.kinds.clear()
        recipes.known.clear()


def _install():
    for recipes in list(bind.MADE):
        _give_policy(recipes)
    bind.MAKING[:] = [_give_policy]
    for f, policy in _functions().items():
        kept = _swapped.get(f)
        if kept is None or f.__code__ is not kept[0][0]:
            kept = _swapped[f] = ((f.__code__, f.__defaults__, f.__kwdefaults__),
                                  swapped_code(f, f"_autocast_{id(f)}", lambda body, p=policy: _behind(body, p)))
        f.__code__, f.__defaults__, f.__kwdefaults__ = kept[1], None, None
    for name in ("__matmul__", "__rmatmul__"):
        _operators[name] = Tensor.__dict__[name]
        setattr(Tensor, name, _operator(name, _operators[name]))


_operators: dict = {}


def _operator(name, own):
    def method(self, other):
        if here.on and isinstance(other, Tensor):
            return named_matmul()(*((self, other) if name == "__matmul__" else (other, self)))
        return own(self, other)

    method.__name__ = name
    return method


@functools.cache
def named_matmul():
    """torch.matmul."""
    return COMPOSITES["torch.matmul"]


def _remove():
    bind.MAKING.clear()
    for recipes in list(bind.MADE):
        recipes.policy = None
    for f, (before, code) in _swapped.items():
        if f.__code__ is code:  # else somebody has looked at it in between: then the look stays, and finds autocast off
            f.__code__, f.__defaults__, f.__kwdefaults__ = before
    for name, x in _operators.items():
        setattr(Tensor, name, x)


# What torch lets programs ask and set

DTYPES = {"cpu": bfloat16, "cuda": float16, "xpu": float16, "mps": float16, "hpu": bfloat16, "xla": bfloat16, "maia": bfloat16, "ipu": float16, "mtia": float16,
          "privateuseone": float16}


def dtype_of(kind):
    """The dtype of regions on a kind of device."""
    found = here.dtypes.get(kind) or DTYPES.get(kind)
    if found is None:
        raise RuntimeError("unsupported scalarType")
    return found


def enabled(kind):
    """Whether this thread is in a region for a kind of device."""
    if kind not in DTYPES:
        raise RuntimeError("unknown device type for autocast in get_autocast_dispatch_key_from_device_type")
    return here.enabled.get(kind, False)


def enable(kind, flag):
    """Enter or leave regions of a kind of device in this thread."""
    enabled(kind)
    before, here.enabled[kind] = here.on, bool(flag)
    _tell()
    here.on = flag = any(here.enabled.get(k) for k in autocast_lists.LISTS)
    if before is flag:
        return
    with _lock:
        _entered[0] += 1 if flag else -1
        if _entered[0] == flag:  # the first one, or none left
            (_install if flag else _remove)()


def set_dtype(kind, dtype):
    """What regions of a kind of device compute in, for this thread."""
    here.dtypes[kind] = dtype
    _tell()


def _tell():
    """Leave in the thread's state what holds now, for the engine to find what a hook changed."""
    thread.state.extra["casts"] = (dict(here.enabled), dict(here.dtypes))


def put_back(casts):
    """Have regions and dtypes as `_tell` left them once; None: as they are at first."""
    flags, kept = casts or ({}, {})
    for kind in list(here.enabled):
        enable(kind, flags.get(kind, False))
    here.dtypes = dict(kept)
    thread.state.extra["casts"] = casts


def deeper():
    """One more region; the number of them."""
    here.depth += 1
    return here.depth


def shallower():
    """One region fewer; the number of those left."""
    here.depth -= 1
    return here.depth


def _now():
    return {kind: (enabled(kind), dtype_of(kind)) for kind in autocast_lists.LISTS}, here.caches


def kept():
    """A function that makes contexts in which autocast is as it is now: for what runs again later."""
    state = _now()

    @contextlib.contextmanager
    def again():
        before = _now()
        _set(*state)
        deeper()
        try:
            yield
        finally:
            if shallower() == 0:
                here.cache.clear()
            _set(*before)

    return again if here.on else contextlib.nullcontext


def _set(kinds, caches):
    here.caches = caches
    for kind, (on, dtype) in kinds.items():
        here.dtypes[kind] = dtype
        enable(kind, on)


__all__ = ["also", "cast", "deeper", "dtype_of", "enable", "enabled", "here", "kept", "put_back", "set_dtype", "shallower"]
