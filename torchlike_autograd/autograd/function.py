"""Custom `Function`s (layer 7).

`apply` runs `forward` without recording history, then puts the outputs on the tape as results of one step of kind "function" whose backward is the
user's.  The ctx is the node.  Between its inputs and outputs a backward pass is cut; everything else stays compiled.
"""

from __future__ import annotations

import functools
import inspect
import itertools

from .._core import dtypes, levels, lifetimes, sparse_gradients, walls
from .._core.devices import of_key
from .._core.leaving import leaf_at
from .._core.nodes import Leaf, Node, _InputMetadata
from .._core.placed import cut
from .._core.record import GRAD, LOCK, Step, Value, follow, mark_seen, new_prefix, record_op, thread
from .._core.saying import warn
from .._core.shown import Shown
from .._core.storage import View, write_own
from .._core.tangents_off import FORWARD
from .._ops.no_gradient import real_gradient_wanted
from .._ops.spec import LeveledAval, aval
from .._tensor import Tensor, wrap
from ._function_instances import Instance, Nested
from ._kept import check_notes, check_returned, keep, raw_saved_tensors, release, saved_tensors
from ._reduced import reduced_to
from ._returned import alias, as_kind
from ._written import check_dirty, without_hooks
from .graph import increment_version

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction", "once_differentiable"]


class FunctionCtx(metaclass=Shown):
    """What `forward` and `backward` share."""

    def save_for_backward(self, *tensors):
        """Keep tensors (or None) for backward."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for jvp."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Say which inputs were modified in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """Whether absent gradients reach backward as zeros (default) or None."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs):
        """Deprecated and without effect."""
        warn("`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that calls to `set_()` are not tracked",
             FutureWarning)


class _Form:
    """What a custom Function looks like to the plan: a node name."""

    op = None
    diff_in = diff_out = owners = ()

    def __init__(self, node):
        self.node = node

    def __repr__(self):
        return self.node


_NO_TENSOR = aval((), dtypes.float32)  # what torch shows of the gradient of an output that is no tensor


