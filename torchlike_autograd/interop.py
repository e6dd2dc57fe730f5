"""In and out of JAX and NumPy (layer 9).

    to_jax(t), from_jax(a)        the array of a tensor, a tensor over an array: nothing is copied
    as_jax_function(f)            a function of Tensors as a pure function of arrays, for jax.jit, grad, vmap, shard_map, export
    from_jax_function(f)          a function of arrays as a differentiable operator on Tensors, of any order, in vmap and torch.func too
    functional(module)            a module as (apply, parameters), as JAX's libraries take models
    as_pytree(module)             a module as a pytree that can be called
    shard(t, mesh, spec), place(t, device), sharding_of(t)
    export(f, *examples, platforms=...)    a function compiled for other platforms

All of it is the recorder: a function that JAX traces is recorded like any code, and its operators are applied to JAX's tracers; a JAX function is an operator
whose body it is.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ._core import devices, dtypes, guards, placed, record, rng
from ._core.dispatch import values_of
from ._core.record import data, record_op
from ._core.spread import beside, spread_value
from ._core.storage import peek
from ._ops.opened import alike_everywhere
from ._ops.registry import Promote
from ._ops.spec import Form, Spec
from ._ops.tracing import looping
from ._tensor import Tensor, wrap
from .autograd._stateless import functional_call

__all__ = ["as_jax_function", "as_pytree", "export", "from_jax", "from_jax_function", "functional", "load", "place", "shard", "sharding_of", "to_jax"]


# Arrays

def to_jax(tensor):
    """The jax.Array of a tensor's values, without history; runs what is pending.  It is the tensor's own array; later writes to the tensor do not change it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_jax() takes a Tensor, not {type(tensor).__name__}")
    array = tensor._tl_array()
    if isinstance(array, jax.core.Tracer):
        return array
    guards.check()
    if isinstance(array, jax.Array):
        return array
    made, v = placed.on_device(array), peek(tensor)
    if v.array is array:
        v.array = made  # small programs leave NumPy's; asked for again, it is this one
    return made


def from_jax(array, requires_grad=False) -> Tensor:
    """A tensor over a jax.Array (or over what JAX is tracing): its memory, its device or sharding; writes to the tensor do not reach the array."""
    if isinstance(array, jax.core.Tracer):
        key = "traced"
    elif isinstance(array, jax.Array):
        key = devices.key_of_array(array)
    else:
        raise TypeError(f"from_jax() takes a jax.Array, not {type(array).__name__}; torch.from_numpy and torch.tensor take other data")
    if jnp.issubdtype(array.dtype, jax.dtypes.extended):
        raise TypeError(f"from_jax(): arrays of {array.dtype} have no torch dtype; jax.random.key_data gives the numbers of a key")
    t = wrap(data(array, dtypes.from_numpy_dtype(array.dtype), device=key))
    return t.requires_grad_() if requires_grad else t


def _is_array(x):
    return isinstance(x, (jax.Array, np.ndarray, np.generic)) and not jnp.issubdtype(x.dtype, jax.dtypes.extended)


def _as_tensor(x):
    if not _is_array(x):
        return x
    if isinstance(x, jax.Array):
        return from_jax(x)
    return wrap(data(np.asarray(x), dtypes.from_numpy_dtype(np.asarray(x).dtype)))


# Functions of Tensors for JAX

def as_jax_function(fn, *, randomness="error", derivatives="torch"):
    """`fn`, written for Tensors, as a pure function of arrays (NumPy's or JAX's, in any pytrees): for jax.jit, grad, vmap, shard_map and jax.export.

    Arrays become Tensors, everything else is passed as it is; Tensors in the result become arrays, in the widths that JAX is set to (float32 for float64
    without `jax_enable_x64`; int32 arrays are int64 Tensors then).  `fn` may record, write in place, call backward() and step an optimizer.  Tensors that it
    closes over are constants: pass them as arguments to differentiate by them (`functional` does so for a module).  What it does to tensors outside stays
    undone only if it does nothing to them; a value that JAX is tracing must not be kept.  Looking at a traced value (`item`, `if t:`) raises JAX's error.
    Errors that depend on values (an index out of range) cannot be raised for traced ones.
    randomness: random numbers are drawn when JAX traces and would be the same in every run: "error" refuses them, "same" allows it.
    derivatives: what jax.grad and jax.vjp of it give.  "torch": what torch.autograd.grad gives, also where `fn` detaches, computes under no_grad, takes
    gradients itself without create_graph, or calls a Function with a backward of its own; such an `fn` is called again for its gradients and has no forward
    mode (jax.jvp, jax.hessian say so).  "jax": the derivative of what is computed, which sees none of that.
    """
    for name, value, known in (("randomness", randomness, ("error", "same")), ("derivatives", derivatives, ("torch", "jax"))):
        if value not in known:
            raise ValueError(f"{name} is {known[0]!r} or {known[1]!r}, not {value!r}")

    @functools.wraps(fn)
    def pure(*args, **kwargs):
        if placed.tracing() or any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves((args, kwargs))):
            stream = rng.get_rng_state()
            out, cut = _traced(fn, args, kwargs, randomness)
            return out if not cut or derivatives == "jax" else torch_gradients(fn, args, kwargs, randomness, stream)
        return _to_arrays(fn(*_to_tensors(args), **_to_tensors(kwargs)))

    return pure


