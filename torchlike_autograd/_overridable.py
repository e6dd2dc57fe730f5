"""The lists of torch.overrides (layer 8): which functions ask `__torch_function__`, which have nobody to ask, and a stand-in with the signature of each.

What differs: the lists hold what is here, by the public paths under which it was published.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import sys

from . import functional as _functional
from ._core import overriding as _overriding
from ._core import words as _words
from ._tensor import Tensor

_ROOT = __package__
_SPACES = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
_METHODS = "torch.Tensor"
_NOT_ASKED = frozenset((
    "broadcast_shapes", "from_dlpack", "from_file", "from_numpy", "frombuffer", "get_default_device", "get_default_dtype", "get_rng_state", "initial_seed",
    "is_storage", "is_tensor", "is_warn_always_enabled", "manual_seed", "range", "seed", "set_default_device", "set_default_dtype",
    "set_default_tensor_type", "set_rng_state", "set_warn_always", "tril_indices", "triu_indices"))
_OF_CLASS = (  # written with the class; attributes are among the properties, and what asks when it is called on an instance alone is left out
    "chalf detach detach_ dim element_size is_complex is_contiguous is_floating_point is_signed ndimension nelement numel numpy requires_grad_ size "
    "storage_offset tolist _is_view __array__ __contains__ __deepcopy__ __format__ __getitem__ __len__ __nonzero__ __repr__ __reversed__ __setitem__ "
    "__setstate__ __eq__ __ge__ __gt__ __le__ __lt__ __ne__ __radd__ __rand__ __rdiv__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__ __rpow__ "
    "__rrshift__ __rsub__ __rxor__ __div__ __idiv__ __truediv__ " + " ".join(
        f"__{i}{n}__" for n in ["add", "and", "floordiv", "lshift", "mod", "mul", "or", "rshift", "sub", "xor"] for i in ("", "i"))).split()
_UNLISTED = frozenset(("torch.Tensor.as_subclass", "torch.Tensor._make_subclass"))
_OF_OTHERS = frozenset(("device_mesh", "full_tensor", "placements", "redistribute"))  # what only tensors of torch.distributed have


def _module(path):
    return sys.modules[_ROOT + path[len("torch"):]]


def _published():
    """(namespace, name, function) of everything that was published, as it is found there."""
    for where in (*_SPACES, _METHODS):
        space = Tensor if where == _METHODS else _module(where)
        for name in dir(space):
            f = inspect.getattr_static(space, name, None)
            if id(f) in _overriding.PATHS and callable(f) and not isinstance(f, type) and f"{where}.{name}" not in _UNLISTED:
                yield where, name, f
    for name in _OF_CLASS:
        f = inspect.getattr_static(Tensor, name, None)
        if f is not None:
            yield _METHODS, name, f


def _known(where, name):
    """PyTorch's signatures of a function; () where they are not known."""
    path = f"{where}.{name}" if where != _METHODS else f"Tensor.{name}"
    found = _words.known(_words.METHOD_OF.get(path, path)) or _words.known(path.removeprefix("torch."))
    known = tuple(found[2]) if found else ()
    return () if where == "torch.nn.functional" and not _takes_tensors(known) else known  # those of a method, without it


def _takes_tensors(known):
    return any("Tensor" in p.word and p.name != "out" for s in known for p in s.params)


def _asks(where, name):
    """Whether a function takes something that can be asked."""
    known = _known(where, name)
    return where == _METHODS or (not known and name not in _NOT_ASKED) or _takes_tensors(known)


def _properties():
    return [p for n, p in {n: p for c in Tensor.__mro__ for n, p in vars(c).items() if isinstance(p, property)}.items() if n not in _OF_OTHERS]


@functools.cache
def _overridable():
    found = {}
    for where, name, f in _published():
        if _asks(where, name):
            space = Tensor if where == _METHODS else _functional if where == "torch" and name in _functional.__all__ else _module(where)
            found.setdefault(space, {})[f] = where, name
    return found


def get_overridable_functions():
    """{module, class or property: the functions of it that ask `__torch_function__`}."""
    return {space: list(fs) for space, fs in _overridable().items()} | {p: [p.__get__] for p in _properties()}


@functools.cache
def get_ignored_functions():
    """The set of public functions that take nothing that could be asked."""
    return {f for where, name, f in _published() if not _asks(where, name)}


def get_testing_overrides():
    """{function that asks: one with the same parameters that returns -1}."""
    out = {f: _stand_in(f, *place) for fs in _overridable().values() for f, place in fs.items()}
    for p in _properties():
        out[p.__get__] = lambda self: -1
    return out


def _stand_in(f, where, name):
    signature = _signature(f, where, name)

    def override(*args, **kwargs):
        signature.bind(*args, **kwargs)
        return -1

    override.__name__, override.__signature__ = name, signature
    return override


def _signature(f, where, name):
    known = _known(where, name)
    if not known:
        return inspect.signature(f)
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    own = [inspect.Parameter("self", kinds[0])] if where == _METHODS else []
    for p in known[0].params:
        default = inspect.Parameter.empty if p.default is None else p.default
        own.append(inspect.Parameter(p.name + "_" * keyword.iskeyword(p.name), kinds[p.kw_only], default=default))
    return inspect.Signature(own)


_SIMPLE = {"tuple of Tensors": "TensorList", "int": "int64_t", "Number": "Scalar", "tuple of ints": "IntArrayRef", "float": "double", "str": "c10::string_view",
           "torch.dtype": "ScalarType", "torch.device": "Device", "torch.layout": "Layout", "torch.Generator": "Generator?", "tuple of Numbers": "ScalarList",
           "tuple of floats": "ArrayRef<double>?"}


def annotated():
    """{function: what PyTorch says of each of its parameters that must be given}, where its signature is known."""
    out = {}
    for fs in _overridable().values():
        for f, (where, name) in fs.items():
            known = _known(where, name)
            if known:
                own = [("self", "Tensor", False)] if where == _METHODS else []
                own += [(p.name, _SIMPLE.get(p.word, p.word), p.kw_only) for p in known[0].params if p.default is None]
                out[f] = [{"is_kwarg_only": str(only), "name": n, "simple_type": t} for n, t, only in own]
    return out
