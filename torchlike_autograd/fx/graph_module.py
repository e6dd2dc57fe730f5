"""Modules whose forward is written from a graph (layer 8)."""

from __future__ import annotations

import contextlib
import copy
import itertools
import linecache
import re
from pathlib import Path

import torchlike_autograd as torch

from ..nn import Module, Parameter
from .graph import Graph, _is_from_torch, _PyTreeCodeGen
from .names import custom_builtins

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_counter = itertools.count()


def _exec_with_source(src, names, co_fields=None):
    """Run text whose lines are found by tracebacks."""
    key = f"<eval_with_key>.{next(_counter)}"
    if co_fields:
        key += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
    linecache.cache[key] = len(src), None, src.splitlines(True), key
    exec(compile(src, key, "exec"), names)


def _forward_from_src(src, names, co_fields=None):
    """The function `forward` of a text."""
    names = names.copy()
    _exec_with_source(src, names, co_fields)
    return names["forward"]


def _import_line(name, obj):
    """How a global is imported."""
    known = custom_builtins().get(name)
    if known is not None:
        return known[0]
    if _is_from_torch(obj) and hasattr(obj, "__file__"):
        return "import torch"
    return f"from {obj.__module__} import {obj.__name__} as {name}"


def _import_block(names):
    return "\n".join(sorted({_import_line(name, obj) for name, obj in names.items()}))


def reduce_graph_module(body, import_block):
    """Make a GraphModule again from the dict and the text that a pickle holds."""
    return _deserialize_graph_module(_forward_from_src(_at_home(import_block) + body.pop("_code"), {}), body)


def _at_home(import_block):
    """Imports of torch as those of this package, be it installed as torch or not."""
    lines = re.sub(r"^import torch$", "import torchlike_autograd as torch", import_block, flags=re.MULTILINE)
    return re.sub(r"^(from|import) torch\b", r"\1 torchlike_autograd", lines, flags=re.MULTILINE)