def _to_tensors(tree):
    return jax.tree.map(_as_argument, tree)


def _as_argument(x):
    """An array as a Tensor; JAX's only integers in its 32-bit mode are torch's usual ones, int64, as results of those come back as int32."""
    if not isinstance(x, jax.Array) or x.dtype != np.int32 or jax.config.jax_enable_x64:
        return _as_tensor(x)
    return wrap(data(x, dtypes.int64, device="traced")) if isinstance(x, jax.core.Tracer) else from_jax(x).long()


def _to_arrays(tree):
    return jax.tree.map(lambda x: _canonical(to_jax(x)) if isinstance(x, Tensor) else x, tree)


def _canonical(array):
    """An array in the widths that JAX is set to."""
    want = jax.dtypes.canonicalize_dtype(array.dtype)
    return array if array.dtype == want else jax.lax.convert_element_type(array, want)


def _traced(fn, args, kwargs, randomness, to_tensor=None):
    """Call `fn` on tracers: (what it gives, whether JAX's derivative of it is not torch's)."""
    to_tensors = functools.partial(jax.tree.map, to_tensor or _as_argument)
    stream, outer = rng.get_rng_state(), placed.cuts[0]
    placed.cuts[0] = False
    with placed.inside(placed.current_trace()):
        record.flush()  # what was pending is concrete
        try:
            out = fn(*to_tensors(args), **to_tensors(kwargs))
            record.flush()
            cut = placed.cuts[0]
        finally:
            placed.cuts[0] = outer
            _forget_traced()
        out = jax.tree.map(lambda x: to_jax(x) if isinstance(x, Tensor) else x, out)
    if randomness == "error" and not np.array_equal(stream, rng.get_rng_state()):
        raise RuntimeError("random numbers were drawn while JAX was tracing: they would be the same in every run. Draw them outside and pass them in, or say "
                           "as_jax_function(f, randomness='same')")
    return jax.tree.map(lambda x: _canonical(x) if isinstance(x, jax.Array) else x, out), cut


def torch_gradients(fn, args, kwargs, randomness, stream):
    """`fn` on tracers, with a rule for JAX: its gradients are those that the engine finds when `fn` is called once more.  They are such a function again, so
    that this goes on to any order.  stream: the state of the generator to begin with."""
    leaves, tree = jax.tree.flatten((args, kwargs))
    places = [i for i, x in enumerate(leaves) if _is_array(x)]
    shape = []  # (tree, leaves) of the result, where something else stands in the place of arrays

    def call(arrays):
        full = dict(zip(places, arrays))
        given, named = jax.tree.unflatten(tree, [full.get(i, x) for i, x in enumerate(leaves)])
        rng.set_rng_state(stream)
        return fn(*given, **named)

    @jax.custom_vjp
    def rule(*arrays):
        out, _ = _traced(lambda *tensors: call(tensors), arrays, {}, randomness, _as_traced)
        flat, out_tree = jax.tree.flatten(out)
        shape[:] = [out_tree, [None if _is_array(x) else x for x in flat]]
        return tuple(x for x in flat if _is_array(x))

    def backward(arrays, cotangents):
        """The gradients of the arrays that have some."""
        wanted = [i for i, a in enumerate(arrays) if jnp.issubdtype(a.dtype, jnp.inexact)]
        given = [i for i, g in enumerate(cotangents) if g.dtype != jax.dtypes.float0]
        gradients, values = functools.partial(_engine_gradients, call, wanted, given), (list(arrays), [_conjugate(cotangents[i]) for i in given])
        found, cut = _traced(gradients, values, {}, "same", _as_traced)
        found = torch_gradients(gradients, values, {}, "same", stream) if cut else found
        full = dict(zip(wanted, map(_conjugate, found)))
        return tuple(full.get(i) for i in range(len(arrays)))

    rule.defvjp(lambda *arrays: (rule(*arrays), arrays), backward)
    made = iter(rule(*alike_everywhere([leaves[i] for i in places])))
    out_tree, others = shape
    return jax.tree.unflatten(out_tree, [next(made) if x is None else x for x in others])


