"""torch.utils._pytree (layer 8): nested containers taken apart and put together again; None is a leaf."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, NamedTuple

from .._core.pytree import MORE
from .._core.saying import warn
from .._core.size import Size
from ._named_tuples import is_namedtuple as is_namedtuple
from ._named_tuples import is_namedtuple_class as is_namedtuple_class
from ._named_tuples import is_namedtuple_instance as is_namedtuple_instance
from ._named_tuples import is_structseq as is_structseq
from ._named_tuples import is_structseq_class as is_structseq_class
from ._named_tuples import is_structseq_instance as is_structseq_instance

__all__ = ["PyTree", "TreeSpec", "register_dataclass", "register_pytree_node", "tree_all", "tree_any", "tree_flatten", "tree_iter", "tree_leaves",
           "tree_map", "tree_map_", "tree_map_only", "tree_structure", "tree_unflatten"]

PyTree = object
Context = DumpableContext = Any
FlattenFn = Callable[[Any], tuple[list[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], Any]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]
SUPPORTED_NODES: dict = {}  # type -> NodeDef


class NodeDef(NamedTuple):
    """How a class is taken apart and put together."""

    type: object
    flatten_fn: object
    unflatten_fn: object
    flatten_with_keys_fn: object = None


class MappingKey(NamedTuple):
    """A step of a path into a dict."""

    key: object

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """What is there."""
        return mapping[self.key]


class SequenceKey(NamedTuple):
    """A step of a path into a sequence."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """What is there."""
        return sequence[self.idx]


class GetAttrKey(NamedTuple):
    """A step of a path to an attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        """What is there."""
        return getattr(obj, self.name)


# How the known containers are taken apart, with and without the steps to their parts: libraries register these for kinds of their own.

def _dict_flatten(d):
    return list(d.values()), list(d.keys())


def _dict_flatten_with_keys(d):
    return [(MappingKey(k), x) for k, x in d.items()], list(d)


def _dict_unflatten(values, context):
    return dict(zip(context, values))


_ordereddict_flatten = _odict_flatten = _dict_flatten
_ordereddict_flatten_with_keys = _dict_flatten_with_keys


def _ordereddict_unflatten(values, context):
    return OrderedDict(zip(context, values))


_odict_unflatten = _ordereddict_unflatten


def _defaultdict_flatten(d):
    return list(d.values()), [d.default_factory, list(d)]


def _defaultdict_flatten_with_keys(d):
    return _dict_flatten_with_keys(d)[0], [d.default_factory, list(d)]


def _defaultdict_unflatten(values, context):
    return defaultdict(context[0], zip(context[1], values))


def _numbered(values):
    return [(SequenceKey(i), x) for i, x in enumerate(values)]


def _list_flatten(d):
    return d, None


def _list_flatten_with_keys(d):
    return _numbered(d), None


def _list_unflatten(values, context):
    return list(values)


def _tuple_flatten(d):
    return list(d), None


_tuple_flatten_with_keys = _list_flatten_with_keys


def _tuple_unflatten(values, context):
    return tuple(values)


def _deque_flatten(d):
    return list(d), d.maxlen


def _deque_flatten_with_keys(d):
    return _numbered(d), d.maxlen


def _deque_unflatten(values, context):
    return deque(values, maxlen=context)


def _namedtuple_flatten(d):
    return list(d), type(d)


def _namedtuple_flatten_with_keys(d):
    return [(GetAttrKey(name), x) for name, x in zip(d._fields, d)], type(d)


