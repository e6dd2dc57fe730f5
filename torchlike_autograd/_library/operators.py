"""Operators of a program's own (layer 8): one overload with its schema, its kernels and its gradients, and how a call finds what computes it.

A call goes, from the outside in: arguments are checked against the schema; autocast casts them; a formula for gradients, or a rule for vmap, makes it a
`Function`; a kernel computes it: one for the kind of device, or one for all.
"""

from __future__ import annotations

from .._core import levels
from .._core.composite import named
from .._core.overloads import OpOverload, OpOverloadPacket
from .._core.pytree import broadcast, flatten, unflatten
from .._core.record import thread
from .._core.sharing import of_any_size
from .._tensor import Tensor
from ..amp import autocast_mode
from ..autograd.function import Function
from ..autograd.grad_mode import no_grad
from ..autograd.graph import increment_version
from ..utils._pytree import tree_structure
from . import unregistered

OPERATORS: dict = {}  # {"namespace::name": {overload: Operator}}, overload "" for the default one
EVERYWHERE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "", "BackendSelect")
BELOW = "below autograd"  # of a thread: calls go to the kernels of devices at once
_AUTOGRAD = ("Autograd", "AutogradCPU", "AutogradCUDA")


class Operator:
    """One overload.

    kernels: {dispatch key: function}; checked: what `custom_op` made, whose results may not share memory with arguments, or None; fake: shapes without data;
    backward, setup: its formula; vmap: its rule; casts: {kind of device: dtype} for autocast; disabled: kinds of devices whose kernel is switched off;
    by_device: whether its argument `device` tells which kernel computes it.
    """

    def __init__(self, schema, checked=None, tags=()):
        self.schema, self.checked, self.tags = schema, checked, tags
        self.kernels, self.casts, self.disabled = {}, {}, set()
        self.fake = self.backward = self.setup = self.vmap = None
        self.by_device = False

    @property
    def dotted(self):
        """"namespace.name.overload"."""
        return f"{self.schema.name.replace('::', '.')}.{self.schema.overload_name or 'default'}"

    def __call__(self, /, *args, **kwargs):
        return self.call(*self.schema.bound(args, kwargs))

    def call(self, args, only):
        """The results for arguments that were checked; only: those by keyword alone."""
        tensors = [x for x in flatten((args, only))[0] if isinstance(x, Tensor)]
        for kind, dtype in self.casts.items():
            if autocast_mode.is_autocast_enabled(kind):
                with autocast_mode.autocast(kind, enabled=False):
                    return self.call(_cast(args, dtype), _cast(only, dtype))
        if thread.state.extra.get(BELOW):
            return self.compute(args, only, tensors)
        for key in _AUTOGRAD:
            if key in self.kernels and not all(t.is_inference() for t in tensors):
                return self.kernels[key](*args, **only)
        wanted = thread.state.grad and any(t.requires_grad for t in tensors)
        alone = self.vmap is None and not self._one_by_one(tensors)
        if self.backward is None and alone and (self.checked is None or not wanted):
            out = self._plain(args, only, tensors)
            warned = wanted and unregistered.mode[0] == "warn" and "CompositeImplicitAutograd" not in self.kernels
            return unregistered.warning(self.schema, tensors, out) if warned else out
        if not wanted and not levels.running():
            return self._plain(args, only, tensors)
        return self._function(only, tensors, self.schema.spoken(args)).apply(*args)

    def _one_by_one(self, tensors):
        """Whether a call goes over the examples of a map: what a kernel of a device alone computes has no rule for all of them at once."""
        return not self.schema.is_mutable and "CompositeImplicitAutograd" not in self.kernels and bool(tensors) and levels.mapped_among(tensors)

    def _of_lists(self):
        return any("[" in a.suffix and a.kind == "Tensor" for a in (*self.schema.arguments, *self.schema.returns))

    def _each(self, info, in_dims, *args, **only):
        """The rule for vmap of an operator without one: the results for each example, stacked."""
        if info.batch_size == 0:
            raise RuntimeError(f"vmap: operator {self.dotted} without a vmap rule over a dim of size 0")
        if self._of_lists():
            raise RuntimeError(f"Batching rule not implemented for {_full(self.schema)}. We could not generate a fallback.")
        pick = lambda x, d, i: x if d is None else x.select(d, i)  # noqa: E731
        found = [flatten(self.call([pick(x, d, i) for x, d in zip(args, in_dims)], only)) for i in range(info.batch_size)]

        out = unflatten([named("stack")(list(same)) if isinstance(same[0], Tensor) else same[0] for same in zip(*(x for x, _ in found))], found[0][1])
        return out, unflatten([0 if isinstance(x, Tensor) else None for x in found[0][0]], found[0][1])

    def _plain(self, args, only, tensors):
        if self.checked is None:  # its kernel is recorded, as the kernels that PyTorch calls for a device are
            return self.compute(args, only, tensors)
        with no_grad():
            return self.compute(args, only, tensors)

    def compute(self, args, only, tensors):
        """The kernel's results."""
        kernel = self.kernel(tensors[0].device.type if tensors else self._asked_for(args, only) if self.by_device else "cpu")
        listener = thread.state.extra.get("selective")
        if self.schema.is_mutable:
            with of_any_size(tensors):
                out = kernel(*args, **only)
        elif listener is None:
            out = kernel(*args, **only)
        else:
            out = listener.computed(self._overload(), lambda: kernel(*args, **only), args, only)
        if self.checked is not None:
            _no_sharing(self, tensors, out)
            for t in self._written(args, only):
                increment_version(t)
        return out

    def _asked_for(self, args, only):
        """The kind of device that a call without tensors names."""
        kind = (dict(zip([a.name for a in self.schema.arguments], args)) | only)["device"].type
        if kind.upper() not in self.kernels:
            raise RuntimeError(f"{self.schema.name.partition('::')[2]} does not have a kernel registered for {kind}. Please use register_kernel to do so.")
        return kind

    def _overload(self):
        """What `torch.ops` shows of it."""
        from .. import ops  # cycle: torch.ops looks its operators up here

        space, name = self.schema.name.split("::", 1)
        return getattr(getattr(getattr(ops, space), name), self.schema.overload_name or "default")

    def _written(self, args, only):
        given = dict(zip([a.name for a in self.schema.arguments], args)) | only
        return [t for name in self.schema.written for t in flatten(given.get(name))[0] if isinstance(t, Tensor) and not t.is_inference()]

    def kernel(self, kind):
        """What computes it on a kind of device."""
        if kind == "meta":
            found = self.fake or self.kernels.get("Meta")
            if found is None and self.checked is not None:
                if self.schema.is_mutable and not self.schema.returns:
                    return lambda *args, **only: None
                raise RuntimeError(f"There was no fake impl registered for {self.checked!r}. This is necessary for torch.compile/export/fx tracing to work. "
                                   f"Please use `{self.checked._init_fn.__name__}.register_fake` to add an fake impl.")
        else:
            found = self.kernels.get(kind.upper()) if kind not in self.disabled else None
        found = found or next((self.kernels[k] for k in EVERYWHERE if k in self.kernels), None)
        if found is None:
            kind = kind.upper() if kind != "meta" else "Meta"
            raise NotImplementedError(
                f"Could not run '{_full(self.schema)}' with arguments from the '{kind}' backend. This could be because the operator doesn't exist for this "
                "backend, or was omitted during the selective/custom build process (if using custom build). If you are a Facebook employee using PyTorch on "
                f"mobile, please visit https://fburl.com/ptmfixes for possible resolutions. '{_full(self.schema)}' is only available for these backends: "
                f"[{', '.join(k for k in self.kernels if k)}].")
        return found

    def _function(self, only, tensors, spoken):
        """The Function of a call; only: what it was given for the parameters that are passed by keyword alone; spoken: how many others are no defaults."""
        defaults = sum(not a.kwarg_only for a in self.schema.arguments) - spoken

        def forward(*args):
            return self.compute(list(args), only, [x for x in flatten(list(args))[0] if isinstance(x, Tensor)])

        def setup_context(ctx, inputs, output):
            if self.setup is not None:
                self.setup(ctx=ctx, inputs=inputs, output=output, **({"keyword_only_inputs": only} if only else {}))

        def backward(ctx, *grads):
            if self.backward is None:
                raise RuntimeError(f"Trying to backward through {self.dotted} but no autograd formula was registered. "
                                   "Please use register_autograd to add one.")
            found = self.backward(ctx, *grads)
            found = found if isinstance(found, tuple) else (found,)
            return found if len(found) != spoken else (*found, *[None] * defaults)

        body = {"forward": staticmethod(forward), "setup_context": staticmethod(setup_context), "backward": staticmethod(backward)}
        rule = self.vmap or self._each
        body["vmap"] = staticmethod(lambda info, in_dims, *args: rule(info, in_dims, *args, **only))
        if self._of_lists():
            return _OfLists(self, body)
        return type(f"GeneratedBackwardFor_{self.dotted.replace('.', '_')}", (Function,), body)


