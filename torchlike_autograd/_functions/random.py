"""Random tensors (layer 7): the numbers of torch's CPU generator, drawn on the host (see `_core/rng.py`)."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._core import config, devices, dtypes, levels, rng, rng_choices, rng_counted, rng_draws, rng_integers, shapes
from .._core.composite import composite
from .._core.dispatch import check_inplace, inplace, keep_history, run, write_drawn, write_made, write_result
from .._core.layouts import contiguous_format, in_memory_order
from .._core.nothing import KEY as NOWHERE
from .._core.nothing import Nothing, numbers
from .._core.placed import like as placed_like
from .._core.ranges_heard import RANGES
from .._core.record import data, thread
from .._core.spread import beside
from .._core.storage import repeats, write
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, _new, wrap
from ..autograd.grad_mode import no_grad
from . import counted
from .convert import NO_CUDA
from .create import _dtype, _nonnegative, alike, device_of, dtype_for, placed, sizes
from .mapped_draws import fill, per_example, rows
from .mapped_draws import like as whole_like
from .shape import in_row_order, keep_order

_NO_GENERATOR = {
    "cuda": NO_CUDA.replace("Cannot initialize CUDA", "Cannot get CUDA generator"),
    "mps": "Cannot execute getNewGenerator() without MPS backend.",
    "mtia": "Cannot execute getNewGenerator() without MTIA backend.",
    "xpu": "Cannot get XPU generator without ATen_xpu library.",
    "hpu": "Backend doesn`t support getNewGenerator()",
    "xla": "Cannot get XLA generator without torch_xla library. This error has occurred because you are trying to use some XLA functionality, but the XLA "
           "library has not been loaded by the dynamic linker. You must load xla libraries by `import torch_xla`"}


class Generator(rng.Generator):
    """torch.Generator: a stream of its own; states are uint8 tensors.  RuntimeError for a device that is not there."""

    def __init__(self, device="cpu", **kwargs):
        if kwargs:
            raise TypeError(f"Generator() got an unexpected keyword argument '{next(iter(kwargs))}'")
        device = devices.device("cpu" if device is None else device)
        kind = device.type
        if kind != "cpu" and not devices.devices_of(kind):
            raise RuntimeError(_NO_GENERATOR.get(kind, f"{kind.upper()} device type not an accelerator."))
        rng.Generator.__init__(self, kind if kind == "cpu" else str(device))

    @property
    def device(self):
        """The device that it was made for."""
        return devices.device(self.__dict__["device"])

    @device.setter
    def device(self, value):
        self.__dict__["device"] = str(devices.device(value))

    def get_offset(self):
        """How far it has come, where its device draws the numbers; RuntimeError on the host."""
        if not self.counts:
            raise RuntimeError("CPU Generator does not use offset")
        return self.offset

    def set_offset(self, offset):
        """Go to a place, a multiple of 4, where its device draws the numbers; RuntimeError on the host."""
        if not self.counts:
            raise RuntimeError("CPU Generator does not use offset")
        self.offset = rng_counted.checked(offset)

    def graphsafe_get_state(self):
        """NotImplementedError, as torch's."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state):
        """NotImplementedError, as torch's."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def get_state(self):
        """The state as a tensor of bytes."""
        return _tensor(rng.Generator.get_state(self), dtypes.uint8)

    def set_state(self, new_state):
        """Continue from a state; returns itself."""
        rng.Generator.set_state(self, _bytes(new_state))
        return self

    def __reduce__(self):
        offset = self.offset if self.counts else None
        return Generator, (self.device,), (self.initial_seed(), offset, self.get_state())  # as PyTorch writes it to files

    def __setstate__(self, state):
        seed, offset, words = state
        self.manual_seed(seed)
        if offset is None or self.counts:
            self.set_state(words)
        else:  # kept where devices draw their numbers, which the host draws now
            self.offset = offset


def device_generator(key):
    """The default generator of a device's key."""
    found = object.__new__(Generator)
    found.__dict__ = rng.of_device(key).__dict__
    return found


default_generator = device_generator("cpu")


def _bytes(state):
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    return state._tl_numpy()


