"""Graphs of calls (layer 8): nodes in order, edited in place, written as Python by their codegen."""

from __future__ import annotations

import contextlib
import copy
import inspect
import warnings

from .codegen import CodeGen, PythonCode, inplace_methods, magic_methods, reflectable_magic_methods  # noqa: F401
from .codegen import PyTreeCodeGen as _PyTreeCodeGen  # noqa: F401
from .codegen import PyTreeInfo as _PyTreeInfo  # noqa: F401
from .codegen import format_target as _format_target  # noqa: F401
from .codegen import is_from_torch as _is_from_torch  # noqa: F401
from .names import Namespace as _Namespace
from .names import is_magic as _is_magic
from .names import snake_case as _snake_case
from .node import Argument, Node, Target, _get_qualified_name, _legal_ops, _type_repr, map_arg  # noqa: F401

_INSERT = ("Attempted to insert a {0} Node with no underlying reference in the owning GraphModule! Call GraphModule.add_submodule to add the necessary "
           "submodule")


class _InsertPoint:
    """Where nodes are made; a context manager that puts the place back."""

    def __init__(self, graph, new_insert):
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        self.graph._insert = self.orig_insert


class _node_list:
    """The nodes of a graph in order; they may be edited while one goes through."""

    def __init__(self, graph, direction="_next"):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        node = getattr(self.graph._root, self.direction)
        while node is not self.graph._root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self):
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class Graph:
    """Calls in order: placeholders, calls and one output.

    owning_module: the GraphModule that holds it; tracer_cls: who made it, for copies.
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._insert, self._len, self._used = self._root.prepend, 0, {}
        self._graph_namespace, self._codegen = _Namespace(), CodeGen()
        self.owning_module, self._tracer_cls, self._tracer_extras, self._co_fields = owning_module, tracer_cls, tracer_extras, {}

    @property
    def owning_module(self):
        """The GraphModule of this graph."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module):
        self._owning_module = module

    @property
    def nodes(self):
        """The nodes in order."""
        return _node_list(self)

    def _tl_learn(self, node):
        pass

    def _tl_forget(self, node):
        pass

    def _tl_before(self, a, b):
        node = a._next
        while node is not self._root and node is not b:
            node = node._next
        return node is b and a is not b

    def output_node(self):
        """The output, which is last."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got {node.op}")
        return node

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of one kind and target."""
        if op == "call_function" and target is None:
            raise AssertionError("target must not be None for call_function")
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copy all nodes of `g` to where nodes are inserted; val_map: {node there: node here}, extended.  Returns what its output holds, here."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        memo = memo if memo else {}
        g = Graph(tracer_cls=self._tracer_cls)
        made = g.graph_copy(self, val_map=memo, return_output_node=True)
        g._codegen = copy.deepcopy(self._codegen)
        if made is not None:
            value, old = made
            new = g.output(value, type_expr=old.type)
            new.meta = copy.copy(old.meta)
        return g

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A node at the place where nodes are inserted; named after its target unless `name` is given."""
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        args, kwargs = args if args is not None else (), kwargs if kwargs is not None else {}
        if not isinstance(args, tuple):
            raise AssertionError("args must be a tuple")
        if not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict")
        candidate = name if name is not None else self._target_to_str(target)
        n = Node(self, self._graph_namespace.create_name(candidate, None), op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(n)
        self._graph_namespace.associate_name_with_obj(n.name, n)
        self._insert(n)
        self._len += 1
        return n

    def process_inputs(self, *args):
        """Arguments as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """The output's value as a caller gets it."""
        return self._codegen.process_outputs(out)

    def erase_node(self, to_erase):
        """Take out a node that nobody uses."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        to_erase._tl_unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._tl_set(map_arg(to_erase.args, lambda n: None), map_arg(to_erase.kwargs, lambda n: None))

    def inserting_before(self, n=None):
        """New nodes go before `n` (None: at the start), in a `with` or from now on."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """New nodes go behind `n` (None: at the end), in a `with` or from now on."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def placeholder(self, name, type_expr=None, default_value=inspect.Signature.empty):
        """A parameter of the function."""
        return self.create_node("placeholder", name, () if default_value is inspect.Signature.empty else (default_value,), {}, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """A parameter, buffer or other attribute of the module, by its path."""
        if self.owning_module and not _has(self.owning_module, qualified_name):
            warnings.warn(_INSERT.format("get_attr") + ", GraphModule.add_parameter to add the necessary Parameter, or nn.Module.register_buffer to add the "
                          "necessary buffer", stacklevel=2)
        return self.create_node("get_attr", qualified_name, (), {}, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A call of a submodule, by its path."""
        if self.owning_module and not _has(self.owning_module, module_name):
            warnings.warn(_INSERT.format("call_module"), stacklevel=2)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A call of a method of args[0]."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A copy of a node of another graph; arg_transform: the node here for a node there."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        result = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        result.meta = copy.copy(node.meta)
        return result

    def output(self, result, type_expr=None):
        """What the function returns."""
        return self.create_node(op="output", target="output", args=(result,), type_expr=type_expr)

    def _target_to_str(self, target):
        if callable(target):
            name = target.__name__
        else:
            if not isinstance(target, str):
                raise AssertionError(f"Expected target to be str, got {type(target)}")
            name = target[2:-2] if _is_magic(target) else target
        return _snake_case(name)

    def python_code(self, root_module, *, verbose=False, include_stride=False, include_device=False, colored=False, expanded_def=False, record_func=False,
                    additional_meta=None):
        """PythonCode of this graph; root_module: the name of the module in it, mostly "self"; verbose: with the places of the calls."""
        namespace, nodes = _Namespace(), list(self.nodes)
        before = [n._repr_fn for n in nodes]
        for n in nodes:
            n._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return self._codegen._gen_python_code(nodes, root_module, namespace, verbose=verbose)
        finally:
            for n, f in zip(nodes, before):
                n._repr_fn = f

    def __str__(self):
        names, returns = [], [""]
        lines = [n.format_node(names) for n in self.nodes]
        return "\n    ".join([f"graph({', '.join(names)}){returns[0]}:", *[line for line in lines if line]])

    def print_tabular(self):
        """Print the nodes as a table (needs the package `tabulate`)."""
        try:
            from tabulate import tabulate
        except ImportError:
            print("`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip install tabulate` to install the "
                  "library.")
            raise
        print(tabulate([[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes], headers=["opcode", "name", "target", "args", "kwargs"]))

    def lint(self):
        """RuntimeError where nodes use what is not before them or in another graph, names come twice, or targets are not in the module."""
        from .lint import check

        check(self)

    def eliminate_dead_code(self, is_impure_node=None):
        """Take out what nobody uses and what does nothing else; returns whether something was."""
        self.lint()
        impure, changed = is_impure_node or Node.is_impure, False
        for node in reversed(self.nodes):
            if not impure(node) and not node.users:
                self.erase_node(node)
                changed = True
        return changed

    def set_codegen(self, codegen):
        """Let another CodeGen write this graph."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer):
        """Change the lines of the text: `make_transformer(the transformer before, or None)` is a function of the list of lines; a context manager undoes it."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def undo():
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return undo()


def _has(module, path):
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


