"""The torch names that a piece of Python uses, by syntax alone.

`Uses(tree, known)` follows imports of torch (`import torch.nn.functional as F`, `from torch import nn`, `from torch.nn import Linear as L`,
`import torch as th`), names bound to parts of it (`F = torch.nn.functional`), and attributes of everything else, which may be tensors.
"""

import ast

ROOT = "torch"
OTHERS = frozenset(n for t in (str, bytes, list, dict, set, tuple, int, float, complex, object, type, Exception) for n in dir(t)) | frozenset([
    "read", "write", "readline", "close", "open", "name", "parent", "suffix", "stem", "exists", "mkdir", "glob", "seed", "run", "main", "path", "logger",
    "info", "debug", "warning", "error", "start", "end", "group", "match", "search"])


CAUGHT = {"ImportError", "ModuleNotFoundError", "AttributeError", "NotImplementedError"}  # what the lack of a name raises
BROAD = {"Exception", "BaseException"}


class Uses(ast.NodeVisitor):
    """names: {dotted path: [lines]}; attributes: {attribute of something that is not torch: [lines]}; texts: string constants;
    indirect: paths P of getattr(P, name); called: names that are called and come from elsewhere; starred: (module, line) of star imports;
    keywords: {path: keywords that its calls give};
    asked: paths that the program can do without, because it asks for them or catches that an import lacks them;
    excused: {path: lines} that never run or whose error is caught; looked: {path: lines} that only compare with it (isinstance, annotations)."""

    def __init__(self, tree, roots=()):
        self.guarded = self.idle = self.looking = 0  # how deep in `try` blocks whose errors are caught, in what never runs, in what only compares
        self.excused, self.looked = {}, {}
        self.later = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" and "annotations" in [a.name for a in n.names] for n in ast.walk(tree))
        self.asked = set()  # paths of hasattr and of getattr with a default
        self.bound = dict(roots)  # local name -> dotted path
        self.foreign = set()  # names of other imported modules
        self.names, self.attributes, self.texts, self.indirect, self.starred, self.called, self.keywords = {}, {}, set(), set(), [], set(), {}
        for node in ast.walk(tree):  # imports and aliases first: a function may stand before them
            self.bind(node)
        self.visit(tree)

    def bind(self, node):
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name.split(".")[0] == ROOT:
                    self.bound[a.asname or ROOT] = a.name if a.asname else ROOT
                else:
                    self.foreign.add((a.asname or a.name).split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            self.bind_from(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self.bind_assigned(node.targets[0], node.value)

    def bind_from(self, node):
        if node.level or (node.module or "").split(".")[0] != ROOT:
            return
        for a in node.names:
            if a.name == "*":
                self.starred.append((node.module, node.lineno))
            else:
                self.bound[a.asname or a.name] = f"{node.module}.{a.name}"

    def bind_assigned(self, target, value):
        if isinstance(target, ast.Name) and isinstance(value, ast.Attribute):
            path = self.path(value)
            if path is not None and target.id not in self.bound:
                self.bound[target.id] = path
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for t, v in zip(target.elts, value.elts):
                self.bind_assigned(t, v)

    def path(self, node):
        """The dotted path of an expression that begins at torch, or None."""
        if isinstance(node, ast.Name):
            return self.bound.get(node.id)
        if isinstance(node, ast.Attribute):
            inner = self.path(node.value)
            return None if inner is None else f"{inner}.{node.attr}"
        return None

    def inside(self, state, *nodes):
        """Visit with one of guarded, idle, looking set."""
        setattr(self, state, getattr(self, state) + 1)
        for node in nodes:
            self.visit(node)
        setattr(self, state, getattr(self, state) - 1)

    def visit_Try(self, node):
        """A program that catches the lack of a name, and does not raise again, can do without it."""
        if any(catches(h, node.body) for h in node.handlers):
            self.inside("guarded", *node.body)
        else:
            for child in node.body:
                self.visit(child)
        for child in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(child)

    def visit_If(self, node):
        """What is for type checkers alone never runs."""
        if ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"):
            self.inside("idle", *node.body)
            for child in node.orelse:
                self.visit(child)
        else:
            self.generic_visit(node)

    def visit_annotation(self, node):
        if node is not None:
            self.inside("idle" if self.later else "looking", node)

    def visit_arg(self, node):
        self.visit_annotation(node.annotation)

    def visit_FunctionDef(self, node):
        for child in (*node.decorator_list, node.args, *node.body):
            self.visit(child)
        self.visit_annotation(node.returns)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_AnnAssign(self, node):
        self.visit_annotation(node.annotation)
        for child in (node.target, node.value):
            if child is not None:
                self.visit(child)

    def note(self, path, line, importing=False):
        if importing and (self.guarded or self.idle):
            self.asked.add(path)
        elif self.guarded or self.idle:
            self.excused.setdefault(path, set()).add(line)
        elif self.looking:
            self.looked.setdefault(path, set()).add(line)
        self.names.setdefault(path, []).append(line)

    def visit_Import(self, node):
        for a in node.names:
            if a.name.split(".")[0] == ROOT:
                self.note(a.name, node.lineno, True)

    def visit_ImportFrom(self, node):
        if not node.level and (node.module or "").split(".")[0] == ROOT:
            for a in node.names:
                self.note(node.module if a.name == "*" else f"{node.module}.{a.name}", node.lineno, True)

    def visit_Name(self, node):
        path = self.bound.get(node.id)
        if path is not None and isinstance(node.ctx, ast.Load):
            self.note(path, node.lineno)

    def visit_Attribute(self, node):
        path = self.path(node)
        if path is not None:
            self.note(path, node.lineno)
            return
        base = node
        while isinstance(base, ast.Attribute):
            base = base.value
        if isinstance(node.ctx, ast.Load) and not (isinstance(base, ast.Name) and base.id in self.foreign):
            self.attributes.setdefault(node.attr, []).append(node.lineno)
        self.visit(node.value)

    def visit_Call(self, node):
        path = self.path(node.func) or (f"torch.Tensor.{node.func.attr}" if isinstance(node.func, ast.Attribute) else None)
        if path is not None and node.keywords:
            self.keywords.setdefault(path, set()).update(k.arg or "**" for k in node.keywords)
        if isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr") and len(node.args) > 1:
            self.visit_getattr(node)
        elif isinstance(node.func, ast.Name) and node.func.id not in self.bound:
            self.called.add(node.func.id)
        if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass") and len(node.args) == 2:
            self.visit(node.args[0])
            self.inside("looking", node.args[1])
        else:
            self.generic_visit(node)

    def visit_getattr(self, node):
        path, name = self.path(node.args[0]), node.args[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            if node.func.id == "hasattr" or len(node.args) > 2:
                self.asked.add(f"{path or 'torch.Tensor'}.{name.value}")  # a program that asks first can do without
                return
            if path is not None:
                self.note(f"{path}.{name.value}", node.lineno)
            else:
                self.attributes.setdefault(name.value, []).append(node.lineno)
        else:
            self.indirect.add(path or "torch.Tensor")

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.texts.add(node.value)


def catches(handler, body):
    """Whether a handler lets the program go on where a name is lacking: a broad one only around a single statement, imports, or a few
    statements with an import of their own (an optional part, tried)."""
    if any(isinstance(n, ast.Raise) for n in handler.body):
        return False
    classes = BROAD if handler.type is None else {getattr(n, "id", getattr(n, "attr", None)) for n in ast.walk(handler.type)}
    imports = sum(isinstance(n, (ast.Import, ast.ImportFrom)) for n in body)
    short = len(body) == 1 or imports == len(body) or (imports and len(body) <= 4)
    return bool(classes & CAUGHT or (classes & BROAD and short))


def uses(source, roots=()):
    """Uses of a text; raises SyntaxError where it is not Python."""
    return Uses(ast.parse(source), roots)


def cut(path, known):
    """The longest beginning of a path that is a recorded name (`torch.Tensor.data.fget` -> `torch.Tensor.data`), or None."""
    while path and path not in known:
        path = path.rpartition(".")[0]
    return path or None
