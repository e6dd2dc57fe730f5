"""`import torch` resolved to this package (layer 10).

A finder at the front of `sys.meta_path` answers for `torch` and `torch.<module>` with our modules of the same path.  Nothing else is touched: no
builtins (but the modules of packages that are named have an `__import__` of their own), no frames.  Our public classes say meanwhile that they come from
torch's modules: programs print and compare that.  `uninstall_as_torch` removes the finder and the entries of `sys.modules` that it made, and gives the classes
their names back.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import pathlib
import site
import sys

from ._core.publish import body_of

__all__ = ["install_as_torch", "uninstall_as_torch"]

_HOME = __package__
_MOVED = {"._ops": "._torch_ops"}  # names that are taken here
# Modules that torch has nothing of.
_OURS = frozenset(("_api", "_children", "_core", "_drawing", "_functions", "_ops", "_pickled", "_tensor_members", "_tensor_values", "dialects", "dropin",
                   "functorch", "interop", "visualize"))


class _Alias(importlib.abc.Loader):
    """Loads `torch.x.y` as the module `torchlike_autograd.x.y`."""

    def __init__(self, ours):
        self.ours = ours

    def create_module(self, spec):
        module = importlib.import_module(self.ours)
        self.kept = module.__spec__, module.__loader__
        return module

    def exec_module(self, module):
        module.__spec__, module.__loader__ = self.kept
        for k in [k for k in sys.modules if k.rpartition(".")[0] == self.ours]:  # imported by torch's name it would take the place of a function of its name
            if getattr(module, k.rpartition(".")[2], None) is not sys.modules[k]:
                sys.modules.setdefault("torch" + k[len(_HOME):], sys.modules[k])
        if _active and isinstance(_active[-1], _Finder) and "._" not in self.ours:
            for name in [k for k in sys.modules if k.startswith(f"{self.ours}.") and "._" not in k]:  # what it loads itself
                _name_as_torchs(sys.modules[name])
            _name_as_torchs(module)


class _Finder(importlib.metadata.DistributionFinder):
    """Answers for torch and its public modules."""

    def find_spec(self, name, path=None, target=None):
        if name == "functorch" or name.startswith("functorch."):
            return importlib.machinery.ModuleSpec(name, _Alias(f"{_HOME}.{name}"), is_package=True) if _exists(f"{_HOME}.{name}") else None
        if name != "torch" and not name.startswith("torch."):
            return None
        rest = name[len("torch"):]
        rest = _MOVED.get(rest, rest)
        if rest.partition(".")[2].partition(".")[0] in _OURS or (rest and not _exists(_HOME + rest)):
            raise ModuleNotFoundError(f"No module named '{name}' (torchlike_autograd does not have it)", name=name)
        return importlib.machinery.ModuleSpec(name, _Alias(_HOME + rest), is_package=True)

    def find_distributions(self, context=None):
        """What `importlib.metadata` asks: the version of torch."""
        return [_Distribution()] if context is None or context.name is None or context.name.lower() == "torch" else []


class _Distribution(importlib.metadata.Distribution):
    """The metadata of torch: its name and the version that this package behaves like."""

    def read_text(self, filename):
        from .version import __version__

        return f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\n" if filename in ("METADATA", "PKG-INFO") else None

    def locate_file(self, path):
        return pathlib.Path(__file__).parent / path


def _exists(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class _Scoped(importlib.abc.MetaPathFinder):
    """Lets the modules of named packages see our torch while they are being imported, and by the imports in their functions later."""

    def __init__(self, packages):
        self.packages, self.swaps = tuple(packages), 0

    @contextlib.contextmanager
    def swapped(self):
        """`torch` is ours, and then again what was there."""
        held = {k: sys.modules.pop(k) for k in _torch_modules()}
        finder = _Finder()
        sys.meta_path.insert(0, finder)
        self.swaps += 1
        try:
            yield
        finally:
            self.swaps -= 1
            sys.meta_path.remove(finder)
            for k in _torch_modules():
                del sys.modules[k]
            sys.modules.update(held)

    def imported(self, name, globals=None, locals=None, fromlist=(), level=0):
        """`__import__` of the modules."""
        if level or self.swaps or self not in _active or not _is_torchs(name):
            return builtins.__import__(name, globals, locals, fromlist, level)
        with self.swapped():
            return builtins.__import__(name, globals, locals, fromlist, level)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.packages:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _During(spec.loader, self)
                return spec
        return None


class _During(importlib.abc.Loader):
    """Runs a module body with `torch` swapped in, and puts back what was there."""

    def __init__(self, loader, scope):
        self.loader, self.scope = loader, scope

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self.scope.imported}
        with self.scope.swapped():
            self.loader.exec_module(module)

    def __getattr__(self, name):
        return getattr(self.loader, name)


def _torch_modules():
    return [k for k in sys.modules if _is_torchs(k)]


def _is_torchs(name):
    return name.partition(".")[0] in ("torch", "functorch")


def _name_as_torchs(module):
    """Let what a module of ours makes public say that it comes from torch's module of the same path: programs compare, print and pickle that."""
    _name_functions(module)
    own = [k for k, x in vars(module).items() if isinstance(x, type) and k[0] != "_" and x.__module__ == module.__name__]
    for name in dict.fromkeys((*getattr(module, "__all__", ()), *own)):
        cls = getattr(module, name, None)
        home = getattr(cls, "__module__", None) or ""
        if not isinstance(cls, type) or home.partition(".")[0] != _HOME or cls.__name__ != name:
            continue
        place = home if "._" not in home else module.__name__
        theirs = "torch" + place[len(_HOME):]
        sys.modules.setdefault(theirs, sys.modules[place])
        _renamed.append((cls, home))
        cls.__module__ = theirs