class BackwardCFunction(FunctionCtx, Node):
    """The ctx of a Function and its node in the graph."""

    __slots__ = ("__dict__", "_tl_differentiable", "_tl_input_is_tensor", "_tl_metas", "_tl_output_is_tensor", "_tl_outputs",
                 "_tl_wanted", "needs_input_grad")
    materialize_grads = _materialize_non_diff_grads = True
    to_save = None
    dirty_tensors = ()
    non_differentiable = ()
    _tl_freed = False
    _tl_tape = None
    _tl_demanded = ()

    def name(self):
        return type(self).__name__

    def __call__(self, *args):
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def apply(self, *args):
        return self._tl_call_backward(args)

    def apply_boxed(self, args):
        """`backward` with the list as its one argument."""
        return self._forward_cls.backward(self, args)

    def apply_jvp(self, *args):
        """The tangents by the Function's own `jvp`."""
        return self._forward_cls.jvp(self, *args)

    @property
    def saved_tensors(self):
        if "_tl_in_jvp" in self.__dict__:
            return tuple(self.__dict__.get("saved_for_forward", ()))
        return saved_tensors(self)

    @property
    def _raw_saved_tensors(self):
        return raw_saved_tensors(self)

    @property
    def saved_variables(self):
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def __getattr__(self, name):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def next_functions(self):
        """((node or None, output number), ...), one entry for each tensor among the inputs."""
        given = Node.next_functions.fget(self)
        return tuple(given[i] if i < len(given) else (None, 0) for i in self._tl_edge_places())

    def _tl_edge_places(self):
        """For each tensor among the inputs its number among those that require grad; the others come after these."""
        numbers, off = itertools.count(), itertools.count(len(self._tl_wanted))
        return [next(numbers) if i in self._tl_wanted else next(off) for i, is_tensor in enumerate(self._tl_input_is_tensor) if is_tensor]

    @property
    def _input_metadata(self):
        return tuple(map(_InputMetadata, self._tl_per_output(self._tl_outputs, _NO_TENSOR)))

    def __repr__(self):
        return f"<torch.autograd.function.{type(self).__name__} object at {hex(id(self))}>"

    # Outputs that are no tensors have numbers too; the record knows only of tensors

    def _tl_number_of(self, k):
        """The number among all outputs of the k-th tensor."""
        return [i for i, is_tensor in enumerate(self._tl_output_is_tensor) if is_tensor][k]

    def _tl_tensor_of(self, number):
        """Which of the tensors an output is; AttributeError where it is none."""
        if not self._tl_output_is_tensor[number]:
            raise AttributeError(f"output {number} of {self.name()} is no tensor")
        return sum(self._tl_output_is_tensor[:number])

    def _tl_per_output(self, given, other=None):
        """What is given for each tensor, with `other` for each output that is none."""
        if all(self._tl_output_is_tensor):
            return given
        given = iter(given)
        return [next(given) if is_tensor else other for is_tensor in self._tl_output_is_tensor]

    def _tl_of_tensors(self, full):
        """The other way round."""
        return [g for g, is_tensor in zip(full, self._tl_output_is_tensor) if is_tensor]

    # Called by the engine

    def _tl_in_demand(self, index):
        """Whether the running pass wants the gradient of a tensor among the arguments, by its number among them."""
        place = [i for i, is_tensor in enumerate(self._tl_input_is_tensor) if is_tensor][index]
        return place in self._tl_wanted and self._tl_wanted.index(place) in self._tl_demanded

    def _tl_run_backward(self, outs, p, demanded=()):
        """Gradients (Values or None) of the tensor inputs that require grad, of which the pass wants those in `demanded`."""
        self._tl_demanded = demanded
        grads = [wrap(g) if g is not None else self._tl_absent(i) for i, g in enumerate(outs)]
        return self._tl_sorted(self._tl_call_backward(tuple(grads)), p)

    def _tl_let_go(self):
        """Free what was saved.  The node may run again all the same: who reads what was saved is told."""
        self._tl_freed = True
        release(self)

    def _tl_absent(self, i):
        meta = self._tl_outputs[i]
        if not self.materialize_grads or meta is None or not (self._materialize_non_diff_grads or self._tl_differentiable[i]):
            return None
        from .. import zeros

        return zeros(meta.shape, dtype=meta.dtype, device=of_key(meta.device))

    def _tl_call_backward(self, grads):
        cls, full = self._forward_cls, list(self._tl_per_output(grads))
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them.")
        f = cls.vjp if cls.vjp is not Function.vjp else cls.backward
        return f(self, full) if cls.boxed_grads_call else f(self, *full)

    def _tl_sorted(self, result, p=None):
        """The results checked and in the order of the tensor inputs that require grad, then those for the others, which only hooks see."""
        result = result if isinstance(result, tuple) else (result,)
        n = len(self.needs_input_grad)
        if len(result) < n or any(r is not None for r in result[n:]):
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {n}, got {len(result)})")
        for i, is_tensor in enumerate(self._tl_input_is_tensor):
            if not is_tensor and result[i] is not None:
                raise RuntimeError(f"function {self.name()} returned a gradient different than None at position {i + 1}, but the corresponding forward input "
                                   "was not a Variable")
        rest = [result[i] for i, is_tensor in enumerate(self._tl_input_is_tensor) if is_tensor and i not in self._tl_wanted]
        return [*[_under_levels(self._tl_value_of(i, result[i], meta), meta, p) for i, meta in zip(self._tl_wanted, self._tl_metas)],
                *[r._tl_value() if isinstance(r, Tensor) else None for r in rest]]

    def _tl_value_of(self, i, r, aval):
        if r is None:
            return None
        if not isinstance(r, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(r).__name__})")
        nr = sum(self._tl_input_is_tensor[:i])  # torch counts tensors alone
        v = sparse_gradients.given(r, aval, self._tl_leaf(i), nr, self._tl_said()) if sparse_gradients.is_sparse(r) else r._tl_value()
        if v.aval.shape != aval.shape:
            v = reduced_to(v, aval.shape, nr, self._tl_said())
        made = v.aval.dtype
        if not made.is_floating_point and made.is_complex is not aval.dtype.is_complex:
            raise real_gradient_wanted()
        if made is not aval.dtype and not self._tl_leaf_casts(i):
            from .._core.dispatch import cast_spec

            v = record_op(cast_spec(aval.dtype), (v,))[0]
        return v

    def _tl_said(self):
        """How torch's words for a gradient that is refused begin."""
        return f"Function {self.name()} returned an "

    def _tl_leaf(self, i):
        """What is behind argument i, where the tape ends there."""
        return leaf_at(self._tl_tape, self._tl_step().ins[self._tl_wanted.index(i)])

    def _tl_leaf_casts(self, i):
        """Whether argument i is a leaf with a `grad_dtype` of its own."""
        if not Leaf.watched[0]:
            return False
        leaf = self._tl_leaf(i)
        return type(leaf) is Leaf and "grad_dtype" in (leaf.hooks or ())


