"""Public paths to functions (layer 6): the op table and the composites poured into modules and the Tensor class, by name."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import FunctionType

from . import bind, overriding, twins
from .built_in import shown
from .composite import COMPOSITES

_loaded = []
_table: dict = {}


def load_all():
    """Import every module of operators and composites once; {dotted path: function}."""
    if not _loaded:
        _loaded.append(True)
        root = __package__.rpartition(".")[0]
        for folder in ("_ops", "_functions"):
            package = importlib.import_module(f"{root}.{folder}")
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{package.__name__}.{module.name}")
        _fill()
    return _table


def _fill():
    made = {}
    for path, ops in bind.public_names().items():
        name = path.rpartition(".")[2]
        method = path.startswith("Tensor.")
        part = path.split(".")[-2]
        if part in ("linalg", "special"):
            name = f"{part}_{name}"  # as torch names it in messages
        key = (name, tuple(ops), method)
        if key not in made:
            made[key] = bind.make_function(name, ops, method)
        _table[path] = _overridable(made[key], path)
        here = [o for o in ops if o.inplace]
        if here and (method or path[len("torch."):] + "_" in twins.FUNCTIONS) and f"{path}_" not in _table and path.count(".") == 1:
            _table[f"{path}_"] = _overridable(bind.make_inplace(name, ops), f"{path}_")
    for path, f in COMPOSITES.items():
        if path.endswith("_") and path.startswith("torch.") and path.count(".") == 1 and path[len("torch."):] not in twins.FUNCTIONS \
                and not path.startswith(("torch._foreach_", "torch._amp_")):
            continue
        if type(f) is FunctionType:
            f = shown(path, _reroutable(path, f) if path.rpartition(".")[2] in _PLAIN else _explained(path, f))
        _table[path] = f
    for name in _SHARED:
        if f"torch.{name}" in _table:
            _table[f"torch.nn.functional.{name}"] = _table[f"torch.{name}"]
    for path, f in _table.items():
        body = body_of(f)
        if body is not None and "._" in body.__module__ and path.startswith("torch.") and "._" not in path:
            _at_home(body, path)
    public = {id(body_of(f)) for path, f in _table.items() if path.startswith("torch.")}
    for path, f in _table.items():
        body = body_of(f)
        if path.startswith("Tensor.") and body is not None and "._" in body.__module__ and id(body) not in public:
            name = path[len("Tensor."):]
            home, cls = ("_tensor", "Tensor") if name in _OF_TENSOR else ("_C", "TensorBase")
            body.__module__, body.__qualname__ = f"{__package__.partition('.')[0]}.{home}", f"{cls}.{name}"


def body_of(f):
    """The Python function that knows the names of `f`: itself, or what a callable in C stands for; None for anything else."""
    if type(f) is FunctionType:
        return f
    within = getattr(f, "__wrapped__", None)
    return within if type(within) is FunctionType and (hasattr(within, "recipes") or overriding.SHOWN.get(within) is f) else None


# Functions of torch.nn.functional that say that they come from torch._C._nn.
_BELOW = frozenset(("avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "logsigmoid", "one_hot",
                    "scaled_dot_product_attention", "softplus", "softshrink"))


# Methods that PyTorch has in Python.
_OF_TENSOR = frozenset((
    "dim_order", "eig", "index", "is_shared", "istft", "lstsq", "lu", "module_load", "norm", "register_hook", "register_post_accumulate_grad_hook", "reinforce",
    "resize", "resize_as", "share_memory_", "solve", "split", "stft", "storage", "storage_type", "symeig", "to_sparse_coo", "unflatten", "unique",
    "unique_consecutive"))
# Functions of torch that PyTorch has in torch.functional.
_IN_PYTHON = frozenset(("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist",
                        "chain_matmul", "einsum", "lu", "meshgrid", "norm", "split", "stft", "tensordot", "unique", "unique_consecutive", "unravel_index"))
# Functions of torch.nn.functional that are those of torch.
_SHARED = ("adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu_", "conv1d", "conv2d", "conv3d", "cosine_similarity", "pdist", "prelu", "relu_", "rrelu_",
           "selu_", "threshold_")


_UNDERSCORED = "torch.nn.functional.threshold"  # PyTorch's calls itself `_threshold`


def _at_home(f, path):
    """Let a function say that it comes from the public module that it is found in: by that and its name it is pickled."""
    module, _, name = path.rpartition(".")
    if module == "torch.nn.functional" and name in _BELOW:
        module = "torch._C._nn"
    elif module == "torch" and name in _IN_PYTHON:
        module = "torch.functional"
    elif f.__qualname__.startswith(f"{module.rpartition('.')[2]}_") and module in ("torch.fft", "torch.linalg", "torch.special"):
        module = f"torch._C._{module[len('torch.'):]}"
    f.__module__ = __package__.partition(".")[0] + module[len("torch"):]
    there = _table.get(f"{module}.{f.__qualname__}")
    if path != _UNDERSCORED and (f.__qualname__.startswith(("f_", "_", "torch_")) if there is None else body_of(there) is not f):
        f.__qualname__ = name


def _overridable(f, path):
    """A function of the op table that tells `__torch_function__` of itself."""
    recipes = f.recipes
    if recipes.public is None:
        recipes.public = f
        overriding.FORGET.append(f.known)
        overriding.FORGET.append(recipes.kinds)
        overriding.named(f, f"torch.{path}" if path.startswith("Tensor.") else path)
    return f


_PLAIN = frozenset(("reshape", "view", "matmul", "linear", "to", "contiguous", "backward"))  # used too often for a wrapper


def _explained(path, f):
    from . import words

    if words.known(words.METHOD_OF.get(path, path)) is not None:
        return words.explaining(path, f)
    return _reroutable(path, f)


def _reroutable(path, f):
    """A function that is published as it is: its body changes places when a class overrides `__torch_function__` for the first time."""
    if f.__name__.startswith(("f_", "_", "tensor_")):  # named for the package's own readers
        f.__name__ = path.rpartition(".")[2]
    if f.__qualname__.startswith("f_") or ("<locals>" in f.__qualname__ and not path.startswith("Tensor.")):
        f.__qualname__ = path.rpartition(".")[2]  # what Python's own errors speak of
    if path == _UNDERSCORED:
        f.__name__ = f.__qualname__ = "_threshold"
    if id(f) not in overriding.PATHS:
        overriding.named(f, f"torch.{path}" if path.startswith("Tensor.") else path)
    overriding.rerouted(f, path)
    return f


def install(namespace, prefix):
    """Add every function published directly under `prefix` to a module's namespace; returns their names."""
    names = []
    for path, f in load_all().items():
        where, _, name = path.rpartition(".")
        if where == prefix:
            namespace[name] = f
            names.append(name)
    return names


_PACKAGE = __name__.partition(".")[0]


def _is_module(path):
    try:
        return importlib.util.find_spec(path) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def missing(module):
    """A module `__getattr__` that imports a public module below it when it is asked for, as it is imported in PyTorch, and names what is not there."""

    def __getattr__(name):
        below = f"{_PACKAGE}{module[5:]}.{name}"
        if not name.startswith("_") and _is_module(below):
            return importlib.import_module(below)
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return __getattr__


def refused(module, *names, why="it is not here"):
    """{name: a function that says so when it is called}: files that name them can be imported."""
    def one(name):
        def refuse(*args, **kwargs):
            raise NotImplementedError(f"{module}.{name}: {why}")

        refuse.__name__ = refuse.__qualname__ = name
        refuse.__module__, refuse.__doc__ = module, f"NotImplementedError: {why}."
        return refuse

    return {name: one(name) for name in names}


def refused_class(module, name, why="it is not here"):
    """A class that files can name and derive from; making one raises NotImplementedError."""
    def __new__(cls, *args, **kwargs):
        raise NotImplementedError(f"{module}.{name}: {why}")

    return type(name, (), {"__new__": __new__, "__module__": module, "__doc__": f"NotImplementedError: {why}."})