def _tensor(array, dtype, requires_grad=False, device=None):
    t = _new(Tensor)
    t._tl_v = levels.made(data(array, dtype, device=NOWHERE if type(array) is Nothing else "cpu"))
    return placed(t, device if t._tl_v.aval.device == "cpu" else NOWHERE, requires_grad)


def _into(t, out, name=None):
    """The numbers, written into `out` if there is one, which takes their shape; name: of a factory function."""
    if out is None:
        return t
    if name is not None:
        return write_made(name, out, t._tl_value())
    write_result(out, t._tl_value(), False)
    return out


def _chosen(generator, key):
    """A generator that may draw for a device, by default the device's own."""
    if generator is None:
        return counted.own_generator(key) if counted.by_device(key) else rng.of_device(key)
    kind, own = devices.of_key(key).type, devices.device(generator.device).type
    if kind != own and key != NOWHERE:
        raise RuntimeError(f"Expected a '{kind}' device type for generator but found '{own}'")
    return generator


def _gen(generator, maps=False, out=None, key="cpu"):
    """What the host draws from for a device."""
    return _source(generator, maps, out, key).on_host()


def _source(generator, maps=False, out=None, key="cpu"):
    """The generator to draw from for a device; one of its own where `out` refuses the numbers, for which nothing is drawn."""
    if out is not None:
        key = out._tl_v.aval.device
    if out is not None and levels.mapping():
        raise RuntimeError("vmap: We do not support calling out variants of random operations inside of vmap. Please use non-out variants as a workaround")
    if out is not None and out._tl_needs and thread.state.grad:
        return _copied(_chosen(generator, key))
    if not maps and levels.running():
        levels.refuse_random()
    return _chosen(generator, key)


@composite("torch.manual_seed", "torch.random.manual_seed")
def manual_seed(seed):
    """Seed the default generator; returns it."""
    rng.manual_seed(seed)
    return default_generator


@composite("torch.seed", "torch.random.seed")
def seed():
    """Seed the default generator from the operating system."""
    return rng.seed()


@composite("torch.initial_seed", "torch.random.initial_seed")
def initial_seed():
    """The seed of the default generator."""
    return rng.initial_seed()


@composite("torch.get_rng_state", "torch.random.get_rng_state")
def get_rng_state():
    """The default generator's state as a tensor of bytes."""
    return _tensor(rng.get_rng_state(), dtypes.uint8)


@composite("torch.set_rng_state", "torch.random.set_rng_state")
def set_rng_state(new_state):
    """Continue the default generator from a state."""
    rng.set_rng_state(_bytes(new_state))


def _under_maps(f, shape, dtype):
    shapes.check_room(shape, dtype.itemsize)
    array, own = levels.draw(f, shape)
    return array, dtype, own


def _of_shape(there, here, generator, out, shape, d, requires_grad, device):
    """A tensor of numbers that are drawn by shape alone: there(generator, key of the device) or, by the host, here(generator, shape)."""
    where = device_of(device)
    if where != NOWHERE:
        shapes.check_room(shape, d.itemsize)
    key = where if out is None else out._tl_v.aval.device
    if counted.by_device(key):
        return _asking(there(_source(generator, True, out, key), key), requires_grad)

    def draw(shape):
        return here(_gen(generator, True, out, where), shape)

    if where == NOWHERE or not levels.running():
        return _tensor(numbers(where, shape, d, draw), d, requires_grad, device)
    t = _new(Tensor)
    t._tl_v = levels.drawn(*_under_maps(draw, shape, d))
    return placed(t, device, requires_grad)


def _asking(t, requires_grad):
    return t.requires_grad_() if requires_grad else t