def _under_levels(v, aval, p):
    if v is None or type(v.aval) is not LeveledAval or v.aval is aval:
        return v
    from . import _function_levels  # cycle: levels apply Functions

    return _function_levels.reduced(v, aval, p.levels)


_ids = itertools.count()


class FunctionMeta(Shown):
    """Makes the node class ``<Name>Backward`` of each Function."""

    def __init__(cls, name, bases, attrs):
        own = {"__module__": BackwardCFunction.__module__, "_forward_cls": cls, "_autograd_function_id": next(_ids)}
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), own)
        super().__init__(name, bases, attrs)


class Function(Instance, FunctionCtx, metaclass=FunctionMeta):
    """Base of operators with a backward of the user's own: static `forward` and `backward`, called through `apply`."""

    generate_vmap_rule = _tl_single_level = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the outputs."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Fill the ctx after `forward(*inputs)` without ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Gradients of the inputs from those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Tangents of the outputs from those of the inputs."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """The rule under torch.vmap."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run the function and record it."""
        split = cls.setup_context is not Function.setup_context
        if split:
            args, kwargs = _bind_defaults(cls.forward, args, kwargs)
        if kwargs:
            if levels.running():
                _function_levels().no_tensors(kwargs)
            args = _in_order(cls.forward, args, kwargs, split)
        return _apply(cls, args, {}, split)


def _bind_defaults(forward, args, kwargs):
    try:
        signature = inspect.signature(forward)
    except ValueError:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _in_order(forward, args, kwargs, split):
    """All arguments by position, as gradients are given; torch's errors for a name that has no position or stands behind one that was left out."""
    usual = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in inspect.signature(forward).parameters.values() if p.kind in usual][0 if split else 1:]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    args = list(args)
    while len(args) < len(names) and any(name in kwargs for name in names[len(args):]):
        name = names[len(args)]
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {len(args)})")
        args.append(kwargs[name])
    return tuple(args)


def _function_levels():
    from . import _function_levels as found  # cycle: levels apply Functions

    return found


def _apply(cls, args, kwargs, split):
    if levels.running() or (not split and thread.state.extra.get(levels.FUNCTIONALIZED)):
        found = _function_levels().applied(cls, args, kwargs, split, _recorded)
        if found is not None:
            return found[0]
    out, ctx = _recorded(cls, args, kwargs, split)
    forget(ctx)
    return out


def forget(ctx):
    """Let go what `forward` said of tensors, which would keep them alive."""
    ctx.__dict__.pop("dirty_tensors", None)
    ctx.__dict__.pop("non_differentiable", None)


def _forward(cls, args):
    if not levels.running():
        return cls.forward(*args)
    from . import _function_levels  # cycle: levels apply Functions

    return _function_levels.forward(cls, args, _recorded)


def _node_class(cls):
    from . import _function_levels  # cycle: levels apply Functions

    return _function_levels.node_class(cls)


_REQUIRES = Tensor._tl_needs.fget