class _OfLists:
    """The Function of an operator that takes or gives lists of tensors: it works on what is in them."""

    def __init__(self, op, body):
        self.op, self.body = op, body

    def apply(self, *args):
        """The results."""
        leaves, tree = flatten(list(args))
        shape = []
        inner = {k: f.__func__ for k, f in self.body.items()}

        def forward(*flat):
            out, found = flatten(inner["forward"](*unflatten(list(flat), tree)))
            shape[:] = [found]
            return tuple(out)

        def setup_context(ctx, inputs, output):
            inner["setup_context"](ctx, tuple(unflatten(list(inputs), tree)), unflatten(list(output), shape[0]))

        def backward(ctx, *grads):
            whole = unflatten(list(grads), shape[0])
            found = inner["backward"](ctx, *(whole if isinstance(whole, tuple) else (whole,)))
            found = found if isinstance(found, tuple) else (found,)
            _same_structure(found, args)
            return tuple(_spread(found, args))

        def vmap(info, in_dims, *flat):
            found = inner["vmap"](info, tuple(unflatten(list(in_dims), tree)), *unflatten(list(flat), tree))
            if not isinstance(found, tuple) or len(found) != 2:
                return found    # refused where the rule of a Function is called
            out, got = flatten(found[0])
            shape[:] = [got]
            return tuple(out), found[1] if (dims := broadcast(found[1], got)) is None else tuple(dims)

        made = type(f"GeneratedBackwardFor_{self.op.dotted.replace('.', '_')}", (Function,),
                    {"forward": staticmethod(forward), "setup_context": staticmethod(setup_context), "backward": staticmethod(backward),
                     "vmap": staticmethod(vmap)})
        return unflatten(list(made.apply(*leaves)), shape[0])


