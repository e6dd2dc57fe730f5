"""torch's words for a call that its argument parser refuses (layer 6): looked at only after a call has failed.

`signatures.txt` holds the parameters of torch's functions in the parser's own notation.  A signature takes a call or complains about the first
argument that does not fit; of several signatures the one that could take that many arguments complains, otherwise all are listed.
"""

from __future__ import annotations

import functools
import importlib.resources
import inspect
import numbers
import operator
import re
from typing import NamedTuple

import numpy as np

from .._tensor import Tensor, from_array
from . import devices, dtypes, errors, layouts, overriding
from .bind import PLACES
from .rng_stream import Generator
from .shapes import OVERFLOW, as_long, is_index_array, is_long

_NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
_WITH_NUMBERS = frozenset(n + t for n in ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide") for t in ("", "_")) | {
    "copy_", "to"}
# lists for which one int may stand
_ONE_INT = frozenset(("dim", "dims", "shifts", "kernel_size", "stride", "padding", "output_padding", "dilation", "output_size", "s"))
_NO_ONE_INT = {"as_strided": ("stride",), "as_strided_": ("stride",), "as_strided_copy": ("stride",),
               "new_empty_strided": ("stride",), "empty_strided": ("stride",), "rot90": ("dims",), "tile": ("dims",),
               "flip": ("dims",), "permute": ("dims",)}  # but not there
# Taken apart by hand in torch, and so refused by their bodies; keywords that its parser takes and does not print.
_AFTERWARDS = frozenset(("torch.nonzero", "Tensor.nonzero", "Tensor.to", "Tensor.copy_", "torch.nn.functional.softmax", "torch.nn.functional.log_softmax",
                         "torch.special.softmax", "torch.special.log_softmax", "torch.embedding_bag", "Tensor.new"))
_UNPRINTED = {f"torch.{n}": ("names", "memory_format") for n in ("empty", "zeros", "ones", "full", "rand", "randn")}
_OUT_LISTS = frozenset(("split_copy", "split_with_sizes_copy", "unbind_copy", "aminmax", "cummax", "cummin"))  # several, though the parser prints one
_NO_NONE = frozenset(("squeeze", "squeeze_", "logsumexp", *(f"fft_{n}fft2" for n in ("", "i", "r", "ir", "h", "ih"))))  # whose dim is asked for

_MAY_BE_NONE = frozenset(("batch_norm", "instance_norm"))  # whose further tensors have no defaults and may be None


class Param(NamedTuple):
    """One parameter as the parser prints it."""

    word: str
    name: str
    default: str | None
    kw_only: bool


class Signature:
    """The text that messages show, and the parameters in it, which are read when they are asked for."""

    def __init__(self, text):
        self.text = text

    @functools.cached_property
    def params(self):
        return _read(self.text)

    @property
    def least(self):
        return sum(p.default is None for p in self.params)

    @property
    def positional(self):
        return sum(not p.kw_only for p in self.params)


def _read(text):
    """The parameters of ``(Tensor input, *, int dim = 0)``."""
    params, kw_only = [], False
    for part in re.split(r", (?![^\[]*\])", text[1:-1]) if text != "()" else ():
        if part == "*":
            kw_only = True
            continue
        head, _, default = part.partition(" = ")
        word, _, name = head.rpartition(" ")
        params.append(Param(word, name, default or None, kw_only))
    return tuple(params)


@functools.cache
def _table():
    out, entry = {}, None
    for line in importlib.resources.files(__package__).joinpath("signatures.txt").read_text().splitlines():
        if line.startswith(" "):
            entry[2].append(Signature(line[1:]))
        elif not line.startswith("#"):
            path, name, kind = line.split()
            entry = out[path] = (name, kind == "+", [])
    return out


def known(path):
    """(name, whether there are several, signatures) of a public path, or None."""
    return _table().get(path)


# What fits a parameter

def _is_int(x):
    if isinstance(x, (bool, np.bool_)):
        return False
    return isinstance(x, (int, np.integer)) or (isinstance(x, Tensor) and x.dtype.category == dtypes.INT and x.numel() == 1)


def _is_listed(x):
    return _is_int(x) or is_index_array(x)


def _is_number(x):
    return isinstance(x, (numbers.Number, np.number, np.bool_)) or (isinstance(x, Tensor) and x.ndim == 0 and not x._tl_needs)


def _is_ints(x, name):
    if isinstance(x, (list, tuple)):
        return not x or _is_listed(x[0])
    return name in _ONE_INT and _is_listed(x)