def _namedtuple_unflatten(values, context):
    return context(*values)


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None, from_dumpable_context=None,
                         flatten_with_keys_fn=None):
    """Take a class apart by ``flatten_fn(x) -> (children, context)`` and put it together by ``unflatten_fn(children, context)``."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) is not (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    MORE[cls] = flatten_fn, unflatten_fn
    if serialized_type_name is not None:
        from ._pytree_text import GIVEN  # cycle: it makes forms

        GIVEN[cls] = serialized_type_name, to_dumpable_context, from_dumpable_context


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Take a dataclass apart into its fields (those that are None stay in the form), or any class into the named ones, which it is made of."""
    if dataclasses.is_dataclass(cls):
        declared, wrong = {f.name for f in dataclasses.fields(cls) if f.init}, ""
        declared -= set(drop_field_names or ()) if field_names is not None else set()  # as in torch 2.13: nothing is left out unless the others are named
        given = declared if field_names is None else set(field_names)
        if lacking := declared - given:
            wrong += (f"Missing fields in `field_names`: {lacking}. If you want to include these "
                      "fields in the pytree, please add them to `field_names`, otherwise please add them to `drop_field_names`.\n")
        if strange := given - declared:
            wrong += f"Unexpected fields in `field_names`: {strange}. Please remove these fields, or add them to `drop_field_names`.\n"
        if wrong:
            raise ValueError(f"field_names does not include all dataclass fields.\n{wrong}")
        names = [f.name for f in dataclasses.fields(cls) if f.name in given]
    elif field_names is None:
        raise ValueError(f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a dataclass.")
    else:
        names = list(field_names)

    def flatten(x):
        there = [name for name in names if getattr(x, name) is not None]
        return [getattr(x, name) for name in there], [there, [name for name in names if name not in there]]

    def flatten_with_keys(x):
        parts, context = flatten(x)
        return [(GetAttrKey(name), part) for name, part in zip(context[0], parts, strict=True)], context

    def unflatten(parts, context):
        return cls(**dict(zip(context[0], parts, strict=True)), **dict.fromkeys(context[1]))

    _forget(cls)
    register_pytree_node(cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=flatten_with_keys)


def _deregister_pytree_node(cls):
    """Forget a class that was registered."""
    from ._pytree_text import GIVEN  # cycle: it makes forms

    del SUPPORTED_NODES[cls]
    MORE.pop(cls, None)
    GIVEN.pop(cls, None)


def _register_namedtuple(cls, *, serialized_type_name):
    """Give a class of named tuples a name in texts."""
    from ._pytree_text import GIVEN  # cycle: it makes forms

    GIVEN[cls] = serialized_type_name, None, None


def treespec_dumps(treespec, protocol=None):
    """A form as text (JSON)."""
    from ._pytree_text import treespec_dumps as dumps  # cycle: it makes forms

    return dumps(treespec, protocol)


def treespec_loads(serialized):
    """The form that such a text describes."""
    from ._pytree_text import treespec_loads as loads  # cycle: it makes forms

    return loads(serialized)


def _forget(cls):
    """Make room for a class, which may be registered already."""
    if cls in SUPPORTED_NODES:
        warn(f"{cls} is already registered as pytree node. Overwriting the previous registration.", UserWarning)
        _deregister_pytree_node(cls)


def _register_pytree_node(cls, *args, **kwargs):
    """`register_pytree_node` by its older name, which warns, and takes a class again."""
    warn("`torch.utils._pytree._register_pytree_node` is deprecated. Please use `torch.utils._pytree.register_pytree_node` instead.", FutureWarning)
    _forget(cls)
    register_pytree_node(cls, *args, **kwargs)


class ConstantNode(NamedTuple):
    """The context of a value that has no parts: the value."""

    value: object


def register_constant(cls):
    """Take the values of a class for a part of the form, in which there are no leaves."""
    for name in ("eq", "hash"):
        if getattr(cls, f"__{name}__") in (getattr(object, f"__{name}__"), None):
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `__{name}__` implementation.")
    _forget(cls)
    register_pytree_node(cls, lambda x: ([], ConstantNode(x)), lambda parts, context: context.value, flatten_with_keys_fn=lambda x: ([], ConstantNode(x)))
    _CONSTANTS.add(cls)


_CONSTANTS: set = set()


def is_constant_class(cls):
    """Whether `register_constant` took a class."""
    return isinstance(cls, type) and cls in _CONSTANTS and cls in SUPPORTED_NODES


for _class, _name in ((tuple, "tuple"), (list, "list"), (dict, "dict"), (OrderedDict, "ordereddict"), (defaultdict, "defaultdict"), (deque, "deque"),
                      (namedtuple, "namedtuple")):
    register_pytree_node(_class, *(globals()[f"_{_name}_{_way}"] for _way in ("flatten", "unflatten")),
                         flatten_with_keys_fn=globals()[f"_{_name}_flatten_with_keys"])
_PLAIN = frozenset(SUPPORTED_NODES)
register_pytree_node(Size, _tuple_flatten, _tuple_unflatten, flatten_with_keys_fn=_tuple_flatten_with_keys)


def _kind(x):
    """The key under which its class is taken apart; None for a leaf."""
    kind = type(x)
    if kind in SUPPORTED_NODES:
        return kind
    if isinstance(x, tuple):
        if kind.__module__ == "torch.return_types":
            register_pytree_node(kind, _tuple_flatten, lambda values, context: kind(values), flatten_with_keys_fn=_tuple_flatten_with_keys)
            return kind
        return namedtuple if hasattr(x, "_fields") else None
    return None


class TreeSpec:
    """The form of a tree: its type (None: a leaf), the context of its container, the forms of its parts."""

    __slots__ = ("children_specs", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in children_specs)
        self.num_nodes, self.num_children = 1 + sum(c.num_nodes for c in children_specs), len(children_specs)

    def children(self):
        """The forms of its parts."""
        return list(self.children_specs)

    def child(self, index):
        """The form of one part."""
        return self.children_specs[index]

    def flatten_up_to(self, tree):
        """The parts of a tree that stand where this has leaves."""
        return _leaves_like(tree, self)

    def unflatten(self, leaves):
        """A tree of this form with given leaves."""
        return tree_unflatten(leaves, self)

    def is_leaf(self):
        """Whether it is a leaf's."""
        return self.type is None

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)

    def __hash__(self):
        return hash((self.type, repr(self.context), tuple(self.children_specs)))

    def __repr__(self):
        return self.shown(0)

    def shown(self, indent):
        """As text: every part after the first begins a line."""
        if self.type is None:
            return "*"
        parts = f",\n{' ' * (indent + 2)}".join(c.shown(indent + 2) for c in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{parts}])"


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The form of a leaf, by its older name, which warns."""

    __slots__ = ()

    def __init__(self):
        warn("`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and treespec.is_leaf()` instead.", FutureWarning)
        super().__init__(None, None, [])


def treespec_leaf():
    """The form of a leaf."""
    return TreeSpec(None, None, [])


def treespec_tuple(iterable=()):
    """The form of a tuple of such forms."""
    parts = list(iterable)
    if not all(isinstance(c, TreeSpec) for c in parts):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {parts}.")
    return TreeSpec(tuple, None, parts)


def treespec_dict(mapping=(), /, **kwargs):
    """The form of a dict of such forms."""
    parts = dict(mapping, **kwargs)
    if not all(isinstance(c, TreeSpec) for c in parts.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {parts}.")
    return TreeSpec(dict, list(parts), list(parts.values()))


def _get_node_type(tree):
    return _kind(tree) or type(tree)


def tree_flatten(tree, is_leaf=None):
    """(leaves, form)."""
    leaves = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree, leaves, is_leaf):
    kind = None if is_leaf is not None and is_leaf(tree) else _kind(tree)
    if kind is None:
        leaves.append(tree)
        return TreeSpec(None, None, [])
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(c, leaves, is_leaf) for c in children])


def tree_unflatten(leaves, treespec):
    """A tree of a form with given leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
                         f"{treespec.num_leaves} items "
                         f"({treespec}).")
    return _unflatten(iter(leaves), treespec)


