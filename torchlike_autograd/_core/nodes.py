"""`grad_fn` objects, accumulation points, hooks (layer 4).

The graph is structure on tapes; a `Node` is made when somebody asks for it and is the same object while anybody holds it.  What users attach (hooks,
metadata) lives on the tape, so it stays when the Node goes.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict

from . import belonging, devices
from .record import LEAF, slot_table, thread


class Leaf:
    """The accumulation point of a leaf tensor: its gradient and hooks; graphs hold this, not the tensor."""

    __slots__ = ("__weakref__", "behind", "grad", "hooks", "metadata", "node", "off", "post", "posthooks", "prehooks", "tensor")

    def __init__(self, tensor):
        self.tensor = weakref.ref(tensor)
        self.grad = None
        self.off = False  # the tensor does not require grad any more
        self.behind = False  # the tensor retains the gradient of what it was, before it was turned or detached in place
        self.hooks = None  # OrderedDict id -> f(grad)
        self.post = None  # OrderedDict id -> f(tensor)
        self.prehooks = None
        self.posthooks = None
        self.node = None
        self.metadata = None

    watched = [False]  # whether any leaf has or had a hook

    def observed(self):
        """Whether anybody looks at the gradient on its way in."""
        return self.hooks or self.post or self.prehooks or self.posthooks

    def gets_pairs(self):
        """Its tensor was a dual one whose level has ended: what was computed there gives it gradients of pairs."""
        self.__class__ = LeafOfPairs


class LeafOfPairs(Leaf):
    """The leaf of a tensor that was a dual one."""

    __slots__ = ()


class Nowhere(Leaf):
    """Where the gradient of a tensor goes that requires grad without an edge: a view made under no_grad of a tensor that requires grad."""

    __slots__ = ()

    def gets_pairs(self):
        """No gradient comes here."""


class Observed:
    """What is attached to one step of a tape."""

    __slots__ = ("hooks", "metadata", "number", "posthooks", "prehooks", "retain", "saved")

    def __init__(self):
        self.hooks = {}  # output slot -> OrderedDict id -> f(grad)
        self.retain = {}  # output slot -> weakref of the tensor that retains its gradient
        self.prehooks = OrderedDict()
        self.posthooks = OrderedDict()
        self.metadata = self.number = None  # number: in the order of a pass, where somebody set it
        self.saved = None  # ("in" | "out", number) -> Packed, see saved.py


numbered = [False]  # whether anybody set the number of a node
changes = [0]  # how often something was attached to a graph or taken off: a pass plans anew when it moves


def _ref(hooks):
    """A weak reference to a table of hooks; a strong one to a plain dict, which has none."""
    return weakref.ref(hooks) if not isinstance(hooks, dict) or isinstance(hooks, OrderedDict) else lambda: hooks


class RemovableHandle:
    """A handle that removes its hook (torch.utils.hooks.RemovableHandle): `id`, `remove()`, context manager; it can be copied and saved with its tables."""

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = _ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.extra_dict_ref = tuple(map(_ref, extra_dict if isinstance(extra_dict, list) else () if extra_dict is None else (extra_dict,)))

    def remove(self):
        """Remove the hook; twice is fine."""
        changes[0] += 1
        hooks = self.hooks_dict_ref()
        if hooks is not None:
            hooks.pop(self.id, None)
        for ref in self.extra_dict_ref:
            if (more := ref()) is not None:
                more.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state):
        hooks = OrderedDict() if state[0] is None else state[0]  # a table that is gone: one that goes at once
        RemovableHandle.__init__(self, hooks, extra_dict=list(state[2]) if len(state) > 2 else None)
        self.id = state[1]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()


class HookOfLevel:
    """A hook on what belongs to a reverse-mode transformation: passes of that one call it, those around it go through the same graph and do not."""

    __slots__ = ("__name__", "f", "mark")

    def __init__(self, f, mark):
        self.f, self.mark, self.__name__ = f, mark, getattr(f, "__name__", "<unknown>")

    def __call__(self, *args):
        return self.f(*args) if thread.state.extra["pass"].mark is self.mark else None


def add_hook(hooks, f, mark=None) -> RemovableHandle:
    """Register `f` in an ordered dict of hooks; mark: of the level whose passes alone call it."""
    changes[0] += 1
    handle = RemovableHandle(hooks)
    hooks[handle.id] = f if mark is None else HookOfLevel(f, mark)
    return handle


def observed(tape, first, make=False):
    """The Observed of the step whose first slot is `first`; make: for somebody who attaches something."""
    if make:
        changes[0] += 1
    out = tape.extra.get(first)
    if out is None and make:
        out = tape.extra[first] = Observed()
        node = tape.extra.get(("node", first))
        if node is not None and node() is not None:
            on_notes(node())
    return out


def step_of(tape, slot):
    """The step that made a computed slot."""
    return slot_table(tape.prefix)[slot][0] if not tape.open else _open_step(tape, slot)


def _open_step(tape, slot):
    table = tape.prefix.memo.get("slots")
    if table is None:
        table = slot_table(tape.prefix)
    return table[slot][0]


class Node:
    """A node of the graph, as `tensor.grad_fn` shows it."""

    __slots__ = ("__weakref__", "_tl_first", "_tl_tape")

    def name(self):
        """torch's name of the node, such as MulBackward0."""
        name = self._tl_step().form.node
        return name if type(name) is str else type(self).__name__  # gradients of several inputs are one step with several names

    def _tl_step(self):
        return step_of(self._tl_tape, self._tl_first)

    @property
    def next_functions(self):
        """((node or None, output number), ...), one entry for each differentiable argument."""
        step = self._tl_step()
        if step.kind == "op" and getattr(step.form.spec, "arity", 0) == 2:  # CopySlices
            return (_edge(self._tl_tape, step.ins[0]), *_others(self._tl_tape, step.ins[1]))
        return tuple((None, 0) if i is None else _edge(self._tl_tape, step.ins[i]) for i in edge_indices(step))

    @property
    def metadata(self):
        """A dict for the user's own notes."""
        seen = observed(self._tl_tape, self._tl_first, True)
        if seen.metadata is None:
            seen.metadata = {}
            on_notes(self)
        return seen.metadata

    def register_hook(self, fn):
        """Call fn(grad_inputs, grad_outputs) after the node has run; a returned tuple replaces grad_inputs."""
        return add_hook(observed(self._tl_tape, self._tl_first, True).posthooks, fn, belonging.mark_at(self._tl_tape, self._tl_first))

    def register_prehook(self, fn):
        """Call fn(grad_outputs) before the node runs; a returned tuple replaces them."""
        return add_hook(observed(self._tl_tape, self._tl_first, True).prehooks, fn, belonging.mark_at(self._tl_tape, self._tl_first))

    requires_grad = property(lambda self: True)

    def _tl_tensor_of(self, number):
        """Which of the tensors that the node gives an output is."""
        return outputs_of(self._tl_step())[number]

    def _sequence_nr(self):
        seen = observed(self._tl_tape, self._tl_first)
        return numbers_of(self._tl_tape)[self._tl_first] if seen is None or seen.number is None else seen.number

    def _set_sequence_nr(self, number):
        if type(number) is not int:
            raise TypeError("expected an integer")
        observed(self._tl_tape, self._tl_first, True).number = number
        numbered[0] = True

    def _register_hook_dict(self, tensor):
        raise NotImplementedError("_register_hook_dict: hooks are registered by register_hook")

    @property
    def _input_metadata(self):
        step = self._tl_step()
        return tuple([_InputMetadata(step.out_avals[i]) for i in outputs_of(step)])

    def __getattr__(self, name):
        if name.startswith("_saved_"):
            return saved_value(self, name[len("_saved_"):])
        if name.startswith("_raw_saved_"):
            return raw_saved(self, name[len("_raw_saved_"):])
        raise AttributeError(f"'{type(self).__name__.rpartition('::')[2]}' object has no attribute '{name}'")

    def __dir__(self):
        return sorted({*object.__dir__(self), *saved_names(self)})

    def __repr__(self):
        return f"<{type(self).__name__} object at {hex(id(self))}>"


