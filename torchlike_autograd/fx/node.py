"""Nodes of a graph (layer 8): one call each, in the doubly linked list of its graph, with who uses it.

`args` and `kwargs` are kept unwritable, so that setting them is the one way in which users change.
"""

from __future__ import annotations

import builtins
import inspect
import logging
import math
import operator
import types
import typing

import torchlike_autograd as torch

from .immutable_collections import immutable_dict, immutable_list

log = logging.getLogger("torch.fx.node")

_legal_ops = dict.fromkeys(["placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root"])
Target = typing.Callable[..., typing.Any] | str
Argument = typing.Any
ArgumentT = typing.TypeVar("ArgumentT", bound=Argument)
_side_effectful_need_to_be_preserved_pre_dispatch: list = []
_side_effectful_functions: set = set()


def has_side_effect(fn):
    """Calls of `fn` stay in graphs where nobody uses them; returns `fn`."""
    _side_effectful_functions.add(fn)
    return fn


def _find_module_of_method(orig_method):
    """The module in which a function lies under its own name."""
    for guess in (torch, torch.nn.functional):
        if getattr(guess, orig_method.__name__, None) is orig_method:
            return guess.__name__.replace("torchlike_autograd", "torch", 1)
    raise RuntimeError(f"cannot find module for {orig_method}")


def _module_of(obj):
    """The module that an object names, PyTorch's name for one of ours."""
    module = getattr(obj, "__module__", None)
    if not isinstance(module, str):
        return None
    module, name = module.replace("torchlike_autograd", "torch", 1), getattr(obj, "__name__", "")
    if module in ("torch.fft", "torch.linalg", "torch.special") and name.startswith(f"{module[6:]}_"):
        return f"torch._C._{module[6:]}"
    return "torch" if module.startswith("torch._") and getattr(torch, name, None) is obj else module


def _type_repr(obj):
    """A type as annotations say it: `int`, `torch.Tensor`, `typing.List[int]`."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        return obj.__qualname__ if obj.__module__ == "builtins" else f"{_module_of(obj)}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    return obj.__name__ if isinstance(obj, types.FunctionType) else repr(obj)


def _get_qualified_name(func):
    """The name under which code that is written can call a function."""
    if getattr(builtins, getattr(func, "__name__", ""), None) is func:
        return func.__name__
    if getattr(torch.Tensor, getattr(func, "__name__", ""), None) is func:
        return f"torch.Tensor.{func.__name__}"
    name = func.__name__
    if name == "<lambda>":
        try:
            name = inspect.getsource(func).split("=")[0].strip()
        except Exception as e:
            raise RuntimeError("Unable to represent lambda") from e
    module = _module_of(func) or _find_module_of_method(func)
    return f"{module.replace('torch._ops', 'torch.ops', 1)}.{name}"


def _format_arg(arg, max_list_len=math.inf):
    """An argument as graphs are printed: nodes with a percent sign."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, (list, tuple)):
        items = [_format_arg(a) for i, a in enumerate(arg) if i < max_list_len]
        more = f", ...[total_len={len(arg)}]" if len(arg) > max_list_len else ""
        if isinstance(arg, list):
            return f"[{', '.join(items)}{more}]"
        return f"({', '.join(items)}{more}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return "%" + str(arg) if isinstance(arg, Node) else str(arg)