def _same_structure(grads, args):
    """torch's error for gradients that are not arranged as the arguments are; it counts one more of both, which are its own."""
    args = tuple(list(x) if isinstance(x, tuple) else x for x in args)
    got, own = tree_structure((*grads, None), _one_gradient), tree_structure((*args, None), _one_argument)
    if got != own:
        raise RuntimeError(f"Expected the return from backward to be of the same structure as the inputs. Got: {got} (return from backward), {own} (inputs)")


def _one_gradient(x):
    return not isinstance(x, tuple) and (not isinstance(x, list) or any(y is not None and not isinstance(y, Tensor) for y in x))


def _one_argument(x):
    return not isinstance(x, tuple) and (not isinstance(x, list) or any(not isinstance(y, Tensor) for y in x))


def _spread(grads, args):
    """Gradients of arguments as those of what is in them."""
    for g, x in zip(grads, args):
        n = len(flatten(x)[0]) if isinstance(x, (list, tuple)) else 1
        yield from [None] * n if g is None else flatten(g)[0] if isinstance(x, (list, tuple)) else [g]


def _cast(x, dtype):
    leaves, tree = flatten(x)
    return unflatten([t.to(dtype) if isinstance(t, Tensor) and t.is_floating_point() and t.dtype.name != "float64" else t for t in leaves], tree)


def _full(schema):
    return f"{schema.name}{'.' + schema.overload_name if schema.overload_name else ''}"


def _no_sharing(op, tensors, out):
    """torch's error for results that are arguments, or share memory with one or with each other."""
    seen = list(tensors)
    for t in flatten(out)[0]:
        if not isinstance(t, Tensor):
            continue
        if any(t is s or (t._tl_cell is not None and t._tl_cell is s._tl_cell) for s in seen):
            import sys

            where = sys.modules[type(op.checked).__module__]
            raise RuntimeError(
                f"{op.checked.__name__} (with implementation in {where!r}): The output of this custom operator (1) must not also be an input to this custom "
                "operator and (2) may not alias any inputs to this custom operator or other returns. The most common way to trigger this error is if we have "
                "y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or "
                "refactor the custom operator to not return y.")
        seen.append(t)


def put(op):
    """Let `torch.ops` have it."""
    table = OPERATORS.setdefault(op.schema.name, {})
    table[op.schema.overload_name] = op
    _forget(op.schema.name)
    return op


def remove(op):
    """`torch.ops` has it no more."""
    table = OPERATORS.get(op.schema.name, {})
    if table.get(op.schema.overload_name) is op:
        del table[op.schema.overload_name]
        if not table:
            del OPERATORS[op.schema.name]
    _forget(op.schema.name)


FORGET: list = []  # told of names whose operators changed


def _forget(name):
    for f in FORGET:
        f(*name.split("::", 1))


class Packet(OpOverloadPacket):
    """The overloads of one name; calling it takes the first that fits."""

    def __init__(self, namespace, name, table):
        super().__init__(namespace, name, self._first, {(k or "default"): op for k, op in table.items()})
        self._table = table

    def _first(self, *args, **kwargs):
        if len(self._table) == 1:
            return next(iter(self._table.values()))(*args, **kwargs)
        said = []
        for op in self._table.values():
            try:
                given = op.schema.bound(args, kwargs)
            except RuntimeError as e:
                said.append(str(e))
                continue
            return op.call(*given)
        raise RuntimeError("Overloaded torch operator invoked from Python failed to match any schema:\n" + "".join(f"{s}\n\n" for s in said))


def find(namespace, name):
    """The packet of a name; None where there is none."""
    table = OPERATORS.get(f"{namespace}::{name}")
    return table and Packet(namespace, name, table)


def of(op):
    """The Operator that a name ("ns::name[.overload]"), an overload or a packet stands for; None where there is none."""
    if isinstance(op, Operator):
        return op
    own = getattr(op, "_operator", None)  # a CustomOpDef
    if own is not None:
        return own
    if isinstance(op, OpOverload):
        return of(op._call) if isinstance(op._call, Operator) else None
    name, _, overload = str(op).partition(".") if isinstance(op, str) else (f"{op._namespace}::{op.__name__}", "", "")
    table = OPERATORS.get(name, {})
    return table.get("" if overload == "default" else overload)