def _numbers(prefix):
    """{first slot of a step: how many nodes there are before it}."""
    out = prefix.memo.get("numbers")
    if out is None:
        out, n = {}, 0
        for step in prefix.steps()[0]:
            out[step.first] = n
            n += True in step.needs and step.kind in ("op", "function") and (step.kind == "function" or step.form.op.name not in HIDDEN)
        prefix.memo["numbers"] = out
    return out


def numbers_of(tape):
    """{first slot of a step: the number of its node, unless somebody set another}."""
    return {first: tape.before + n for first, n in _numbers(tape.prefix).items()}


def short_name(node):
    """A node's name as messages give it: without its ending, which `CopyBackwards` has not."""
    name = node.name()
    head, _, tail = name.removesuffix("Backward0").rpartition("Backward")
    return name if tail == "s" else head + tail


class _InputMetadata:
    """Shape, dtype and device of a gradient that a node takes."""

    __module__ = "torch._C._autograd"
    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, a):
        self.shape, self.dtype, self.device = list(a.shape), a.dtype, devices.of_key(a.device)


_classes: dict = {}


def _node_class(name):
    out = _classes.get(name)
    if out is None:
        out = _classes[name] = type(name.rpartition("::")[2], (Node,), {"__slots__": (), "__module__": "builtins"})
    return out


