"""Lists and dicts that cannot be written (layer 8): the arguments of nodes, so that a graph knows who uses what."""

from __future__ import annotations

from ..utils import _pytree

_HELP = """If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args"""


def _refuses(name):
    def method(self, *args, **kwargs):
        raise TypeError(f"'{type(self).__name__}' object does not support mutation. {_HELP}")

    method.__name__ = name
    return method


class immutable_list(list):
    """A list whose methods that write raise TypeError; hashed by what it holds."""

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dict whose methods that write raise TypeError; hashed by what it holds."""

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return immutable_dict, (tuple(self.items()),)


for _name in ("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"):
    setattr(immutable_list, _name, _refuses(_name))
for _name in ("__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update"):
    setattr(immutable_dict, _name, _refuses(_name))

_pytree.register_pytree_node(immutable_list, lambda x: (list(x), None), lambda values, _: immutable_list(values),
                             serialized_type_name="torch.fx.immutable_collections.immutable_list",
                             flatten_with_keys_fn=lambda x: ([(_pytree.SequenceKey(i), v) for i, v in enumerate(x)], None))
_pytree.register_pytree_node(immutable_dict, lambda x: (list(x.values()), list(x)), lambda values, keys: immutable_dict(zip(keys, values)),
                             serialized_type_name="torch.fx.immutable_collections.immutable_dict",
                             flatten_with_keys_fn=lambda x: ([(_pytree.MappingKey(k), v) for k, v in x.items()], list(x)))

__all__ = ["immutable_dict", "immutable_list"]