def _drawn(name, draw, there):
    def factory(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, names=None, **kw):
        if "size" in kw:
            size = (kw.pop("size"),)
        if kw:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kw))}'")
        shape = sizes(name, size)
        _nonnegative(name, shape)
        d = _dtype(dtype_for(out, dtype))
        where = device_of(device)
        if where == NOWHERE and out is None:
            return _tensor(Nothing(shape, d.np), d, requires_grad)
        key = where if out is None else out._tl_v.aval.device
        if counted.by_device(key):
            return _into(_asking(there(_source(generator, True, out, key), key, shape, d), requires_grad), out, name)
        if RANGES:
            with RANGES[-1](f"aten::{name}"):
                return _into(_told(draw, generator, out, shape, d, device, requires_grad), out, name)
        t = _new(Tensor)
        drawer = _normal_apart if draw is rng_draws.normal and out is not None and _apart(out, shape) else draw
        t._tl_v = levels.drawn(*_under_maps(lambda shape: drawer(_gen(generator, True, out, where), shape, d.np), shape, d))
        t = placed(t, device, requires_grad)
        return _into(t, out, name)

    factory.__name__ = name
    factory.__doc__ = f"torch.{name}: the numbers of torch's CPU generator."
    return factory


def _apart(out, shape):
    """Whether what is drawn into `out` goes to memory with gaps, one number after the other: torch resizes what has another shape first."""
    return tuple(out.shape) == tuple(shape) and not out.is_contiguous()


def _told(draw, generator, out, shape, d, device, requires_grad):
    """The tensor of a factory while a profile listens: memory is made, numbers are drawn into it."""
    with RANGES[-1]("aten::empty"):
        t = _new(Tensor)
    with RANGES[-1]("aten::normal_" if draw is rng_draws.normal else "aten::uniform_"):
        t._tl_v = levels.drawn(*_under_maps(lambda shape: draw(_gen(generator, True, out, device_of(device)), shape, d.np), shape, d))
        return placed(t, device, requires_grad)


rand = composite("torch.rand")(_drawn("rand", rng_draws.uniform, counted.uniform))
randn = composite("torch.randn")(_drawn("randn", rng_draws.normal, counted.normal))