def edge_indices(step):
    """Flat inputs that are edges of the node: one for each argument that torch could differentiate, None where a tensor is not given."""
    if step.kind == "function":
        return range(len(step.ins) - len(step.out_avals))
    form = step.form
    never = getattr(form.op, "nondiff", ())
    hidden = {*(() if callable(never) else never), *getattr(form.op, "lift", ())}
    if str(form.node).endswith(("::NotImplemented", "BackwardBackward0")):  # one for each tensor that it was given
        hidden |= {owner for owner, a in zip(form.owners, form.avals) if a.device == "number"}
    edges = [i for i, owner in enumerate(form.owners) if owner not in hidden and not (owner[0] == "n" and owner[1:].isdigit())
             and (i in form.diff_in or owner not in _NEVER_DIFFERENTIABLE)]
    return edges if "N" not in getattr(form.spec, "pattern", ()) else _with_absent(form, edges, hidden)


def _with_absent(form, edges, hidden):
    """The edges with None for each tensor that is not given and could be differentiated, in the order of the parameters."""
    out, left = [], list(edges)
    for param, token, first in getattr(form, "layout", _NO_LAYOUT).slots:
        if token[0] == "N":
            if param.kind == "Tensor" and param.name not in hidden and param.name not in _NEVER_DIFFERENTIABLE:
                out.append(None)
            continue
        last = first + (token[1] if isinstance(token, tuple) else 1)
        while left and left[0] < last:
            out.append(left.pop(0))
    return out + left


class _NO_LAYOUT:
    slots = ()



_NEVER_DIFFERENTIABLE = {"index", "indices", "condition", "mask", "target", "offsets"}


def _others(tape, slot):
    """The edges of the node that wrote to a view, but for the view's own."""
    node = _edge(tape, slot)[0]
    return () if node is None or isinstance(node, AccumulateGrad) else node.next_functions[1:]


def _edge(tape, slot):
    if type(slot) is tuple:
        return (None, 0)
    if slot >= 0:
        leaf = tape.leaves.get(slot)
        if leaf is not None:
            return (accumulate_node(leaf), 0)
        _, needs, _ = slot_table(tape.prefix)[slot]
        return node_at(tape, slot) if needs else (None, 0)
    if tape.open:
        v = tape.inputs[-slot - 1]
        edge = None if not v.needs else v.leaf or (v.tape, v.slot)
    else:
        edge = tape.edges[-slot - 1] if tape.edges else None
    if edge is None:
        return (None, 0)
    return (accumulate_node(edge), 0) if isinstance(edge, Leaf) else node_at(*edge)


# Steps without a node, and which input they pass on (a write without history keeps the history of the old value).
HIDDEN = {"_graft": 1, "_merged": 1, "_whole": 1, "_ended_primal": 0, "_joined_again": 0}


def place_of(v):
    """(tape, slot) where the node of a value that is no leaf gives it."""
    return place_and_step(v)[:2]


def place_and_step(v):
    """(tape, slot, step): the same, and the step that is the node."""
    tape, slot = v.tape, v.slot
    while True:
        step = step_of(tape, slot)
        if step.kind != "op" or step.form.op.name not in HIDDEN:
            return tape, slot, step
        slot = step.ins[HIDDEN[step.form.op.name]]
        if slot < 0:
            if tape.open:
                v = tape.inputs[-slot - 1]
                tape, slot = v.tape, v.slot
            else:
                tape, slot = tape.edges[-slot - 1]


