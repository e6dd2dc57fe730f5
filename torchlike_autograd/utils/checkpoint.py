"""torch.utils.checkpoint (layer 7): trade memory for a second forward.

Without re-entry: what the function saves is packed as empty `_Place`s; when a backward pass (or a look at a node) needs the first of them, the function runs
again under hooks that catch what it saves, in the same order.  Each pass has a catch of its own, so that a graph that is kept can be run again.  The
arguments go through the hooks that are active around the call, as saved tensors do, so that checkpoints nest.

With re-entry: a custom Function that runs without a graph and, in backward, runs again with one and starts a pass inside the pass.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
import weakref

from .._core import passes, rng
from .._core.autocasting import kept as autocast_kept
from .._core.devices import accelerator, of_key
from .._core.errors import inference_saved
from .._core.pytree import flatten
from .._core.record import thread
from .._core.saying import warn
from .._core.storage import as_detached, is_inference
from .._functions.random import device_generator
from .._tensor import Tensor, wrap
from ..autograd import Function, backward
from ..autograd._kept import Kept
from ..autograd._saving import saved_tensors_hooks
from ..autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from ..random import fork_rng
from ._checkpoint_selective import SAC_IGNORED_OPS, CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts
from ._checkpoint_words import TIP, UNPACKED_TWICE, UNPACKED_TWICE_TOGETHER, WITHOUT_CHOICE, WITHOUT_CHOICE_SEQUENTIAL, debug_report, mismatch

__all__ = ["SAC_IGNORED_OPS", "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType", "GraphExecGroup",
           "SelectiveCheckpointContext", "check_backward_validity", "checkpoint", "checkpoint_sequential",
           "create_selective_checkpoint_contexts", "detach_variable", "get_device_states", "noop_context_fn",
           "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states"]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not do what the first did."""


def noop_context_fn():
    """Contexts that do nothing, for the first run and for the second."""
    return contextlib.nullcontext(), contextlib.nullcontext()


_settings = {"early stop": None, "debug": None}


@contextlib.contextmanager
def _setting(name, value):
    before, _settings[name] = _settings[name], value
    try:
        yield
    finally:
        _settings[name] = before


def set_checkpoint_early_stop(enable):
    """Whether checkpoints made inside stop their second run as soon as all is there that is needed, whatever their `early_stop` says."""
    return _setting("early stop", enable)


def set_checkpoint_debug_enabled(enabled):
    """Overrides the `debug` of checkpoints made inside; None leaves it to them."""
    return _setting("debug", enabled)


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True, **kwargs):
    """`function(*args, **kwargs)`, of which nothing is kept for backward but the arguments."""
    if use_reentrant is None:
        warn(WITHOUT_CHOICE)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of {['default', 'none']}, but got {determinism_check}")
    debug = debug if _settings["debug"] is None else _settings["debug"]
    return _without_reentry(function, args, kwargs, preserve, context_fn, determinism_check, debug,
                            early_stop if _settings["early stop"] is None else _settings["early stop"])


# Without re-entry

def _without_reentry(function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop):
    first, second = context_fn()
    if not is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    frame = _Frame(function, args, kwargs, second, rng.states() if preserve else None, determinism_check, debug, early_stop)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        out = function(*args, **kwargs)
    frame.complete = True
    return out


class _Stop(Exception):
    """Ends a second run."""


class _Place:
    """Stands for one saved tensor of the first run."""

    __slots__ = ("__weakref__", "number", "taken")

    def __init__(self, number):
        self.number, self.taken = number, set()  # taken: passes that had it


class _Frame:
    """One checkpointed call: how to run it again, the places of its saved tensors, and what second runs found for them.

    found: {pass: {number of a place: tensor}}; complete: whether the first run is over: a pass inside of it needs a second run that goes further than it had.
    """

    def __init__(self, function, args, kwargs, context, states, determinism_check, debug, early_stop):
        self.function, self.context, self.rng = function, context, states
        self.check, self.debug, self.early_stop = determinism_check == "default", debug, early_stop
        self.autocast = autocast_kept()
        if any(isinstance(a, Tensor) and is_inference(a) for a in args):
            raise inference_saved()
        self.args = [Kept(None, a, ()) if isinstance(a, Tensor) else a for a in args]
        self.kwargs = kwargs
        self.places, self.types, self.found = [], [], {}
        self.complete = False
        self.uneven = False  # whether a second run saved more than there was of the first

    def pack(self, t):
        """Put a place there instead of a tensor."""
        place = _Place(len(self.places))
        self.places.append(weakref.ref(place))
        self.types.append(_type_of(t))
        return place

    def unpack(self, place):
        """What a second run saves in this place."""
        number = passes.task_id()
        alone = number == -1
        if not alone:
            number = thread.state.extra.get("passes together", number)
        if alone:
            number = next(_looks)
        try:
            if number not in self.found:
                self._run_again(number)
            found = self.found[number]
            if place.number not in found:
                raise CheckpointError(UNPACKED_TWICE if type(number) is int else UNPACKED_TWICE_TOGETHER)
            return found.pop(place.number)
        finally:
            if alone:
                self.found.pop(number, None)

    def _run_again(self, number):
        catch = _Catch(self)
        for old in [k for k in self.found if not self.found[k]]:
            del self.found[old]
        args = [a.unpack(None) if isinstance(a, Kept) else a for a in self.args]
        try:
            with contextlib.ExitStack() as stack:
                if self.rng is not None:
                    stack.enter_context(fork_rng())
                    rng.put_back(self.rng)
                stack.enter_context(saved_tensors_hooks(catch.pack, lambda t: t))
                stack.enter_context(self.autocast())
                stack.enter_context(self.context)
                stack.enter_context(enable_grad())
                self.function(*args, **self.kwargs)
        except _Stop as stop:
            if stop.args[0] is not catch:
                raise
        problem = None if self.uneven else mismatch(len(self.places), self.types, catch.types, self.check)
        if problem is not None:
            raise CheckpointError(debug_report(self.types, catch.types) if self.debug else problem + TIP)
        self.found[number] = catch.tensors