def map_arg(a, fn):
    """`a` with `fn` of each node in it, through lists, tuples, dicts and slices."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a, fn):
    """`a` with `fn` of each leaf; lists and dicts become unwritable ones."""
    if isinstance(a, tuple):
        made = [map_aggregate(x, fn) for x in a]
        return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


class Node:
    """One call of a graph.

    op: "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output"; target: the function, or the name of the method, attribute, module
    or parameter; users: {node: None}; meta: a dict that goes with copies; type: an annotation or None.
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {torch.typename(target)} but a Callable is expected")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {torch.typename(target)} but a str is expected")
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self._prev = self._next = self
        self._erased, self._repr_fn = False, None
        self._input_nodes, self.users = {}, {}
        self._args, self._kwargs = (), {}
        self.type, self.meta = return_type, {}
        self._tl_set(args, kwargs)

    def _tl_set(self, args, kwargs):
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._input_nodes = {}

        def use(n):
            self._input_nodes.setdefault(n)
            n.users.setdefault(self)
            return n

        self._args, self._kwargs = map_arg(tuple(args), use), map_arg(dict(kwargs), use)

    @property
    def next(self):
        """The node after this one; after the last, the root."""
        return self._next

    @property
    def prev(self):
        """The node before this one; before the first, the root."""
        return self._prev

    def prepend(self, x):
        """Move `x` before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            log.debug("Trying to prepend a node to itself. This behavior has no effect on the graph.")
            return
        x._tl_unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x):
        """Move `x` behind this node."""
        self._next.prepend(x)

    def _tl_unlink(self):
        before, after = self._prev, self._next
        before._next, after._prev = after, before

    _remove_from_list = _tl_unlink

    @property
    def args(self):
        """Positional arguments."""
        return self._args

    @args.setter
    def args(self, value):
        self._tl_set(value, self._kwargs)

    @property
    def kwargs(self):
        """Arguments by name."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value):
        self._tl_set(self._args, value)

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, each once, in order."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Set one positional argument."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Put an argument before position `idx`."""
        if not 0 <= idx <= len(self._args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key, arg):
        """Set one argument by name."""
        self.kwargs = {**self._kwargs, key: arg}

    @property
    def stack_trace(self):
        """Where the call stood, if the tracer recorded it."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    def _pretty_print_target(self, target):
        if isinstance(target, str):
            return target
        if not hasattr(target, "__name__"):
            return _get_qualified_name(target) if hasattr(target, "__module__") else str(target)
        if getattr(target, "__module__", None) == "builtins":
            return f"builtins.{target.__name__}"
        if getattr(target, "__module__", None) == "_operator":
            return f"operator.{target.__name__}"
        return _get_qualified_name(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """One line about the node, as a graph is printed."""
        kind = f" : {_type_repr(self.type)}" if self.type else " :"
        start = f"%{self.name}{kind} [num_users={len(self.users)}] = {self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target + (f": {_type_repr(self.type)}" if self.type else ""))
            return start + (f"(default={self._args[0]})" if self._args else "")
        if self.op == "get_attr":
            return start
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self._args[0]}"
        return f"{start}(args = {_format_arg(self._args)}, kwargs = {_format_arg(self._kwargs)})"

    def replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
        """Let the users of this node (those for which `delete_user_cb(user)` holds) use another; returns those who did use it."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys")
            replace_with.meta.update(self.meta)
        changed = []
        for user in list(self.users):
            if delete_user_cb is not None and not delete_user_cb(user):
                continue
            changed.append(user)
            user._tl_replace(self, replace_with)
        return changed

    def replace_input_with(self, old_input, new_input):
        """Use another node in the place of one of the arguments."""
        self._tl_replace(old_input, new_input)

    def _tl_replace(self, old, new):
        module = getattr(self.graph, "owning_module", None)
        for hook in getattr(module, "_replace_hooks", None) or ():
            hook(old=old, new=new.name, user=self)

        def swap(n):
            return new if n is old else n

        self._tl_set(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def is_impure(self, impure_random=True):
        """Whether the call does something beside its result: parameters and outputs, functions that are said to, those with `_is_impure` in their module."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effectful_functions
        if self.op == "call_module":
            module = self.graph.owning_module
            if module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            module = module.get_submodule(self.target)
            if module is None:
                raise AssertionError(f"Did not find expected submodule target {self.target}")
            return getattr(module, "_is_impure", False)
        return False

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
        """ArgsKwargsPair by the signature of what is called, or None."""
        from . import operator_schemas

        return operator_schemas.of_node(self, root, normalize_to_only_use_kwargs)

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)

    def __setattr__(self, name, value):
        if name in ("op", "target", "name") and name in self.__dict__:
            self.graph._tl_forget(self)
            object.__setattr__(self, name, value)
            if name == "name":
                self.graph._graph_namespace.associate_name_with_obj(value, self)
            self.graph._tl_learn(self)
            return
        object.__setattr__(self, name, value)

    # Nodes are ordered by where they stand in their graph.
    def __lt__(self, other):
        return self.graph._tl_before(self, other)

    def __gt__(self, other):
        return self.graph._tl_before(other, self)

    def __le__(self, other):
        return self is other or self < other

    def __ge__(self, other):
        return self is other or self > other


_side_effectful_functions.update([torch._assert, operator.setitem])

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]