def node_at(tape, slot):
    """(Node, output number) of a computed slot that requires grad."""
    step = step_of(tape, slot)
    if step.kind == "op" and step.form.op.name in HIDDEN:
        return _edge(tape, step.ins[HIDDEN[step.form.op.name]])
    if step.kind == "leaf" or step.mode == LEAF:
        return (accumulate_node(tape.leaves[slot]), 0)
    first = step.first
    if step.kind == "function":
        ctx = tape.contexts[first]
        return (ctx, ctx._tl_number_of(slot - first))
    name = step.form.node
    key = ("node", first if type(name) is str else slot)
    ref = tape.extra.get(key)
    node = ref() if ref is not None else None
    if node is None:
        node = _node_class(name if type(name) is str else name[slot - first])()
        node._tl_tape, node._tl_first = tape, first
        tape.extra[key] = weakref.ref(node)
        if first in tape.extra:
            on_notes(node)
    outs = outputs_of(step)
    return (node, outs.index(slot - first) if slot - first in outs else 0)


def outputs_of(step):
    """Which results of a step its node has outputs for: those that can be differentiated, where the results share a node."""
    form = step.form
    return form.diff_out if step.kind == "op" and form.diff_out and type(form.node) is str else range(len(step.out_avals))


def of_node(step, outs):
    """Of the gradients for the results of an operator those that its node is given."""
    return [outs[i] for i in outputs_of(step)]


def of_results(step, given):
    """The other way: None for results that the node has no output for."""
    outs = [None] * len(step.out_avals)
    for i, g in zip(outputs_of(step), given):
        outs[i] = g
    return outs


class AccumulateGrad(Node):
    """The node where a leaf's gradient is accumulated; `variable` is the leaf."""

    __slots__ = ("_tl_leaf",)
    __module__ = "builtins"

    def name(self):
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self):
        """The leaf; another tensor in its place where it is gone and a graph holds what it was, None where none does."""
        t = self._tl_leaf.tensor()
        return made_again(self._tl_leaf) if t is None else t

    @property
    def _input_metadata(self):
        t = self.variable
        return (None if t is None else _InputMetadata(t._tl_v.aval),)

    @property
    def next_functions(self):
        return ()

    @property
    def metadata(self):
        if self._tl_leaf.metadata is None:
            self._tl_leaf.metadata = {}
            on_notes(self)
        return self._tl_leaf.metadata

    def register_hook(self, fn):
        Leaf.watched[0] = True
        if self._tl_leaf.posthooks is None:
            self._tl_leaf.posthooks = OrderedDict()
        return add_hook(self._tl_leaf.posthooks, fn, belonging.mark_of(self._tl_leaf))

    def register_prehook(self, fn):
        Leaf.watched[0] = True
        if self._tl_leaf.prehooks is None:
            self._tl_leaf.prehooks = OrderedDict()
        return add_hook(self._tl_leaf.prehooks, fn, belonging.mark_of(self._tl_leaf))

    def _sequence_nr(self):
        return 2**64 - 1

    def __getattr__(self, name):
        raise AttributeError(f"'AccumulateGrad' object has no attribute '{name}'")

    def __repr__(self):
        return f"<AccumulateGrad object at {hex(id(self))}>"


def accumulate_node(leaf) -> AccumulateGrad:
    """The leaf's AccumulateGrad, the same while it is held."""
    if isinstance(leaf, Nowhere):
        return None
    node = leaf.node() if leaf.node is not None else None
    if node is None:
        node = AccumulateGrad()
        node._tl_leaf = leaf
        leaf.node = weakref.ref(node)
    return node


saved_value = raw_saved = saved_names = unpacking = None  # set by saved.py
made_again = None  # set by hooks.py
on_notes = None  # called with a node that gets notes; set by lifetimes.py


def on_gone(make):
    """Install what makes the tensor of a leaf again."""
    global made_again
    made_again = make


def on_saved(value, raw, names, unpack):
    """Install the readers of `_saved_*` and `_raw_saved_*`, the list of these names, and what a pullback reads where hooks are on a step."""
    global saved_value, raw_saved, saved_names, unpacking
    saved_value, raw_saved, saved_names, unpacking = value, raw, names, unpack