def _name_functions(module):
    """The same for functions; those of private modules take the place where they are first met."""
    here = module.__name__ if module.__name__.partition(".")[0] != "torch" else _HOME + module.__name__[len("torch"):]
    for name, f in list(vars(module).items()):
        body = body_of(f)
        if body is None or name[0] == "_" or body.__qualname__ not in (name, f"{module.__name__.rpartition('.')[2]}_{name}"):
            continue
        home = body.__module__ or ""
        if home.partition(".")[0] != _HOME:
            continue
        place = home
        if "._" in home and not home.endswith(("._C._nn", "._C._fft", "._C._linalg", "._C._special")):
            above = home.partition("._")[0]
            place = above if vars(sys.modules[above]).get(name) is f else here
        _renamed.append((body, home))
        body.__module__ = "torch" + place[len(_HOME):]


_renamed: list = []


class _Installed:
    """What `install_as_torch` returns: a context manager that undoes it."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        uninstall_as_torch()


_active: list = []


def install_as_torch(packages=None):
    """Make ``import torch`` mean this package, everywhere or only in modules of the named packages that are imported from now on.

    Returns a context manager that undoes it.  Raises RuntimeError when PyTorch itself is already imported and no packages are named.  Their
    imports by the statement are redirected, also those in functions; `importlib.import_module("torch.nn")` in a function is not.
    """
    if _active:
        raise RuntimeError("install_as_torch() is already in force; call uninstall_as_torch() first")
    if packages is not None:
        finder = _Scoped([packages] if isinstance(packages, str) else packages)
    else:
        real = sys.modules.get("torch")
        if real is not None and real is not sys.modules.get(_HOME):
            raise RuntimeError("PyTorch is already imported in this process; install_as_torch() must come before the first 'import torch'")
        finder = _Finder()
    sys.meta_path.insert(0, finder)
    _active.append(finder)
    if packages is None:
        sys.modules["torch"] = sys.modules[_HOME]
        sys.modules[_HOME].__name__ = "torch"  # libraries compare it
        done: set = set()
        while todo := [k for k in sys.modules if k.partition(".")[0] == _HOME and "._" not in k and k not in done]:  # looking at one may load another
            done.update(todo)
            for name in todo:
                _name_as_torchs(sys.modules[name])
    return _Installed()


def uninstall_as_torch():
    """Undo `install_as_torch`: ``import torch`` means what it meant before.  Without effect when nothing is installed."""
    while _active:
        finder = _active.pop()
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
        while isinstance(finder, _Finder) and _renamed:
            cls, cls.__module__ = _renamed.pop()
        sys.modules[_HOME].__name__ = _HOME
        for k in _torch_modules():
            if getattr(sys.modules[k], "__name__", "").startswith(_HOME):
                del sys.modules[k]


class _Inherited:
    """Unpickled in a child process, this installs there what is installed here."""

    def __reduce__(self):
        return _install_in_child, ()


def _install_in_child():
    if not _active:
        install_as_torch()


def pass_on_to_children():
    """Let Python processes that this one starts import torch as it does.

    Those of multiprocessing ("spawn", "forkserver") are told with what they are to run; all others (`subprocess`, the workers of pytest-xdist) by PYTHONPATH,
    where a folder of ours (`_children`) comes first.  For the command line: a program that calls `install_as_torch` itself does so in its children too.
    """
    home = pathlib.Path(__file__).parent
    given = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    ours = [str(home / "_children"), *(str(home.parent),) * (home.parent not in map(pathlib.Path, (*given, *site.getsitepackages())))]
    os.environ["PYTHONPATH"] = os.pathsep.join([ours[0], *(p for p in given if p != ours[0]), *ours[1:]])
    if ours[0] not in sys.path:
        sys.path.insert(1, ours[0])  # pytest-xdist hands this on; here the finder answers before it is looked at
    from multiprocessing import spawn

    made = spawn.get_preparation_data  # what a child unpickles before anything else

    @functools.wraps(made)
    def get_preparation_data(name):
        return {**made(name), _HOME: _Inherited()}

    spawn.get_preparation_data = get_preparation_data