class DefaultDeviceType:
    """Of which type of devices the random state is kept where the arguments do not tell."""

    _default_device_type = "cpu"

    @staticmethod
    def set_device_type(device="cuda"):
        """Set it."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type():
        """The one that is set."""
        return DefaultDeviceType._default_device_type


class GraphExecGroup:
    """Passes inside run each checkpointed region (without reentry) again at most once, together; they must not use the same saved value twice."""

    def __enter__(self):
        if thread.state.extra.get("passes together") is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested. "
                               f"Already inside group {thread.state.extra['passes together']}")
        thread.state.extra["passes together"] = self
        return self

    def __exit__(self, *exc):
        del thread.state.extra["passes together"]

    @classmethod
    def _get_current_group(cls):
        return thread.state.extra.get("passes together")


_looks = itertools.count(-2, -1)  # numbers of looks outside of a pass


def _type_of(t):
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


def _alone(t):
    """What a tensor shows, without its history and not in its memory: a tensor that shares the memory would hold the second run's graph."""
    return wrap(as_detached(t._tl_value()))


class _Catch:
    """The hooks of a second run."""

    def __init__(self, frame):
        self.frame, self.types, self.tensors = frame, [], {}

    def pack(self, t):
        """Catch what stands in the next place."""
        frame, number = self.frame, len(self.types)
        if number >= len(frame.places):
            if not frame.complete:
                frame.uneven = True
            elif not frame.early_stop:
                self.types.append(_type_of(t))
                text = "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass."
                raise CheckpointError(debug_report(frame.types, self.types) if frame.debug else text + TIP)
            return _alone(t)
        self.types.append(_type_of(t))
        kept = _alone(t) if t._tl_needs else t
        if frame.places[number]() is not None:
            self.tensors[number] = kept
        if frame.early_stop and number + 1 == len(frame.places):
            raise _Stop(self)
        return kept


# With re-entry

class CheckpointFunction(Function):
    """The Function of `checkpoint(..., use_reentrant=True)`."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        """Run without a graph, keep the tensors among the arguments."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng = rng.states() if preserve_rng_state else None
        ctx.autocast = autocast_kept()
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Run again with a graph and start a pass from its outputs."""
        if not passes.whole():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). To resolve this "
                "error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument.")
        inputs = list(ctx.inputs)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            inputs[i] = t
        with contextlib.ExitStack() as stack:
            if ctx.rng is not None:
                stack.enter_context(fork_rng())
                rng.put_back(ctx.rng)
            detached = detach_variable(tuple(inputs))
            with enable_grad(), ctx.autocast():
                outputs = ctx.run_function(*detached)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, Tensor) and o._tl_needs]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward(*map(list, zip(*pairs)))
        return None, None, *[x.grad if isinstance(x, Tensor) else None for x in detached]


def detach_variable(inputs):
    """The inputs, tensors without history and requiring grad as they did."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    out = []
    for x in inputs:
        if isinstance(x, Tensor):
            needs = x._tl_needs
            x = x.detach()
            x.requires_grad = needs
        out.append(x)
    return tuple(out)


def check_backward_validity(inputs):
    """Warn where no input requires grad."""
    if not any(x._tl_needs for x in inputs if isinstance(x, Tensor)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


def _other_devices(args):
    """The keys of the devices of the tensors in arguments, but for the CPU's and "meta"."""
    keys = [x._tl_v.aval.device for x in flatten(args)[0] if isinstance(x, Tensor)]
    return [key for key in keys if of_key(key).type not in ("cpu", "meta")]


def _infer_device_type(*args):
    """The type of the first device that is no CPU, among tensors in arguments; with several, a warning."""
    kinds = [x.device.type for x in flatten(args)[0] if isinstance(x, Tensor) and x.device.type != "cpu"]
    if len(set(kinds)) > 1:
        warnings.warn("Tensor arguments, excluding CPU tensors, are detected on at least two types of devices. Device state will only be saved for devices of "
                      "a single device type, and the remaining devices will be ignored. Consequently, if any checkpointed functions involve randomness, this "
                      f"may result in incorrect gradients. (Note that if CUDA devices are among the devices detected, it will be prioritized; otherwise, the "
                      f"first device encountered will be selected.)\nDevice types: {sorted(set(kinds))} first device type: {kinds[0]}")
    if kinds:
        return "cuda" if "cuda" in kinds else kinds[0]
    return DefaultDeviceType.get_device_type()


def get_device_states(*args):
    """The numbers of the devices other than the CPU among the tensors, and the states of their generators."""
    keys = list(dict.fromkeys(_other_devices(args)))
    return [of_key(key).index for key in keys], [device_generator(key).get_state() for key in keys]


def set_device_states(devices, states, *, device_type=None):
    """Continue the generators of these devices."""
    kind = device_type or accelerator() or "cuda"
    for index, state in zip(devices, states):
        device_generator(f"{kind}:{index}").set_state(state)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Run functions one after the other, checkpointed in `segments` pieces but for the last."""
    if use_reentrant is None:
        warn(WITHOUT_CHOICE_SEQUENTIAL)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children()) if hasattr(functions, "children") else functions
    size = len(functions) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(_run(functions, start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _run(functions, end + 1, len(functions) - 1)(input)


def _run(functions, start, end):
    def forward(x):
        for f in functions[start:end + 1]:
            x = f(x)
        return x

    return forward