def _engine_gradients(call, wanted, given, tensors, cotangents):
    """torch's gradients of call(tensors) with respect to those that are wanted; zeros where nothing leads there."""
    from .autograd import enable_grad, grad

    with enable_grad():
        inputs = [t if t.requires_grad else t.requires_grad_() for t in (tensors[i] for i in wanted)]
        inside = dict(zip(wanted, [t.clone() for t in inputs]))  # which `call` may write to
        for t in inside.values():
            t.retain_grad()
        outs = [x for x in jax.tree.leaves(call([inside.get(i, t) for i, t in enumerate(tensors)])) if isinstance(x, Tensor) or _is_array(x)]
        live = [(outs[i], g) for i, g in zip(given, cotangents) if isinstance(outs[i], Tensor) and outs[i].requires_grad]
        if not live:
            return [t.new_zeros(t.shape) for t in inputs]
        return list(grad([o for o, _ in live], inputs, [g for _, g in live], create_graph=True, materialize_grads=True))


def _as_traced(x):
    """An array as a Tensor of what JAX is tracing, also where JAX knows its values: its gradients may come from what it does not know."""
    if not _is_array(x):
        return x
    dtype = dtypes.int64 if x.dtype == np.int32 and not jax.config.jax_enable_x64 else dtypes.from_numpy_dtype(x.dtype)
    return wrap(data(x, dtype, device="traced"))


def _conjugate(a):
    """A gradient from JAX's convention in torch's and back."""
    return jnp.conj(a) if jnp.iscomplexobj(a) else a


def _forget_traced():
    """Leave no traced call pending after an error."""
    state = record.thread.state
    if state.tape.values or state.tape.inputs:
        state.tape = record.Tape(state)


# JAX functions as operators

class _JaxOp:
    """The operator whose body is a JAX function, at one structure of arguments."""

    is_view = host = untracked = opmath = zero_second = False
    guard = rule = promote_with = None
    multi = True
    derivative, promote = "body", Promote.NONE
    params = lift = scalars = nondiff = nondiff_out = uncast = ()

    def __init__(self, f, tree, rest):
        self.f, self.tree, self.rest = f, tree, rest
        self.name = self.key = getattr(f, "__name__", type(f).__name__)
        self.node = f"{self.name if self.name.isidentifier() else 'JaxFunction'}Backward"
        self.saves, self.bake, self.specs = {}, {}, {}
        self.out_tree = self.others = None

    @looping
    def body(self, *flat):
        """The results that are arrays, flat."""
        wide = any(np.dtype(x.dtype).itemsize == (16 if x.dtype.kind == "c" else 8)
                   for x, (kind, _) in zip(flat, (r for r in self.rest if r[0] != "static")) if kind == "array")
        with jax.enable_x64(wide):
            it = iter(flat)
            leaves = [x if kind == "static" else _argument(next(it), kind, x) for kind, x in self.rest]
            args, kwargs = jax.tree.unflatten(self.tree, leaves)
            out, self.out_tree = jax.tree.flatten(self.f(*args, **kwargs))
        arrays = [isinstance(x, (jax.Array, np.ndarray, np.generic)) for x in out]
        self.others = tuple((a, None if a else x) for a, x in zip(arrays, out))
        return tuple(jnp.asarray(x) for x, a in zip(out, arrays) if a)


def _argument(x, kind, detail):
    """An array as the function takes it: a Python float as a weakly typed scalar, a random key as a key."""
    if kind == "float":
        return jax.lax.convert_element_type(x, float)
    return jax.random.wrap_key_data(x, impl=detail) if kind == "key" else x


class _FlatLayout:
    def __init__(self, n):
        self.n = n

    def owner(self):
        """A name for each input."""
        return [f"x{i}" for i in range(self.n)]

    def arguments(self, flat):
        """(positional, keywords)."""
        return list(flat), {}


class _JaxForm(Form):
    __slots__ = ("others", "out_tree")

    def __init__(self, spec, avals):
        Form.__init__(self, spec, avals)
        self.out_tree, self.others = spec.op.out_tree, spec.op.others
        names = tuple(self.owners)
        self.saves = dict.fromkeys(names, names)

    def _layout(self):
        return _FlatLayout(len(self.avals))