_FITS = {
    "Tensor": lambda x, n: isinstance(x, Tensor),
    "int": lambda x, n: _is_int(x) and not (n in PLACES and isinstance(x, Tensor) and x.ndim),
    "bool": lambda x, n: isinstance(x, bool),
    "Number": lambda x, n: _is_number(x), "float": lambda x, n: _is_number(x) and not isinstance(x, complex), "tuple of ints": _is_ints,
    "torch.Generator": lambda x, n: isinstance(x, Generator), "str": lambda x, n: isinstance(x, str),
    "torch.dtype": lambda x, n: isinstance(x, dtypes.dtype) or any(x is t for t in (float, int, bool, complex)),
    "torch.device": lambda x, n: isinstance(x, (devices.device, str)) or _is_int(x), "torch.layout": lambda x, n: isinstance(x, layouts.layout),
    "torch.memory_format": lambda x, n: isinstance(x, layouts.memory_format),
    "tuple of Tensors": lambda x, n: isinstance(x, (list, tuple)) and all(isinstance(t, Tensor) for t in x),
    "tuple of floats": lambda x, n: isinstance(x, (list, tuple)) and all(_is_number(t) for t in x),
    "tuple of Scalars": lambda x, n: isinstance(x, (list, tuple)) and all(_is_number(t) for t in x),
    "torch.Storage": lambda x, n: type(x).__name__.endswith("Storage"),
}


def _fits(p, x, name):
    # every generator may be None, also one that is written without a default
    if x is None and (p.default == "None" or p.word == "torch.Generator" or (p.word == "tuple of ints" and p.name == "dim" and name not in _NO_NONE)
                      or (name, p.name) == ("random_", "to") or (p.word == "Tensor" and p.name != "input" and name in _MAY_BE_NONE)):
        return True
    if p.name in _NO_ONE_INT.get(name, ()) and not isinstance(x, (list, tuple)):
        return False
    if p.word == "Tensor" and name in _WITH_NUMBERS and p.name in ("other", "out") and isinstance(x, numbers.Number):
        return True
    if p.name == "out" and name in _OUT_LISTS and isinstance(x, (list, tuple)):
        return True
    test = _FITS.get(p.word)
    return test is None or test(x, p.name)


def type_name(x):
    """The name of an object's type as CPython's C API gives it."""
    t = type(x)
    if t.__module__.partition(".")[0] in (__package__.partition(".")[0], "torch"):
        return {"dtype": "torch.dtype", "device": "torch.device", "layout": "torch.layout", "memory_format": "torch.memory_format",
                "Size": "torch.Size"}.get(t.__name__, "type" if isinstance(x, type) else t.__name__)
    return f"{t.__module__}.{t.__name__}" if t.__module__ in ("numpy", "decimal", "collections") else t.__name__


# One signature

def refusal(name, sig, args, kwargs):
    """The TypeError of one signature, or None where it takes the call."""
    spread = sig.positional == 1 and sig.params[0].word == "tuple of ints"
    if len(args) > sig.positional and not spread:
        return _too_many(name, sig, args)
    place, left = 0, len(kwargs)
    for k, p in enumerate(sig.params):
        given = place < len(args)
        if given and p.kw_only:
            return _too_many(name, sig, args)
        key = None if given else next((n for n in (p.name, *_NUMPY_NAMES.get(p.name, ())) if n in kwargs), None)
        if not given and key is None:
            if p.default is None and p.word != "torch.Generator":
                return _missing(name, sig.params[k:])
            continue
        x = args[place] if given else kwargs[key]
        if spread and place == 0 and given and _is_listed(x):
            place = len(args)
            continue
        if not _fits(p, x, name):
            return _too_many(name, sig, args) if spread and given and len(args) > 1 else _wrong(name, p, x, place if given else None)
        if given:
            place += 1
        else:
            left -= 1
    if place < len(args):
        return _too_many(name, sig, args)
    return _unexpected(name, sig, len(args), kwargs) if left > 0 else None


def _too_many(name, sig, args):
    n, least, most = len(args), sig.least, sig.positional
    if least != most:
        return TypeError(f"{name}() takes from {least} to {most} positional arguments but {n} were given")
    return TypeError(f"{name}() takes {most} positional argument{'' if most == 1 else 's'} but {n} {'was' if n == 1 else 'were'} given")


def _missing(name, params):
    names = [f'"{p.name}"' for p in params if p.default is None]
    return TypeError(f"{name}() missing {len(names)} required positional argument{'s' if len(names) == 1 else ''}: {', '.join(names)}")