def _unflatten(it, spec):
    if spec.type is None:
        return next(it)
    return SUPPORTED_NODES[spec.type].unflatten_fn([_unflatten(it, c) for c in spec.children_specs], spec.context)


def tree_leaves(tree, is_leaf=None):
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args, **kwargs):
    """The leaves of a call's arguments, in their order."""
    return [x for part in (*args, *kwargs.values()) for x in tree_leaves(part)]


def tree_iter(tree, is_leaf=None):
    """An iterator over the leaves."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    """The form."""
    return tree_flatten(tree, is_leaf)[1]


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of a prefix of a form, each repeated for the leaves of the form that stand under it; None where the two do not fit."""
    if is_leaf is not None and is_leaf(tree):
        return [tree]
    kind = _kind(tree)
    if kind is None:
        return [tree] * treespec.num_leaves
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    specs = treespec.children_specs
    if kind in _DICTS and treespec.type in _DICTS:
        if set(context) != set(treespec.context):
            return None
        specs = [specs[treespec.context.index(key)] for key in context]  # in the order of the prefix, as torch has it
    elif kind is not treespec.type or len(children) != len(specs) or context != treespec.context:
        return None
    found = [_broadcast_to_and_flatten(c, spec, is_leaf) for c, spec in zip(children, specs)]
    return None if any(part is None for part in found) else [x for part in found for x in part]


