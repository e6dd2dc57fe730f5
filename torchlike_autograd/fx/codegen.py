"""The text of a graph as Python (layer 8): one line for each node, and each value is let go behind its last use."""

from __future__ import annotations

import enum
import typing
from dataclasses import dataclass

from .names import Namespace, custom_builtins
from .node import Node, _get_qualified_name, _module_of, _type_repr, map_arg

magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}",
}
reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}",
    "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}
magic_methods.update(reflectable_magic_methods)
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}", "imul": "{} *= {}", "imatmul": "{} @= {}",
    "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}", "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}


@dataclass
class PythonCode:
    """src: the text; globals: what it names."""

    src: str
    globals: dict
    _lineno_map: dict | None = None
    _prologue_start: int = 0


def is_from_torch(obj):
    """Whether code can name an object by its path from `torch`."""
    import torchlike_autograd as torch

    module = _module_of(obj)
    if module is not None:
        return module.partition(".")[0] == "torch"
    name = getattr(obj, "__name__", None)
    return name is not None and name != "torch" and any(getattr(m, name, None) is obj for m in (torch, torch.nn.functional))


def format_target(base, target):
    """`base.target`, with `getattr` where a part is no name."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class CodeGen:
    """Writes graphs; subclasses change the first and last lines."""

    def __init__(self):
        self._body_transformer = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        """The line with `def`."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args):
        """The line with `return`."""
        return f"return {output_args!r}"

    def process_inputs(self, *args):
        """What an interpreter is called with, as the placeholders take it."""
        return args

    def process_outputs(self, outputs):
        """What the output node holds, as the caller gets it."""
        return outputs

    def additional_globals(self):
        """[(name, object)] that the code needs beside what the nodes name."""
        return []

    def _gen_python_code(self, nodes, root_module, namespace, *, verbose=False):
        writer = _Writer(self, list(nodes), root_module, namespace, verbose)
        return writer.code()


class _Writer:
    """One text in the making."""

    def __init__(self, codegen, nodes, root, namespace, verbose):
        self.codegen, self.nodes, self.root, self.namespace, self.verbose = codegen, nodes, root, namespace, verbose
        self.free, self.body, self.globals, self.wrapped, self.returns = [], [], {}, {}, ""
        self.trace = None
        for name, (_, obj) in custom_builtins().items():
            self.name_of(name, obj)
        for name, obj in codegen.additional_globals():
            self.name_of(name, obj)

    def name_of(self, hint, obj):
        """How the code says a global."""
        import torchlike_autograd as torch

        if is_from_torch(obj) and obj is not torch.device:
            return _get_qualified_name(obj)
        name = self.namespace.create_name(hint.replace(".", "_"), obj)
        self.globals[name] = obj
        return name

    def type_of(self, o):
        if o == ():
            return "()"
        origin = getattr(o, "__origin__", None)
        if origin is None:
            return self.name_of(_type_repr(o), o)
        name = self.name_of(_type_repr(_GENERIC.get(origin, origin)), _GENERIC.get(origin, origin))
        inside = getattr(o, "__args__", None)
        return f"{name}[{','.join(map(self.type_of, inside))}]" if inside else name

    def annotation(self, node):
        return "" if node.type is None else f" : {self.type_of(node.type)}"

    def value(self, arg):
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.name_of(_type_repr(type(arg)), type(arg))}({', '.join(map(self.value, arg))})"
        if isinstance(arg, enum.Enum):
            return f"{self.name_of(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, tuple):
            return f"({', '.join(map(self.value, arg))}{',' if len(arg) == 1 else ''})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.value, arg))}]"
        if isinstance(arg, slice):
            return f"slice({self.value(arg.start)}, {self.value(arg.stop)}, {self.value(arg.step)})"
        return repr(arg)

    def call(self, args, kwargs):
        return ", ".join([*map(self.value, args), *(f"{k} = {self.value(v)}" for k, v in kwargs.items())])

    def code(self):
        ends = _last_uses(self.nodes)
        for node in self.nodes:
            if self.verbose:
                self.stack_trace(node)
            self.emit(node)
            self.end(node, ends)
        if not self.body:
            self.body.append("pass\n")
        body = self.body if self.codegen._body_transformer is None else self.codegen._body_transformer(self.body)
        text = "".join(body).lstrip("\n")
        text = "\n".join("    " + line for line in text.split("\n"))
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        return PythonCode(f"\n{wraps}\n\n{self.codegen.gen_fn_def(self.free, self.returns)}\n{text}", self.globals)

    def emit(self, node):
        if node.op == "placeholder":
            default = f" = {self.value(node.args[0])}" if node.args else ""
            self.free.append(f"{node.target}{self.annotation(node)}{default}")
            raw = node.target.replace("*", "")
            if raw != repr(node):
                self.body.append(f"{node!r} = {raw}\n")
        elif node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type_of(node.type)}"
            self.body.append(self.codegen.generate_output(node.args[0]))
        elif node.op == "get_attr":
            self.body.append(f"{node!r}{self.annotation(node)} = {format_target(self.root, node.target)}")
        elif node.op == "call_function":
            self.function(node)
        else:
            base, args = (self.root, node.args) if node.op == "call_module" else (self.value(node.args[0]), node.args[1:])
            self.body.append(f"{node!r}{self.annotation(node)} = {format_target(base, node.target)}({self.call(args, node.kwargs)})")

    def function(self, node):
        start, target, name = f"{node!r}{self.annotation(node)} = ", node.target, getattr(node.target, "__name__", "")
        if getattr(target, "__module__", None) == "_operator" and name in magic_methods:
            self.body.append(start + magic_methods[name].format(*map(self.value, node.args)))
        elif getattr(target, "__module__", None) == "_operator" and name in inplace_methods:
            self.body.append(f"{inplace_methods[name].format(*map(self.value, node.args))};  {start}{self.value(node.args[0])}")
        else:
            said = self.name_of(_get_qualified_name(target), target)
            if said == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
                self.body.append(start + format_target(self.value(node.args[0]), node.args[1]))
                return
            self.body.append(f"{start}{said}({self.call(node.args, node.kwargs)})")
            if node.meta.get("is_wrapped", False):
                self.wrapped.setdefault(said)

    def end(self, node, ends):
        if node.op == "placeholder":
            return
        gone = [] if node.op == "output" else ends.get(node, []) + ([] if node.users else [node])
        self.body.append(f";  {' = '.join([*map(repr, gone), 'None'])}\n" if gone else "\n")

    def stack_trace(self, node):
        if node.op in ("placeholder", "output"):
            return
        trace = node.stack_trace or ""
        if trace == self.trace:
            return
        self.trace = trace
        self.body.append(f"\n# {_summary(trace) if trace else 'No stacktrace found for following nodes'}\n")