class _JaxSpec(Spec):
    """Its inputs go to the body as they are."""

    __slots__ = ()

    def form(self, avals):
        out = self.forms.get(avals)
        if out is None:
            levelled = any(hasattr(a, "levels") for a in avals)
            out = self.forms[avals] = Spec.form(self, avals) if levelled else _JaxForm(self, avals)
        return out


def from_jax_function(f):
    """`f`, a function of arrays, as a function of Tensors: an operator that is recorded, differentiated (to any order), mapped and compiled like any other.

    Arguments and results may be pytrees.  Tensors and arrays arrive as arrays; a Python float is a runtime number (its value never compiles anew); other
    values are structure and must be hashable; typed random keys may be passed.  `f` has to be pure: it is called when a new structure is recorded, not every
    time.  Gradients are those of jax.vjp, also through custom_vjp and custom_jvp; for complex numbers in torch's convention.
    """
    specs = {}

    @functools.wraps(f)
    def operator(*args, **kwargs):
        leaves, tree = jax.tree.flatten((args, kwargs))
        rest, flat = [], []
        for x in leaves:
            kind, detail, x = _kind(x)
            rest.append((kind, detail))
            if kind != "static":
                flat.append(x)
        key = (tree, *[(kind, detail, type(detail)) for kind, detail in rest])
        spec = specs.get(key)
        if spec is None:
            spec = specs[key] = _JaxSpec(_JaxOp(f, tree, tuple(rest)), {}, ())
        values = values_of(flat)
        made = record_op(spec, values)
        form = spec.form(tuple(v.aval if type(v) is record.Value else record_number(v) for v in values))
        form = getattr(form, "base", form)
        it = iter(made)
        return jax.tree.unflatten(form.out_tree, [wrap(next(it)) if is_array else x for is_array, x in form.others])

    return operator


def record_number(x):
    """The type of a Python number."""
    from ._ops.spec import NUMBERS

    return NUMBERS[record.number_kind(x)]


def _kind(x):
    """(kind, detail, flat input) of an argument."""
    if isinstance(x, Tensor):
        return "array", None, x
    if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        return "key", str(jax.random.key_impl(x)), from_jax(jax.random.key_data(x))
    if _is_array(x):
        return "array", None, _as_tensor(x)
    if type(x) is float:
        return "float", None, x
    try:
        hash(x)
    except TypeError:
        raise TypeError(f"an argument of a JAX function is a Tensor, an array, a number or hashable, not {type(x).__name__}") from None
    return "static", x, None


# Modules

def functional(module, *, mutable=False, randomness="error"):
    """(apply, parameters) of a module: `apply(parameters, *args, **kwargs)` is a pure function of arrays, `parameters` a dict {name: jax.Array}.

    Buffers are constants as they are at the call.  mutable: (apply, parameters, buffers) with apply(parameters, buffers, *args) -> (result, new buffers), as
    batch normalization in training needs it.  The module itself is left as it was.
    """
    parameters = {k: to_jax(p) for k, p in module.named_parameters()}
    if not mutable:
        def apply(parameters, *args, **kwargs):
            return functional_call(module, {**_copies(module.named_buffers()), **parameters}, args, kwargs)

        return as_jax_function(apply, randomness=randomness), parameters

    def apply_both(parameters, buffers, *args, **kwargs):
        buffers = {k: b.clone() for k, b in buffers.items()}
        out = functional_call(module, {**parameters, **buffers}, args, kwargs)
        return out, buffers

    return as_jax_function(apply_both, randomness=randomness), parameters, {k: to_jax(b) for k, b in module.named_buffers()}


def _copies(tensors):
    return {k: t.clone() for k, t in tensors}


@jax.tree_util.register_pytree_with_keys_class
class ModuleTree:
    """A module as a pytree: its leaves are its parameters; calling it calls the module with them."""

    def __init__(self, apply, parameters):
        self._apply, self.parameters = apply, parameters

    def __call__(self, *args, **kwargs):
        return self._apply(self.parameters, *args, **kwargs)

    def tree_flatten_with_keys(self):
        """For JAX."""
        return tuple((jax.tree_util.DictKey(k), a) for k, a in self.parameters.items()), (self._apply, tuple(self.parameters))

    @classmethod
    def tree_unflatten(cls, aux, leaves):
        """For JAX."""
        return cls(aux[0], dict(zip(aux[1], leaves)))

    def __repr__(self):
        return "ModuleTree(" + ", ".join(f"{k}: {getattr(a, 'shape', a)}" for k, a in self.parameters.items()) + ")"