@composite("torch.randint")
def randint(*args, low=None, high=None, size=None, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Integers in [low, high)."""
    args = list(args)
    if size is None:
        if not args or isinstance(args[-1], int):
            raise TypeError("randint(): argument 'size' must be tuple of ints")
        size = args.pop()
    if high is None and args:
        high = args.pop()
    low = args.pop() if args else (low or 0)
    if not all(hasattr(x, "__index__") and not isinstance(x, bool) for x in (low, high)):
        raise TypeError("randint() takes ints")
    shape = sizes("randint", (size,))
    _nonnegative("randint", shape)
    dtype_for(out, dtype)
    d = dtype or dtypes.int64
    t = _of_shape(lambda gen, key: counted.integers(gen, key, shape, d, int(low), int(high)),
                  lambda gen, shape: rng_integers.randint(gen, int(low), int(high), shape, d.np), generator, out, shape, d, requires_grad, device)
    return _into(t, out, "randint")


@composite("torch.randperm")
def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A random permutation of 0 .. n-1."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    d = dtype or dtypes.int64
    t = _of_shape(lambda gen, key: counted.permutation(gen, key, int(n), d),
                  lambda gen, shape: rows(lambda n: rng_integers.randperm(gen, n, d.np))(shape), generator, out, (int(n),), d, requires_grad, device)
    return _into(t, out, "randperm")


def _like(name, factory, fill):
    def like(input, *args, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False, **kw):
        return alike(lambda *where: made(input, args, dtype, memory_format, kw, *where), input, device, requires_grad)

    def made(input, args, dtype, memory_format, kw, device, requires_grad):
        a = input._tl_v.aval
        batch = whole_like(input, lambda whole: like(whole, *args, dtype=dtype, device=device, **kw)) if levels.running() else None
        if batch is not None:
            return batch.requires_grad_() if requires_grad else batch
        if levels.running() or memory_format is contiguous_format or input.is_contiguous() or in_row_order(input) or counted.by_device(device_of(device)):
            out = factory(*args, tuple(a.shape), dtype=dtype or a.dtype, device=device, requires_grad=requires_grad, **kw)
            if not levels.running() and memory_format is not contiguous_format:
                keep_order(out, input)
            return out
        d = dtype or a.dtype
        where = device_of(device)
        drawn = numbers(where, a.shape, d,
                        lambda shape: in_memory_order(input, lambda shape: fill(_gen(kw.get("generator"), key=where), shape, d.np, *args)))
        out = _tensor(drawn, d, device=device)
        keep_order(out, input)
        return out.requires_grad_() if requires_grad else out

    like.__name__ = name
    return like


def _normal_apart(gen, shape, dtype, mean=0.0, std=1.0):
    """The numbers of a tensor that is not contiguous."""
    return rng_draws.normal(gen, shape, dtype, mean, std, contiguous=False)


def _integers(gen, shape, dtype, *bounds):
    if any(isinstance(x, Tensor) and x.ndim for x in bounds):
        raise RuntimeError("high must be a scalar tensor and on CPU")
    return rng_integers.randint(gen, int(bounds[0]) if len(bounds) == 2 else 0, int(bounds[-1]), shape, dtype)


rand_like = composite("torch.rand_like")(_like("rand_like", rand, rng_draws.uniform))
randn_like = composite("torch.randn_like")(_like("randn_like", randn, _normal_apart))
randint_like = composite("torch.randint_like")(_like("randint_like", randint, _integers))


def following(t, key, *inputs):
    """Fresh numbers under the node of an entry, which says what they send to the tensors they were drawn for; plain ones where none is differentiated."""
    if not (thread.state.grad and any(x._tl_needs for x in inputs)) and all(levels.dual(x._tl_value()) is None for x in inputs):
        return t
    return run(spec_of(OPS[key], (), ("T",) * (len(inputs) + 1)), (*inputs, t))


@composite("torch.normal")
@per_example
def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Normal numbers with given means and deviations."""
    if out is not None and size is None:
        return _normal_into(mean, std, generator, out)
    if size is not None:
        dtype_for(out, dtype)
        d = dtype or config.default_dtype()
        shape = sizes("normal", (size,))
        _nonnegative("normal", shape)
        mean, std = float(mean), float(std)
        t = _of_shape(lambda gen, key: counted.normal(gen, key, shape, d, mean, std),
                      lambda gen, shape: rng_draws.normal(gen, shape, d.np, mean, std), generator, out, shape, d, requires_grad, device)
    else:
        d = mean.dtype if isinstance(mean, Tensor) else std.dtype
        given = [x for x in (mean, std) if isinstance(x, Tensor)]
        gen, key = _source(generator, key=given[0]._tl_v.aval.device), given[0]._tl_v.aval.device
        shape = shapes.broadcast(*[tuple(x.shape) for x in given])
        if counted.by_device(key):
            t = counted.like(_shifted(counted.normal(gen, key, shape, d, 0.0, std), mean, d), given[0])
        else:
            t = _beside(numbers(key, shape, d, lambda _: rng_draws.normal_tensor(
                gen.on_host(), *[x._tl_numpy() if isinstance(x, Tensor) else x for x in (mean, std)], d.np)), d, given[0])
        t = following(t, f"_drawn.Normal{3 if len(given) == 2 else 1 if given[0] is mean else 2}", *given)
    return _into(t, out, "normal")


@no_grad()
def _shifted(drawn, mean, dtype):
    return (drawn + mean).to(dtype)


def _normal_into(mean, std, generator, out):
    """Normal numbers drawn into `out`, in its dtype and order; only a deviation that is a tensor lets it be resized."""
    given = [x for x in (mean, std) if isinstance(x, Tensor)]
    gen = _gen(generator, out=out)
    shape = shapes.broadcast(*[tuple(x.shape) for x in given])
    if not isinstance(std, Tensor) and tuple(out.shape) != shape:
        shapes.broadcast(tuple(mean.shape), tuple(out.shape))
        raise NotImplementedError("torch.normal(mean, std: float, out=) of another shape than the mean's: draw and copy")
    d = out.dtype
    drawn = numbers(given[0]._tl_v.aval.device, shape, d, lambda _: rng_draws.normal_tensor(
        gen, *[x._tl_numpy() if isinstance(x, Tensor) else x for x in (mean, std)], d.np, not _apart(out, shape)))
    return write_drawn("normal", out, _tensor(drawn, d)._tl_value())


def _beside(array, dtype, input):
    """The numbers drawn for a tensor, where it lives, spread as it is where it lies on several devices."""
    if "@" not in input._tl_v.aval.device or array.shape != tuple(input.shape):
        return beside(_tensor(array, dtype), input)
    v = input._tl_value()
    return wrap(data(placed_like(np.asarray(array), v), dtype, device=v.aval.device))


@composite("torch.bernoulli", "Tensor.bernoulli")
@per_example
def bernoulli(input, p=None, *, generator=None, out=None):
    """Zeros and ones with the given probabilities."""
    a = input._tl_v.aval
    dtype = a.dtype if out is None else out.dtype
    if dtype.is_complex:
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_self_\" not implemented for '{dtype.char_name}'")
    gen, given = _source(generator, out=out, key=a.device), input if p is None else p

    def draw(shape, gen):
        if out is None or not isinstance(given, Tensor) or tuple(out.shape) != shape:
            return rng_draws.bernoulli(gen, given._tl_numpy() if isinstance(given, Tensor) else given, shape, dtype.np)
        return in_memory_order(out, lambda shape, p: rng_draws.bernoulli(gen, p, shape, dtype.np), given.expand(shape)._tl_numpy())

    if counted.by_device(a.device):
        t = counted.like(counted.bernoulli(gen, a.device, tuple(a.shape), dtype, given), input)
    else:
        t = _beside(numbers(a.device, a.shape, dtype, lambda shape: draw(shape, gen.on_host())), dtype, input)
    t = following(t, "_drawn.Bernoulli0" if p is None else "bernoulli.p", input)
    return t if out is None else write_drawn("bernoulli", out, t._tl_value())


