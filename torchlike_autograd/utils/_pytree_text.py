"""Forms of trees as text and back (layer 8): JSON of nested objects with type, context and children_spec, behind the number of the protocol."""

from __future__ import annotations

import enum
import functools
import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple

from .._core.size import Size
from . import _pytree

PROTOCOL = 1
_NAMES = {tuple: "builtins.tuple", list: "builtins.list", dict: "builtins.dict", OrderedDict: "collections.OrderedDict", deque: "collections.deque",
          defaultdict: "collections.defaultdict", Size: "torch.Size"}
GIVEN: dict = {}  # class -> (name, context to plain data or None, back or None): what `register_pytree_node` was told


def treespec_dumps(treespec, protocol=None):
    """A form as text; NotImplementedError for classes that were registered without a name."""
    if not isinstance(treespec, _pytree.TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    protocol = PROTOCOL if protocol is None else protocol
    _known(protocol)
    return json.dumps([protocol, _plain(treespec)])


def _known(protocol):
    if protocol != PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[PROTOCOL]}")


def _plain(spec):
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    name, context = _described(spec)
    return {"type": name, "context": context, "children_spec": [_plain(c) for c in spec.children_specs]}


def _described(spec):
    kind = spec.type
    if kind is namedtuple and spec.context in GIVEN:
        return "collections.namedtuple", GIVEN[spec.context][0]
    if kind is namedtuple:
        raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {spec.context} because we didn't register a serializated_type_name. "
                                  "Please register using `_register_namedtuple`.")
    if kind is defaultdict:
        factory, keys = spec.context
        return _NAMES[kind], {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__, "dict_context": keys}
    if kind in _NAMES:
        return _NAMES[kind], json.dumps(spec.context, default=_member)
    name, dump, _ = GIVEN.get(kind, (None, None, None))
    if name is None:
        raise NotImplementedError(f"No registered serialization name for {kind} found. Please update your _register_pytree_node call with a "
                                  "`serialized_type_name` kwarg.")
    return name, json.dumps(spec.context) if dump is None else dump(spec.context)


def _member(x):
    """A member of an enumeration in plain words."""
    if not isinstance(x, enum.Enum):
        raise TypeError(f"Object of type {type(x).__name__} is not JSON serializable")
    return {"__enum__": True, "fqn": f"{type(x).__module__}:{type(x).__qualname__}", "name": x.name}


def _member_again(found):
    if "__enum__" not in found:
        return found
    module, _, path = found["fqn"].partition(":")
    return functools.reduce(getattr, path.split("."), importlib.import_module(module))[found["name"]]


def treespec_loads(serialized):
    """The form that a text describes."""
    protocol, found = json.loads(serialized)
    _known(protocol)
    return _spec(found)


def _spec(found):
    if found["type"] is None:
        return _pytree.TreeSpec(None, None, [])
    children = [_spec(c) for c in found["children_spec"]]
    kind = next((k for k, name in _NAMES.items() if name == found["type"]), None)
    if kind is defaultdict:
        c = found["context"]
        factory = getattr(importlib.import_module(c["default_factory_module"]), c["default_factory_name"])
        return _pytree.TreeSpec(kind, [factory, c["dict_context"]], children)
    if kind is not None:
        return _pytree.TreeSpec(kind, json.loads(found["context"], object_hook=_member_again), children)
    if found["type"] == "collections.namedtuple":
        name = found["context"]
        return _pytree.TreeSpec(namedtuple, next(k for k, (known, *_) in GIVEN.items() if known == name), children)
    kind, load = next(((k, back) for k, (name, _, back) in GIVEN.items() if name == found["type"]), (None, None))
    if kind is None:
        raise NotImplementedError(f"Deserializing {found['type']} in pytree is not registered.")
    return _pytree.TreeSpec(kind, json.loads(found["context"]) if load is None else load(found["context"]), children)