def _wrong(name, p, x, place):
    at = "" if place is None else f" (position {place + 1})"
    if p.word == "tuple of ints" and place is not None and isinstance(x, (list, tuple)) and x:  # of a keyword the list alone is named
        return TypeError(f"{name}(): argument '{p.name}'{at} must be tuple of ints, but found element of type {type_name(x[0])} at pos 0")
    if p.word == "tuple of Tensors" and isinstance(x, (list, tuple)):
        i = next(i for i, t in enumerate(x) if not isinstance(t, Tensor))
        return TypeError(f"expected Tensor as element {i} in argument {place or 0}, but got {type_name(x[i])}")
    return TypeError(f"{name}(): argument '{p.name}'{at} must be {p.word}, not {type_name(x)}")


def _unexpected(name, sig, given, kwargs):
    names = [p.name for p in sig.params]
    for k in kwargs:
        if k not in names:
            return TypeError(f"{name}() got an unexpected keyword argument '{k}'")
        if names.index(k) < given:
            return TypeError(f"{name}() got multiple values for argument '{k}'")
    return TypeError(f"{name}() got multiple values for argument '{next(iter(kwargs))}'")


# Several

def _unpacked(name, sig, args, kwargs):
    """The error of a signature that takes a call, at its lists of ints: all numbers but the first are looked at only when the signature is chosen."""
    for p, x in _bound(sig, args, kwargs):
        if p.word != "tuple of ints" or not isinstance(x, (list, tuple)):
            continue
        for i, n in enumerate(x):
            if not isinstance(n, (bool, np.bool_)) and not _is_listed(n):
                wrong = f'type must be tuple of ints,but got {type_name(n)}"'
            elif isinstance(n, int) and not is_long(n):
                wrong = OVERFLOW
            else:
                continue
            return errors.not_unpacked(name, p.name, i, wrong)
    return None


def _bound(sig, args, kwargs):
    """(parameter, argument) of a call that a signature takes; ints given one by one as a list."""
    if sig.positional == 1 and sig.params[0].word == "tuple of ints" and args and _is_listed(args[0]):
        args = (args,)
    return [*zip(sig.params, args), *((p, kwargs[p.name]) for p in sig.params[len(args):] if p.name in kwargs)]