_DICTS = (dict, OrderedDict)


def _leaves_like(tree, spec):
    """The parts of a tree that stand where a form has leaves."""
    if spec.type is None:
        return [tree]
    if _kind(tree) is not spec.type:
        raise ValueError(f"{'Node type' if spec.type in _PLAIN else 'Type'} mismatch; expected {spec.type}, but got {type(tree)}.")
    children, context = SUPPORTED_NODES[spec.type].flatten_fn(tree)
    if len(children) != len(spec.children_specs):
        raise ValueError(f"Node arity mismatch; expected {len(spec.children_specs)}, but got {len(children)}.")
    if spec.type in (dict, OrderedDict):
        have, want = set(context), set(spec.context)
        if have != want:
            raise ValueError(f"Node keys mismatch; missing key(s): {want - have}; extra key(s): {have - want}.")
        children = [tree[k] for k in spec.context]
    return [x for c, s in zip(children, spec.children_specs) for x in _leaves_like(c, s)]


def tree_map(func, tree, *rests, is_leaf=None):
    """A tree of the same form with ``func`` of the leaves (and of what stands there in other trees)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten(map(func, leaves, *[_leaves_like(r, spec) for r in rests]), spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Call ``func`` for the leaves; returns the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for xs in zip(leaves, *[_leaves_like(r, spec) for r in rests]):
        func(*xs)
    return tree


def _only(which):
    if isinstance(which, (type, tuple, UnionType)):
        return lambda x: isinstance(x, which)
    if not callable(which):
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")
    return which


def tree_map_only(type_or_types_or_pred, /, func, tree=None, is_leaf=None):
    """`tree_map` for the leaves of some types, or those that a predicate names."""
    wanted = _only(type_or_types_or_pred)
    return tree_map(lambda x: func(x) if wanted(x) else x, tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """`tree_map_` for the leaves of some types, or those that a predicate names."""
    wanted = _only(type_or_types_or_pred)
    return tree_map_(lambda x: func(x) if wanted(x) else None, tree, is_leaf=is_leaf)


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether the predicate holds for all leaves of some types."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether the predicate holds for a leaf of some types."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_is_leaf(tree, is_leaf=None):
    """Whether a tree is one leaf."""
    return (is_leaf is not None and bool(is_leaf(tree))) or _kind(tree) is None


def tree_all(pred, tree, is_leaf=None):
    """Whether the predicate holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether the predicate holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def _with_paths(tree, path, is_leaf, out):
    kind = None if is_leaf is not None and is_leaf(tree) else _kind(tree)
    if kind is None:
        out.append((path, tree))
        return
    node = SUPPORTED_NODES[kind]
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to register_pytree_node.")
    for key, x in node.flatten_with_keys_fn(tree)[0]:
        _with_paths(x, (*path, key), is_leaf, out)


def tree_flatten_with_path(tree, is_leaf=None):
    """([(path, leaf)], form)."""
    out: list = []
    _with_paths(tree, (), is_leaf, out)
    return out, tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """[(path, leaf)]."""
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """`func(path, leaf, ...)` for every leaf, in the same form."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_leaves_like(r, spec) for r in rests]
    return tree_unflatten([func(path, x, *more) for (path, x), *more in zip(pairs, *others, strict=True)], spec)


def keystr(kp):
    """A path as text."""
    return "".join(map(str, kp))


def key_get(obj, kp):
    """What a path leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj


def treespec_pprint(treespec):
    """A form as its tree with * for the leaves."""
    return repr(tree_unflatten([_Star()] * treespec.num_leaves, treespec))


class _Star:
    def __repr__(self):
        return "*"