def as_pytree(module, *, randomness="error"):
    """A module as a pytree of arrays that can be called: `jax.grad(lambda m: loss(m(x)))(as_pytree(module))` is a tree of gradients of the same kind."""
    return ModuleTree(*functional(module, randomness=randomness))


def load(module, parameters):
    """Write arrays (a dict {name: array} or a ModuleTree) into a module's parameters and buffers, in place; returns the module."""
    given = parameters.parameters if isinstance(parameters, ModuleTree) else parameters
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    unknown = [k for k in given if k not in own]
    if unknown:
        raise KeyError(f"load(): the module has no {', '.join(map(repr, unknown))}")
    grad, record.thread.state.grad = record.thread.state.grad, False
    try:
        for k, a in given.items():
            own[k].copy_(beside(_as_tensor(a), own[k]))
    finally:
        record.thread.state.grad = grad
    return module


# Devices and shardings

def place(tensor, device):
    """The tensor on one jax.Device (also a second host device, which torch's device strings cannot name); differentiable."""
    from ._functions.convert import _move

    key = devices.key_of_device(device)
    return tensor if tensor._tl_v.aval.device == key else _move(tensor, key)


def sharding_of(tensor):
    """The jax sharding of a tensor's values; runs what is pending."""
    return to_jax(tensor).sharding


def shard(tensor, mesh, spec=None):
    """A tensor spread over a jax.sharding.Mesh as a PartitionSpec says (a tuple of axis names and None, or a NamedSharding instead of both).

    A leaf stays a leaf (a new one, as `to` gives for another device; a Parameter a Parameter); the gradient of anything else goes back unspread.  What is
    computed from it runs as one program that XLA partitions; gradients and next values of a leaf are spread as it is.
    """
    from jax.sharding import NamedSharding, PartitionSpec

    sharding = trimmed(mesh if isinstance(mesh, jax.sharding.Sharding)
                        else NamedSharding(mesh, spec if isinstance(spec, PartitionSpec) else PartitionSpec(*_axes(spec))))
    v = peek(tensor)
    if v.needs and v.leaf is None:
        return wrap(spread_value(tensor._tl_value(), sharding))
    array = to_jax(tensor)
    source = array if array.is_fully_addressable and all(d.process_index == jax.process_index() for d in sharding.device_set) else np.asarray(array)
    with jax.enable_x64(True):
        out = jax.device_put(source, sharding)
    key = devices.spread_key(sharding.mesh.devices.flat) if isinstance(sharding, NamedSharding) else devices.key_of_array(out)
    if not v.needs:
        t = wrap(data(out, v.aval.dtype, device=key))
        return t if type(tensor) is Tensor else _like(tensor, t)
    return _like(tensor, wrap(data(out, v.aval.dtype, device=key)).requires_grad_())


def _like(tensor, t):
    """`t` in the class of a Parameter."""
    from .nn.parameter import Parameter

    return Parameter(t.detach(), tensor.requires_grad) if isinstance(tensor, Parameter) else t


def trimmed(sharding):
    """Without entries at the end of its spec that say nothing, as compiled programs give shardings back."""
    if not isinstance(sharding, jax.sharding.NamedSharding) or not sharding.spec or sharding.spec[-1] is not None:
        return sharding
    spec = list(sharding.spec)
    while spec and spec[-1] is None:
        spec.pop()
    return jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(*spec))


def _axes(spec):
    return () if spec is None else (spec,) if isinstance(spec, str) else tuple(spec)


# Export

def export(fn, *example_tensors, platforms=("cpu", "cuda", "tpu")):
    """jax.export.Exported of `fn` (a function of Tensors) at the types of the examples (Tensors, arrays or pytrees of them), lowered for each platform.

    `fn` may call backward() or torch.autograd.grad, so that a whole training step can be exported; 64-bit types are kept.  `.mlir_module()` is
    its text, `.serialize()` its bytes, `.call(*arrays)` runs it where the platform is there.
    """
    arrays = jax.tree.map(lambda x: to_jax(x) if isinstance(x, Tensor) else x, example_tensors)
    with jax.enable_x64(True):
        types = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype) if _is_array(a) else a, arrays)
        return jax.export.export(jax.jit(as_jax_function(fn)), platforms=tuple(platforms))(*types)