def complaint(name, several, signatures, args, kwargs, method=False):
    """torch's TypeError for a call, or None where a signature takes it."""
    if method and all(s.text == "()" for s in signatures) and (args or kwargs):
        given = "keyword arguments" if kwargs else f"arguments ({len(args)} given)"
        return TypeError(f"TensorBase.{name}() takes no {given}")
    if not several:
        return refusal(name, signatures[0], args, kwargs) or _unpacked(name, signatures[0], args, kwargs)
    for s in signatures:
        error = refusal(name, s, args, kwargs)
        if error is None:
            return _unpacked(name, s, args, kwargs)
        if error.args[0].startswith("expected Tensor as element"):
            return error  # a list that is to hold tensors ends the search
    n = len(args) + len(kwargs)
    plausible = [s for s in signatures if s.least <= n <= len(s.params)]
    if len(plausible) == 1:
        return refusal(name, plausible[0], args, kwargs)
    got = ", ".join([type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in reversed(kwargs.items())]) + (", " if kwargs and not args else "")
    if len(signatures) == 1:
        wrong = _unmatched(signatures[0], args, kwargs)[0]
        got = f"unrecognized keyword arguments: {', '.join(wrong)}" if wrong else f"({got}), but expected {signatures[0].text}"
        return TypeError(f"{name}() received an invalid combination of arguments - got {got}")
    lines = "".join(f" * {s.text}\n{_mismatch(s, args, kwargs)}" for s in signatures)
    return TypeError(f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:\n{lines}")


def _unmatched(sig, args, kwargs):
    """(keywords that the listing does not find, its pairs of a type and a name, how many arguments it expects)."""
    shown = [part.rpartition(" ")[::2] for part in sig.text[1:-1].split(", ")]
    expected = len(shown)
    start = max(expected - len(kwargs), 0)
    return [k for k in reversed(kwargs) if k not in [name for _, name in shown[start:]]], shown, expected


def _mismatch(sig, args, kwargs):
    """What the listing says below a signature that takes as many arguments; like torch's it reads a default as the parameter's name."""
    wrong, shown, expected = _unmatched(sig, args, kwargs)
    if len(args) + len(kwargs) != expected:
        return ""
    if wrong:
        return f"      didn't match because some of the keywords were incorrect: {', '.join(wrong)}\n"
    words = [_marked(x, shown[k][0], "") for k, x in enumerate(args)]
    words += [_marked(kwargs[name], word, f"{name}=") for word, name in shown[len(args):] if name in kwargs]
    return f"      didn't match because some of the arguments have invalid types: ({', '.join(words)}{'' if args else ', '})\n"


def _marked(x, word, prefix):
    text = type_name(x)
    fits = text in {"float": ("float", "int")}.get(word, (word,))
    if isinstance(x, (list, tuple)):
        inner = ", ".join(type_name(i) for i in x) + ("," if type(x) is tuple and len(x) == 1 else "")
        text = f"{text} of ({inner})" if isinstance(x, tuple) else f"{text} of [{inner}]"
    return f"{prefix}{text}" if fits else f"!{prefix}{text}!"


def respelled(path, f, kwargs):
    """The arguments with NumPy's spellings (axis, keepdims, x1, ...) in torch's, where its parser takes them and `f` does not; None where there are none."""
    found = known(path)
    if found is None or path is None or path.startswith("torch.nn.functional."):
        return None
    return respelled_by({p.name for s in found[2] for p in s.params}, f, kwargs)


def respelled_by(theirs, f, kwargs):
    """The same, where the names of torch's parameters are known."""
    own = _parameters(f)
    names = {spelled: name for name, others in _NUMPY_NAMES.items() if name in theirs for spelled in others}
    out = {}
    for k, x in kwargs.items():
        name = names.get(k) if k not in own else None
        out["self" if name == "input" and "input" not in own else name or k] = x
    return out if len(out) == len(kwargs) and out.keys() != kwargs.keys() else None


@functools.cache
def _parameters(f):
    return frozenset(inspect.signature(f).parameters)


def kind_of(x, deep=3):
    """The type of an argument, None for an int of more than 64 bits; of a list also the types of what it holds, as deep as any signature asks."""
    t = type(x)
    if t is int:
        return t if -(1 << 63) <= x < 1 << 63 else None
    if t not in (list, tuple) or not x or not deep:
        return t
    kinds = [kind_of(y, deep - 1) for y in x]
    return t, kinds[0], frozenset(kinds)


def explaining(path, f):
    """`f` with torch's words for the calls that torch's parser refuses; open to `__torch_function__` from `overriding.activate` on."""

    method = path.startswith("Tensor.") and not overriding.in_python(path)
    seen = set()  # types of arguments that torch's parser takes: a call of a kind is compared with the signatures once

    @functools.wraps(f)
    def function(*args, **kwargs):
        kind = (*map(type, args), *kwargs, *map(type, kwargs.values())) if kwargs else (*map(type, args),)
        if int in kind or tuple in kind or list in kind:
            kind = (*map(kind_of, args), *kwargs, *map(kind_of, kwargs.values()))
        if kind not in seen and method and not (args and isinstance(args[0], Tensor)):
            done, out = overriding.foreign_call(function, body, args, kwargs, path)
            if done:
                return out
            raise errors.unbound(function.__name__, args)
        if kind not in seen and path not in _AFTERWARDS and not (kwargs and any(k in kwargs for k in _UNPRINTED.get(path, ()))):
            error = explained(path, args, kwargs)
            if error is None:
                changed = unpacked(path, args, kwargs)
                if changed is None and len(seen) < 256 and None not in kind:
                    seen.add(kind)
                args, kwargs = changed or (args, kwargs)
            else:
                done, out = overriding.foreign_call(function, body, args, kwargs, path)
                if done:
                    return out
                raise error
        try:
            return f(*args, **kwargs)
        except (TypeError, AttributeError, RuntimeError, ValueError, IndexError) as refused:
            if not isinstance(refused, (TypeError, AttributeError)) and not any(isinstance(a, np.ndarray) for a in args):
                raise
            done, out = overriding.foreign_call(function, body, args, kwargs, path)
            spelled = None if done or not kwargs else respelled(path, body, kwargs)
            error = None if done or spelled is not None else explained(path, args, kwargs)
            again = (args, spelled) if spelled is not None else None if done or error is not None else unpacked(path, args, kwargs)
            if error is None and again is None and not done:
                raise
        if done:
            return out
        if again is None:
            raise error
        try:
            return f(*again[0], **again[1])
        except (TypeError, AttributeError):
            error = explained(path, args, kwargs)
            if error is None:
                raise
        raise error

    def look():
        nonlocal f
        f = overriding.checking(f, function, path)

    body = f
    parts = path.split(".")
    function.__name__ = "_".join(parts[-2:]) if parts[-2] in ("linalg", "fft", "special") else parts[-1]
    overriding.WAITING.append(look)
    overriding.named(function, f"torch.{path}" if path.startswith("Tensor.") else path)
    return function


def unpacked(path, args, kwargs):
    """(args, kwargs) of a call that the parser takes, with Python numbers where a tensor or a number of NumPy's stands for one; None where there is none."""
    path = METHOD_OF.get(path, path)
    name, _, signatures = known(path)
    first = path.startswith("Tensor.")
    sig = next((s for s in signatures if refusal(name, s, args[first:], kwargs) is None), None)
    if sig is None:
        return None
    names = {p.name: p.word for p in sig.params}
    words = [p.word for p in sig.params]
    spread = sig.positional == 1 and words[0] == "tuple of ints"
    words += [words[0] if spread else None] * len(args)
    out = [*args[:first], *(_plain_number(x, "int" if spread and not isinstance(x, (list, tuple)) else w) for x, w in zip(args[first:], words))]
    named = {k: _plain_number(x, names.get(k)) for k, x in kwargs.items()}
    same = all(x is y for x, y in zip(args, out)) and all(x is named[k] for k, x in kwargs.items())
    return None if same else (tuple(out), named)


def _plain_number(x, word):
    """A Python number for an argument of the parser's kind `word`, otherwise `x`."""
    if word == "int" and type(x) is not int and x is not None:
        x = int(operator.index(x))
    elif word == "float" and isinstance(x, Tensor):
        return x.item()
    elif word == "float" and type(x) is int and not is_long(x):
        return float(x)
    elif word == "Number" and type(x) is int and not -(1 << 63) <= x < 1 << 64:
        raise errors.too_big(x)
    elif word == "tuple of ints":
        if not isinstance(x, (list, tuple)):
            return _plain_number(x, "int")
        if not all(type(n) is int for n in x):
            return type(x)([_plain_number(n, "int") for n in x]) if type(x) in (list, tuple) else x
    return as_long(x) if word == "int" and x is not None else x


def int_dim(name, dim):
    """A dim of `size` or `stride` as an int."""
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    return dim.__index__()


def no_tensor(name, out):
    """The TypeError for an `out` that is none."""
    return TypeError(f"{name}(): argument 'out' must be Tensor, not {type_name(out)}")


def outs_of(name, op, out):
    """The tensors given as ``out=``, one for each result."""
    n = len(op.schema.returns)
    if op.schema.returns[0].kind.endswith("[]"):
        return tuple(out)
    if not op.multi:
        if isinstance(out, Tensor):
            return (out,)
        if name in _WITH_NUMBERS and isinstance(out, (int, float, complex)):  # torch's parser makes a tensor of a number wherever these functions take one
            out = np.asarray(out)
            return (from_array(out, dtypes.from_numpy_dtype(out.dtype)),)
        raise no_tensor(name, out)
    if not isinstance(out, (list, tuple)) or not all(isinstance(t, Tensor) for t in out):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type_name(out)}")
    if len(out) != n:
        raise TypeError(f"expected tuple of {n} elements but got {len(out)}")
    return tuple(out)


METHOD_OF = {f"torch.nn.functional.{n}": f"Tensor.{n}" for n in ("softmax", "log_softmax")}  # written in Python in terms of these
METHOD_OF.update({f"torch.nn.functional.conv{t}{n}d": f"torch.conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)})  # the same functions


def explained(path, args, kwargs):
    """torch's TypeError for a call of a public path, or None; `args` of a method include the tensor."""
    path = METHOD_OF.get(path, path)
    found = known(path)
    if found is None:
        return None
    method = path.startswith("Tensor.")
    if method and args and not isinstance(args[0], Tensor):
        return TypeError(f"descriptor '{path[7:]}' for 'torch._C.TensorBase' objects doesn't apply to a '{type_name(args[0])}' object")
    return complaint(*found, args[1:] if method else args, kwargs, method)


def check_flags(name, **flags):
    """torch's words for a switch that is no bool."""
    for k, x in flags.items():
        if not isinstance(x, bool):
            raise TypeError(f"{name}(): argument '{k}' must be bool, not {type_name(x)}")


__all__ = ["Signature", "check_flags", "complaint", "explained", "explaining", "int_dim", "kind_of", "known", "outs_of", "refusal", "respelled", "respelled_by",
           "type_name", "unpacked"]