def _recorded(cls, args, kwargs, split, whole=None):
    """(results, ctx) of a call that is recorded here; whole: the dual tensors whose primals are called with (`_function_levels.Whole`)."""
    ctx = (_node_class(cls) if levels.running() else cls._backward_cls)()
    state = thread.state
    tensors = [(i, a) for i, a in enumerate(args) if isinstance(a, Tensor)]
    shown = {} if whole is None else whole.tensors
    needs = tuple(isinstance(a, Tensor) and _REQUIRES(shown.get(id(a), a)) for a in args)  # a subclass is not asked
    ctx.needs_input_grad = needs
    live = state.grad and any(needs)
    before = {id(t): shown.get(id(t), t)._tl_value() for _, t in tensors}
    beneath = {id(t): v for _, t in tensors if (v := without_hooks(t, before[id(t)])) is not before[id(t)]} if live and not shown else {}
    old, state.grad = state.grad, state.grad and False
    cut()
    outer, state.extra[FORWARD] = state.extra.get(FORWARD), object()
    try:
        if split:
            raw = _forward(cls, args)
            cls.setup_context(ctx, args, raw)
        else:
            raw = cls.forward(ctx, *args, **kwargs)
    finally:
        state.grad, state.extra[FORWARD] = old, outer
    check_notes(ctx, split)
    if split:
        check_returned(ctx, args, raw, old)
    outputs = raw if isinstance(raw, tuple) else (raw,)
    ctx._tl_output_is_tensor = tuple(isinstance(o, Tensor) for o in outputs)
    ctx._tl_input_is_tensor = tuple(isinstance(a, Tensor) for a in args)
    if ctx.__dict__.get("_is_pure_view") and (len(tensors) != 1 or sum(ctx._tl_output_is_tensor) != 1):
        raise RuntimeError("Pure view custom Function can only have one input Tensor and one output Tensor. Open an issue if you need to support more.")
    check_dirty(ctx, before, outputs, live)
    if live:
        attached, inner = _attach(ctx, args, before if whole is None else before | whole.values, outputs, beneath)
        made = {id(o): a for o, a in zip(outputs, attached) if a is not o and not any(o is x for x in args)}  # a view that was returned is another tensor now
        outputs = attached
        own = levels.running() and _beside(outputs, inner)
        saving = [made.get(id(t), t) for t in ctx.__dict__.pop("to_save", None) or ()]  # not on the ctx where a pack hook raises: it would hold its own outputs
        if whole is None:
            ctx._tl_saved = keep(ctx, saving, () if own else outputs, inner)
        else:
            whole.saving, whole.inner = saving, {} if own else inner
    else:
        outputs = tuple(_fresh(o, args, ctx) if isinstance(o, Tensor) else o for o in outputs)
    return outputs if isinstance(raw, tuple) else outputs[0], ctx


def _beside(outputs, inner):
    """Outputs that the levels around a dual one have recorded as well get that graph too; whether there are any.  inner: see `_attach`."""
    from . import _function_levels  # cycle: levels apply Functions

    any_made = False
    for o in outputs:
        v = inner.get(id(o)) if isinstance(o, Tensor) else None
        made, inside = (False, ()) if v is None else _function_levels.around(v)
        if made:
            o._tl_set_value(walls.merged(inside, o._tl_value(), v) if inside else v)
        any_made |= made
    return any_made


def _fresh(o, args, ctx):
    """An output of a call without a node: what was given is another tensor, a written one only where it has a history, which stays its own."""
    if any(o is a for a in args):
        if any(o is d for d in ctx.dirty_tensors):
            increment_version(o)
            if not _REQUIRES(o):
                return o
        o = o.detach() if _REQUIRES(o) else o.view_as(o)
    return _inside(o, _creation(ctx))


def _creation(ctx):
    """How views that a Function returns may be written to: as ones that it does not know the way back through, unless it says that it is one itself."""
    return "default" if ctx.__dict__.get("_is_pure_view") else "function"


def _inside(o, creation):
    """Say of a view that a Function returned it."""
    if o._tl_view is not None and o._tl_view.base is not None:
        o._tl_view.creation = creation
    return o