class _CodeOnlyModule(Module):
    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def _deserialize_graph_module(forward, body, graph_module_cls=None):
    from ._symbolic_trace import Tracer

    class KeepModules(Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    cls = graph_module_cls or GraphModule
    _CodeOnlyModule.forward = forward
    held = _CodeOnlyModule(body)
    codegen = body.pop("_codegen_kept", None)
    graph = KeepModules().trace(held)
    if codegen is not None:
        graph._codegen = codegen
    graph._tracer_cls = body.get("_tracer_cls")
    made = cls(held, graph)
    for k, v in held.__dict__.items():
        if k not in made.__dict__:
            made.__dict__[k] = v
    return made


def _owner(module, path, make):
    for part in path:
        if make and not hasattr(module, part):
            setattr(module, part, Module())
        module = getattr(module, part)
    return module


def _copy_attr(from_module, to_module, target):
    """Let another module hold what the first holds under a path."""
    *path, field = target.split(".")
    for part in path:
        inner = getattr(from_module, part)
        if getattr(to_module, part, None) is inner:
            return
        if not hasattr(to_module, part):
            setattr(to_module, part, Module())
        from_module, to_module = inner, getattr(to_module, part)
    value = getattr(from_module, field)
    if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
        to_module.register_buffer(field, value)
    else:
        setattr(to_module, field, value)


def _assign_attr(from_obj, to_module, target):
    """Put a value under a path; modules in between are made."""
    *path, field = target.split(".")
    holder = _owner(to_module, path, make=True)
    if isinstance(from_obj, torch.Tensor) and not isinstance(from_obj, Parameter):
        holder.register_buffer(field, from_obj)
    else:
        setattr(holder, field, from_obj)


def _get_attr(model, name):
    """What lies under a path."""
    return _owner(model, name.split("."), make=False)


class GraphModule(Module):
    """A module that runs a graph.

    root: a module, or {path: value}, that holds what the graph's `get_attr` and `call_module` nodes name; graph: the Graph; class_name: how it is printed.
    `code` is its forward's text; after the graph was edited, `recompile()` writes it anew.
    """

    def __new__(cls, *args, **kwargs):
        cls = next(t for t in cls.__mro__ if t.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(cls):
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        self.__class__.__name__ = class_name
        super().__init__()
        targets = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided in ``root``!")
            for target in sorted(dict.fromkeys(targets), key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        self._tracer_cls = None
        if graph._tracer_cls and "<locals>" not in graph._tracer_cls.__qualname__:
            self._tracer_cls = graph._tracer_cls
        self._tracer_extras = graph._tracer_extras if graph._tracer_extras else {}
        self.meta, self.shape_env = {}, None
        self._replace_hooks, self._create_node_hooks, self._erase_node_hooks, self._deepcopy_hooks = [], [], [], []

    @property
    def graph(self):
        """The Graph; setting it writes the code."""
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The text of `forward`."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Write `forward` from the graph; returns its PythonCode."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        type(self).forward = _forward_from_src(self._code, python_code.globals, self._graph._co_fields)
        return python_code

    def add_submodule(self, target, m):
        """Put a module under a path; returns False where a part of the path is no module."""
        *path, field = target.split(".")
        holder = self
        for part in path:
            inner = getattr(holder, part, None)
            if inner is None:
                inner = Module()
                setattr(holder, part, inner)
            if not isinstance(inner, Module):
                return False
            holder = inner
        holder.add_module(field, m)
        return True

    def delete_submodule(self, target):
        """Take away the module under a path; returns whether there was one."""
        *path, field = target.split(".")
        holder = self
        for part in path:
            holder = getattr(holder, part, None)
            if not isinstance(holder, Module):
                return False
        if not isinstance(getattr(holder, field, None), Module):
            return False
        delattr(holder, field)
        return True

    def delete_all_unused_submodules(self):
        """Take away the modules that no node calls or reads."""
        used = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
            if node.op == "call_module":
                with contextlib.suppress(AttributeError):
                    used.update(f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    def to_folder(self, folder, module_name="FxModule"):
        """Write the module as a package: `module.py`, its tensors and modules beside."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        torch.save(self.state_dict(), folder / "state_dict.pt")
        lines = [f"class {module_name}(torch.nn.Module):", "    def __init__(self):", "        super().__init__()"]
        for name, m in self.named_children():
            torch.save(m, folder / f"{name}.pt")
            lines.append(f"        self.{name} = torch.load(r'{folder / name}.pt', weights_only=False) # {m}".replace("\n", " "))
        for kind, items in (("Parameter", self._parameters), ("buffer", self._buffers)):
            for name, t in items.items():
                if t is not None and kind == "Parameter":
                    lines.append(f"        self.{name} = torch.nn.Parameter(torch.empty({list(t.shape)}, dtype={t.dtype}))")
                elif t is not None:
                    lines.append(f"        self.register_buffer('{name}', torch.empty({list(t.shape)}, dtype={t.dtype}))")
        lines.append(f"        self.load_state_dict(torch.load(r'{folder}/state_dict.pt', weights_only=False))")
        python_code = self._graph.python_code("self")
        body = "\n".join("    " + line if line else line for line in python_code.src.split("\n"))
        text = "\n".join([_import_block(python_code.globals), "from torch.nn import *", *lines, body, ""])
        (folder / "module.py").write_text(text)
        (folder / "__init__.py").write_text("from .module import *")

    def __reduce__(self):
        python_code = self.recompile()
        return reduce_graph_module, (_state(self), _import_block(python_code.globals))

    def __deepcopy__(self, memo):
        held = {k: v for k, v in self.__dict__.items() if k not in ("_graph", "_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")}
        base = next(t for t in type(self).__mro__ if t.__qualname__.split(".")[-1] != "GraphModuleImpl")
        memo[id(self)] = new = GraphModule.__new__(base)
        body = _CodeOnlyModule(copy.deepcopy(held, memo))
        GraphModule.__init__(new, body, copy.deepcopy(self._graph))
        new.training = self.training
        for name, value in body.__dict__.items():
            if name not in new.__dict__ and name not in ("_code",):
                new.__dict__[name] = value
        for name in ("_parameters", "_buffers", "_modules"):
            for k, v in body.__dict__[name].items():
                new.__dict__[name].setdefault(k, v)
        new.meta = body.__dict__.get("meta", {})
        for hook in self._deepcopy_hooks:
            hook(new)
        return new

    def __copy__(self):
        new = _make_graph_module(self, self.graph)
        new.meta = getattr(self, "meta", {})
        return new

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, *, fast_sympy_print=False, expanded_def=False,
                       additional_meta=None):
        """The code as that of a class, with the places of the calls and the graphs of submodules; printed and returned."""
        text = _readable(self)
        if print_output:
            print(text)
        return text

    def __str__(self):
        return "\n".join([super().__str__(), self._code, "# To see more debug info, please use `graph_module.print_readable()`"])

    def _replicate_for_data_parallel(self):
        new = self.__copy__()
        new._is_replica = True
        return new

    @contextlib.contextmanager
    def _set_replace_hook(self, f):
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)


def _state(module):
    held = module.__dict__.copy()
    graph = held.pop("_graph")
    if isinstance(graph._codegen, _PyTreeCodeGen):
        held["_codegen_kept"] = graph._codegen
    return held


def _hooks(kind, held):
    def register(self, f):
        if not callable(f):
            raise AssertionError(f"{kind} hook must be a callable.")
        getattr(self, held).append(f)

    def unregister(self, f):
        getattr(self, held).remove(f)

    return register, unregister


for _kind, _held in (("replace_node", "_replace_hooks"), ("create_node", "_create_node_hooks"), ("erase_node", "_erase_node_hooks"),
                     ("deepcopy", "_deepcopy_hooks")):
    for _prefix, _f in zip(("_register_", "_unregister_"), _hooks(_kind, _held)):
        setattr(GraphModule, f"{_prefix}{_kind}_hook", _f)


def _indented(text):
    first, *rest = text.split("\n")
    return "\n".join([first, *("    " + line if line.strip() else "" for line in rest)])


def _readable(module):
    graph = getattr(module, "graph", None)
    if not isinstance(graph, Graph):
        raise AssertionError("print_readable must be used on a module with a graph")
    code = graph.python_code("self", verbose=True).src.lstrip("\n")
    inner = [_readable(m) for m in module.children() if isinstance(m, GraphModule)]
    text = _indented(f"class {module._get_name()}(torch.nn.Module):\n{code}")
    return text + ("\n" + _indented("\n".join(inner)) if inner else "")


def _make_graph_module(root, graph, class_name="GraphModule", graph_module_cls=None):
    return (graph_module_cls or GraphModule)(root, graph, class_name)


__all__ = ["GraphModule", "reduce_graph_module"]