def _summary(trace):
    """The innermost place of a stack trace in one line."""
    lines = [line.strip() for line in trace.strip().split("\n")]
    places = [i for i, line in enumerate(lines) if line.startswith("File ")]
    if not places:
        return ""
    file, line, name = (part.strip() for part in lines[places[-1]].split(", "))
    code = lines[places[-1] + 1] if places[-1] + 1 < len(lines) else ""
    return f'File: {file[5:].strip(chr(34))}:{line.split()[-1]} in {name[3:]}, code: {code}'


def _last_uses(nodes):
    """{node: the values that nobody reads after it}."""
    seen, ends = set(), {}
    for node in reversed(nodes):

        def use(n, node=node):
            if n not in seen:
                seen.add(n)
                ends.setdefault(node, []).append(n)
            return n

        map_arg(node.args, use)
        map_arg(node.kwargs, use)
    return ends


_GENERIC = {list: list, dict: dict, set: set, frozenset: frozenset, tuple: tuple}


class PyTreeInfo(typing.NamedTuple):
    """orig_args: names of the parameters; in_spec, out_spec: how arguments and results are nested."""

    orig_args: list
    in_spec: object
    out_spec: object


class PyTreeCodeGen(CodeGen):
    """For graphs whose placeholders are the leaves of nested arguments."""

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *args):
        from . import _pytree as fx_pytree

        return fx_pytree.tree_flatten_spec(args, self.pytree_info.in_spec)

    def process_outputs(self, outputs):
        from ..utils import _pytree

        return _pytree.tree_unflatten(outputs if isinstance(outputs, (list, tuple)) else [outputs], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        names = [v for v in self.pytree_info.orig_args if v != "self"]
        leaves = [v.split(" : ")[0].split(" = ")[0] for v in free_vars]
        first = super().gen_fn_def(["self", *names], maybe_return_annotation)
        if leaves:
            first += f"\n    {', '.join(leaves)}, = fx_pytree.tree_flatten_spec([{', '.join(names)}], self._in_spec)"
        return first

    def generate_output(self, output_args):
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args)
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"


__all__ = ["CodeGen", "Namespace", "PyTreeCodeGen", "PyTreeInfo", "PythonCode", "inplace_methods", "magic_methods", "reflectable_magic_methods"]