@composite("torch.poisson")
@per_example
def poisson(input, generator=None):
    """Poisson numbers with the given rates."""
    a = input._tl_v.aval
    drawn = numbers(a.device, a.shape, a.dtype, lambda _: rng_choices.poisson(_gen(generator, key=a.device), input._tl_numpy()))
    return following(_beside(drawn, a.dtype, input), "_drawn.Poisson0", input)


@composite("torch.multinomial", "Tensor.multinomial")
@partial(per_example, rows=True)
def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Indices drawn by weight from each row."""
    if out is not None and out.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.char_name}")
    shapes.check_room((*input.shape[:-1], num_samples), 8)
    t = _tensor(numbers(input._tl_v.aval.device, (*input.shape[:-1], num_samples), dtypes.int64, lambda _: rng_choices.multinomial(
        _gen(generator, key=input._tl_v.aval.device), input._tl_numpy(), num_samples, replacement, lambda draw, _: in_memory_order(input, draw))), dtypes.int64)
    t = beside(t, input)
    return t if out is None else write_drawn("multinomial", out, t._tl_value())


# In place

def _fill(t, array, node, given=()):
    """Write fresh numbers into `t` under a node that sends zeros back."""
    old = t._tl_value()
    key = old.aval.device
    drawn = array if key == NOWHERE else placed_like(np.ascontiguousarray(array).reshape(old.aval.shape), old)
    return _filled(t, data(drawn, old.aval.dtype, device="cpu" if key == "traced" else key), node, given)


def _filled(t, new, node, given=()):
    """given: tensors that the numbers were drawn by."""
    old = t._tl_value()
    if thread.state.grad and (old.needs or any(x._tl_needs for x in given)):
        return inplace(spec_of(OPS[f"_drawn.{node}"], (), ("T",) * (2 + len(given))), (t, *given, wrap(new)), t)
    write(t, keep_history(new, old, t))
    return t


def _copied(gen):
    """A generator that gives the same numbers and leaves `gen` where it is."""
    out = rng.Generator(gen.__dict__["device"])
    rng.Generator.set_state(out, rng.Generator.get_state(gen))
    return out


def _filler(name, draw, node=None, apart=None, there=None):
    usual = f"{name[:-1].title().replace('_', '')}0"

    def method(self, *args, generator=None, **kw):
        given = tuple(x for x in (*args, *kw.values()) if isinstance(x, Tensor)) if name == "bernoulli_" else ()
        if levels.running():
            check_inplace(self)
            new = fill(self, lambda whole, *given: method(whole, *given, generator=generator, **kw), args)
            if new is not None:
                return _filled(self, new, node(*args, **kw) if node else usual, given)
        a, gen = self._tl_v.aval, _source(generator, key=self._tl_v.aval.device)
        dtype = a.dtype.np
        check_inplace(self)
        if self._tl_view is not None and repeats(self) is not None:  # refused after the arguments: nothing is drawn then
            gen = _copied(gen)
        if there is not None and counted.by_device(a.device):
            new = counted.like(there(gen, a.device, tuple(a.shape), a.dtype, *args, **kw), self)
            return _filled(self, new._tl_value(), node(*args, **kw) if node else usual, given)
        gen = gen.on_host()
        if self._tl_v.aval.device == NOWHERE:
            array = Nothing(self._tl_v.aval.shape, dtype)
        elif self.is_contiguous() or levels.mapped(self._tl_v) is not None:
            array = draw(gen, self._tl_v.aval.shape, dtype, *args, **kw)
        elif given:
            array = in_memory_order(self, lambda shape, p: draw(gen, shape, dtype, p), given[0].expand(self._tl_v.aval.shape)._tl_numpy())
        else:
            array = in_memory_order(self, lambda shape: (apart or draw)(gen, shape, dtype, *args, **kw))
        return _fill(self, array, node(*args, **kw) if node else usual, given)

    method.__name__ = name
    method.__doc__ = f"Tensor.{name}: fill with random numbers."
    return composite(f"Tensor.{name}")(method)


def _interval(bounds, kw):
    low, high = (*bounds, *(None,) * (2 - len(bounds)))
    return float(kw.get("from", 0.0) if low is None else low), float(kw.get("to", 1.0) if high is None else high)


def _uniform(gen, shape, dtype, *bounds, **kw):
    return rng_draws.uniform(gen, shape, dtype, *_interval(bounds, kw))


def _range(bounds, kw):
    return kw.get("from", bounds[0] if len(bounds) == 2 else 0), kw.get("to", bounds[-1] if bounds else None)


def _random(gen, shape, dtype, *bounds, **kw):
    if not bounds and not kw:
        return rng_integers.random_full(gen, shape, dtype)
    return rng_integers.randint(gen, *_range(bounds, kw), shape, dtype)


def _bernoulli(gen, shape, dtype, p=0.5):
    return rng_draws.bernoulli(gen, p.expand(shape)._tl_numpy() if isinstance(p, Tensor) else p, shape, dtype)


uniform_ = _filler("uniform_", _uniform, there=lambda gen, key, shape, dtype, *bounds, **kw: counted.uniform(gen, key, shape, dtype, *_interval(bounds, kw)))
normal_ = _filler("normal_", lambda gen, shape, dtype, mean=0.0, std=1.0: rng_draws.normal(gen, shape, dtype, float(mean), float(std)),
                  apart=_normal_apart, there=counted.normal)
random_ = _filler("random_", _random, lambda *bounds, **kw: f"Random{2 - len(bounds) - len(kw)}",
                  there=lambda gen, key, shape, dtype, *bounds, **kw: counted.integers(gen, key, shape, dtype, *_range(bounds, kw)))
bernoulli_ = _filler("bernoulli_", _bernoulli, lambda p=0.5: "Bernoulli1" if isinstance(p, Tensor) else "Bernoulli2", there=counted.bernoulli)
exponential_ = _filler("exponential_", lambda gen, shape, dtype, lambd=1.0: rng_draws.exponential(gen, shape, dtype, lambd), there=counted.exponential)
cauchy_ = _filler("cauchy_", lambda gen, shape, dtype, median=0.0, sigma=1.0: rng_draws.cauchy(gen, shape, dtype, median, sigma))
log_normal_ = _filler("log_normal_", lambda gen, shape, dtype, mean=1.0, std=2.0: rng_draws.log_normal(gen, shape, dtype, mean, std))
geometric_ = _filler("geometric_", lambda gen, shape, dtype, p: rng_draws.geometric(gen, shape, dtype, p))