def _attach(ctx, args, before, outputs, beneath):
    """Put the outputs on the tape as results of one step; with them, by the id of an output the Value that forward gave.  beneath: see `without_hooks`."""
    state = thread.state
    wanted = tuple(i for i, n in enumerate(ctx.needs_input_grad) if n)
    non_diff = [id(t) for t in ctx.non_differentiable]
    tensors, seen = [o for o in outputs if isinstance(o, Tensor)], {}
    written = {k: v for k, v in beneath.items() if any(id(d) == k for d in ctx.dirty_tensors)}
    with LOCK:
        ins = [written.pop(id(args[i]), None) or before[id(args[i])] for i in wanted]  # given twice, it is what was written at its first place
        values = [o._tl_value() for o in tensors]
        ctx._tl_metas = tuple(v.aval for v in ins)
        ctx._tl_wanted = wanted
        tape = state.tape
        in_slots = tuple(v.slot if v.tape is tape else tape.enter(v) for v in ins)
        out_slots = tuple(v.slot if v.tape is tape else tape.enter(v) for v in values)
        needs = tuple(id(o) not in non_diff and v.aval.dtype.category >= 2 for o, v in zip(tensors, values))
        label = ("function", type(ctx).__name__, in_slots, out_slots, needs)
        prefix = tape.prefix
        nxt = prefix.next.get(label)
        if nxt is None:
            step = Step("function", _Form(type(ctx).__name__), (*in_slots, *out_slots), GRAD, tuple(v.aval for v in values), needs, prefix.size)
            nxt = prefix.next[label] = new_prefix(prefix, step, len(values), 0, 0, 0)
        first = nxt.step.first
        made = [Value(v.aval, n, tape, first + i) for i, (v, n) in enumerate(zip(values, needs))]
        if not follow(tape, nxt, made):
            return _attach(ctx, args, before, outputs, beneath)
        tape.contexts[first] = ctx
        ctx._tl_tape, ctx._tl_first = tape, first
        if state.anomaly is not None:
            state.anomaly.note(tape, nxt.step)
    ctx._tl_outputs, ctx._tl_differentiable = [v.aval for v in values], needs
    several = sum(id(o) not in non_diff for o in tensors) > 1
    last = {id(o): v for o, v in zip(tensors, made)}  # a tensor returned twice is the last of its outputs
    fresh = {id(a) for a in args} - {id(d) for d in ctx.dirty_tensors}  # an input returned as it is becomes another tensor each time
    results = []
    for o, v in zip(tensors, made):
        out = None if id(o) in fresh else seen.get(id(o))
        if out is None:
            seen[id(o)] = out = _output(ctx, o, v if id(o) in fresh else last[id(o)], args, id(o) in non_diff)
            lifetimes.watch(out)
            if several:
                _inside(out, "multi")
        results.append(out)
    inner = {id(t): v for t, v in zip(results, values)}
    results = iter(results)
    return tuple(next(results) if isinstance(o, Tensor) else o for o in outputs), inner


def _output(ctx, o, v, args, non_diff):
    dirty = any(o is d for d in ctx.dirty_tensors)
    if dirty:
        write_own(o, v, o._tl_v)
        if o._tl_leaf is not None:
            o._tl_leaf.grad = None  # as in torch, where its history begins anew
        return o
    if any(o is a for a in args):
        return as_kind(o, _inside(alias(o, v), _creation(ctx)))
    if non_diff:
        return o
    if o._tl_view is not None and o._tl_view.chain and o._tl_view.base is not None:
        o._tl_v, o._tl_at = v, o._tl_cell.n
        mark_seen(v, o._tl_counter)
        o._tl_view = View(o._tl_view.base, o._tl_view.chain, _creation(ctx), o._tl_view.under)
        return o
    o._tl_set_value(v)
    return o


class InplaceFunction(Function):
    """A Function with an `inplace` flag (legacy)."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Nested, Function):
    """What is left in torch of Functions with nested inputs, whose methods are not static: nothing calls them any more, there as here."""


def once_differentiable(fn):
    """A backward whose results cannot be differentiated again."""

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        state = thread.state
        outer, state.grad = state.grad, False
        try:
            outputs = fn(ctx, *args)
        finally:
            state.grad = outer
        if not outer or not any(isinstance(a, Tensor) and a._tl_needs for a in args):
            return outputs
        from ._once import errors_on_backward  # cycle: what it applies is a Function

        return errors_on_backward(outputs)

    return wrapper


_ContextMethodMixin = FunctionCtx  # the name of old
_SingleLevelFunction = FunctionMeta("_SingleLevelFunction", (Function,), {"_tl_single_level": True})  # of an operator
