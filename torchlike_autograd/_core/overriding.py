"""`__torch_function__`: calls handed to their arguments (layer 6).

Plain tensors never come here.  A function of the op table remembers calls by the types of their arguments; a type that overrides is never remembered, so
its calls reach `Recipes.find`, which asks here.  Functions written in Python hold the body that they call in a cell of their own: it is exchanged for one
that asks here when a class overrides for the first time (`activate`).  A subclass of Tensor gets its own methods and properties when it is made
(`overriding_methods.py`), which dispatch.  Objects that are no tensors are looked for where a call would fail.

A mode (`torch.overrides.TorchFunctionMode`) sees the calls of plain tensors too: what is remembered is forgotten while one is entered.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from types import FunctionType

from .._tensor import Tensor
from .hot import PLAIN
from .numeric import say_once
from .saying import warn

ACTIVE: list = []  # not empty from the moment on when some class may override
MODES: list = []  # one entry for every mode that some thread has entered
WAITING: list = []  # what `activate` calls
SHOWN: dict = {}  # {function written in Python: what is published in its place} (built_in.py)
PATHS: dict = {}  # {id of a public function: its dotted path}; `named` writes it
NAMED: dict = {}  # {id: the function}
REROUTE: dict = {}  # {function published as it is: its path}
GUARDED: dict = {}  # {one of these that asks where it fails: (its own body, the code that asks)}
RELEVANT: dict = {}  # {function: (how many arguments by position are asked, which by keyword, which by keyword nobody is told of)}, where it is not all
SPREAD: dict = {}  # {path of a function: f(args), the arguments by position as it tells them}, where it calls itself with others before it asks
FORGET: list = []  # tables to be emptied when a mode is entered


class _Here(threading.local):
    off = 0  # contexts that switch subclasses off
    all_off = 0  # contexts that switch modes off too
    modes = ()


here = _Here()


class Overridden(Exception):
    """Not an error: the result of a call that was handed over, on its way out."""

    def __init__(self, result):
        super().__init__()
        self.result = result


class _Disabled:
    """What a class names as its `__torch_function__` to override nothing: results are plain tensors."""

    __name__ = "_disabled_torch_function_impl"

    def __call__(self, func, types, args=(), kwargs=None):
        with Off():
            return func(*args, **(kwargs or {}))


disabled_impl = _Disabled()


class Off:
    """A context in which subclasses and other objects are not asked; modes are, unless `modes` is True."""

    def __init__(self, modes=False):
        self._modes = modes

    def __enter__(self):
        here.off += 1
        here.all_off += self._modes
        return self

    def __exit__(self, *exc):
        here.off -= 1
        here.all_off -= self._modes
        return False


class On:
    """The reverse, inside of such contexts; from its making on, or as a context."""

    def __init__(self):
        self._before = here.off, here.all_off
        here.off = here.all_off = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self._before is not None:
            here.off, here.all_off = self._before
            self._before = None

    __del__ = __exit__


def named(f, path):
    """Remember the path of a public function.  It is held: the id of a function that is gone becomes that of another one, which would pass for it."""
    PATHS[id(f)] = path
    NAMED[id(f)] = f


def overrides(kind):
    """Whether objects of a class are asked."""
    if kind in PLAIN:
        return False
    f = getattr(kind, "__torch_function__", None)
    return f is not None and f is not disabled_impl


def activate():
    """From now on functions written in Python look at their arguments."""
    if not ACTIVE:
        ACTIVE.append(True)
        for change in WAITING:
            change()
        WAITING.clear()
        for f, path in REROUTE.items():
            body, guard = GUARDED.pop(f, (None, None))
            if f.__code__ is guard:  # else somebody stands before it, who stays
                f.__code__ = body.__code__
                del f.__wrapped__, f.__signature__
            reroute(f, path)


def arguments(args, kwargs):
    """The arguments of a call, those within lists and tuples too, but for tuples of classes that have a `__torch_function__`."""
    for x in (*args, *kwargs.values()):
        if isinstance(x, (list, tuple)) and (type(x) in (list, tuple) or not overrides(type(x))):
            yield from x
        else:
            yield x


def found_in(relevant):
    """Objects to ask, one of each class: subclasses before their parents, otherwise from left to right."""
    out = []
    for x in relevant:
        kind = type(x)
        if overrides(kind) and all(type(y) is not kind for y in out):
            at = next((i for i, y in enumerate(out) if issubclass(kind, type(y))), len(out))
            out.insert(at, x)
    return out


def _say_plain(parsed):
    """torch's warning of a `__torch_function__` that is no classmethod: once where its parser asks, always where Python does."""
    if parsed:
        say_once("Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, please define it as a classmethod. "
                 "(Triggered internally at /pytorch/torch/csrc/utils/python_arg_parser.cpp:359.)")
    else:
        warn("Defining your `__torch_function__ as a plain method is deprecated and will be an error in future, please define it as a classmethod.",
             DeprecationWarning)


def ask(func, found, types, args, kwargs, parsed=True):
    """The answer of the innermost mode or of the first object that has one; NotImplemented without one."""
    func = SHOWN.get(func, func)
    if here.modes and not here.all_off:
        mode, outer = here.modes[-1], here.modes
        if getattr(mode.__torch_function__, "__self__", None) is type(mode):
            raise RuntimeError("Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain method")
        here.modes = outer[:-1]
        try:
            out = mode.__torch_function__(func, types, args, kwargs)
        finally:
            here.modes = outer
        if out is not NotImplemented:
            return out
    for x in found:
        method = x.__torch_function__
        if getattr(method, "__self__", None) is x:
            _say_plain(parsed)
        out = method(func, types, args, kwargs)
        if out is not NotImplemented:
            return out
    return NotImplemented


def asked(func, args, kwargs, path=None, told=None, bare=None):
    """(whether somebody was asked, the answer) of a call of torch's parser; TypeError where all decline.

    told: its arguments if they are not `args`; bare: what is told in the place of no arguments by keyword.
    """
    modes = here.modes and not here.all_off
    found = [] if here.off else found_in(arguments(args, kwargs))
    if not found and not modes:
        return False, None
    out = ask(func, found, tuple(type(x) for x in found), told or args, kwargs or bare)
    if out is NotImplemented:
        lines = "".join(f"  - mode object {m}\n" for m in (here.modes[-1:] if modes else ())) + "".join(f"  - tensor subclass {type(x)}\n" for x in found)
        raise TypeError(f"Multiple dispatch failed for '{path or name_of(func)}'; all __torch_function__ handlers returned NotImplemented:\n\n{lines}\n"
                        "For more information, try re-running with TORCH_LOGS=not_implemented")
    return True, out


def name_of(func):
    """The dotted name of a public function."""
    return PATHS.get(id(func)) or f"{getattr(func, '__module__', 'torch')}.{getattr(func, '__name__', func)}"


# Functions of the op table

def checked_find(public, args, kwargs):
    """Raises `Overridden` where a call of a function of the op table is handed over."""
    done, out = asked(public, args, kwargs)
    if done:
        raise Overridden(out)


def with_foreign(public, args, kwargs):
    """As `checked_find`, for a call that failed: whether an object that is no tensor wants it."""
    if not here.off and any(not isinstance(x, Tensor) and overrides(type(x)) for x in arguments(args, kwargs)):
        activate()
        checked_find(public, args, kwargs)


# What the methods behind Python's operators are told as, where it is not as themselves, and those that torch writes in Python.
OPERATORS = {"__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
             "__mod__": "remainder", "__matmul__": "matmul", "__neg__": "neg", "__abs__": "abs", "__pos__": "positive", "__lt__": "lt", "__le__": "le",
             "__gt__": "gt", "__ge__": "ge", "__ne__": "ne", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_",
             "__imod__": "remainder_", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__rtruediv__": "__rdiv__",
             "__ifloordiv__": "floor_divide_"}
OPERATORS_IN_PYTHON = frozenset(("__rsub__", "__rtruediv__", "__floordiv__", "__rfloordiv__", "__rmod__", "__pow__", "__ipow__", "__rpow__",
                                  "__rmatmul__", "__rlshift__", "__rrshift__"))


def asked_operator(name, pair):
    """(whether somebody was asked, the answer) for one of Python's operators on two operands: NotImplemented where all decline."""
    modes = here.modes and not here.all_off
    if not modes and (here.off or not any(overrides(type(x)) for x in pair)):
        return False, NotImplemented
    activate()
    named = OPERATORS.get(name, name)
    alone = name == "__eq__" and overrides(type(pair[0]))
    if name == "__eq__" and not alone and overrides(type(pair[1])):
        named = "eq"
    func = getattr(Tensor, named)
    if name in OPERATORS_IN_PYTHON:
        try:
            return True, hand_over(func, [x for x in pair if isinstance(x, Tensor) or overrides(type(x))], pair, {})
        except TypeError:
            return True, NotImplemented
    found = [] if here.off else found_in(pair[:1] if alone else pair)
    return True, ask(func, found, tuple(type(x) for x in found), pair, None)


def other_operand(name, pair):
    """The answer of an operand that is no tensor, NotImplemented where it does not override."""
    return NotImplemented if here.off or not overrides(type(pair[1])) else asked_operator(name, pair)[1]


# Functions written in Python

def python_call(public, body, args, kwargs):
    """(whether somebody was asked, the answer) for a function that torch writes in Python: types of plain tensors are told, defaults are keywords."""
    modes = here.modes and not here.all_off
    if not modes and (here.off or not any(overrides(type(x)) for x in arguments(args, kwargs))):
        return False, None
    said = RELEVANT.get(public)
    args, kwargs = normal(body, args, kwargs)
    args = SPREAD.get(PATHS.get(id(public)), tuple)(args)
    relevant = arguments(args, kwargs) if said is None else arguments(args[:said[0]], {k: kwargs.get(k) for k in said[1]})
    relevant = [x for x in relevant if isinstance(x, Tensor) or overrides(type(x))]
    if said is not None:
        kwargs = {k: x for k, x in kwargs.items() if k not in said[2]}
        if not modes and not any(overrides(type(x)) for x in relevant):
            return False, None
    return True, hand_over(public, relevant, args, kwargs)


def hand_over(public, relevant, args, kwargs):
    """The answer of a mode or of the relevant arguments, whose types are all told but for those that are never asked; TypeError where all decline."""
    types, found = [], []
    for x in () if here.off else relevant:
        if getattr(type(x), "__torch_function__", disabled_impl) is not disabled_impl and type(x) not in types:
            at = next((i for i, y in enumerate(types) if issubclass(type(x), y)), len(types))
            types.insert(at, type(x))
            found.insert(at, x)
    out = ask(public, [x for x in found if overrides(type(x))], tuple(types), args, kwargs, parsed=False)
    if out is NotImplemented:
        raise TypeError(f"no implementation found for '{name_of(public)}' on types that implement __torch_function__: {types}")
    return out


def path_in(cls, f, prefix):
    """The dotted name of what a class holds, or None."""
    return next((f"{prefix}.{name}" for c in cls.__mro__ for name, x in vars(c).items() if x is f or getattr(x, "own", None) is f), None)


def normal(body, args, kwargs):
    """The arguments of a call with what has a default by keyword."""
    try:
        bound = inspect.signature(body).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs
    bound.apply_defaults()
    first, rest = [], {}
    for p in bound.signature.parameters.values():
        x = bound.arguments[p.name]
        if p.kind is p.VAR_POSITIONAL:
            first.extend(x)
        elif p.kind is p.VAR_KEYWORD:
            rest.update(x)
        elif p.default is p.empty and p.kind is not p.KEYWORD_ONLY:
            first.append(x)
        else:
            rest[p.name] = x
    return tuple(first), rest


def checking(body, public, path):
    """`body` behind a look at its arguments; `public` is what is told."""
    if path in NOT_ASKED:
        return quietly(body) if path not in _MODES_ALONE else _told_to_modes(quietly(body), public)
    python = in_python(path)

    @functools.wraps(body)
    def checked(*args, **kwargs):
        done, out = python_call(public, body, args, kwargs) if python else asked(public, args, kwargs)
        return out if done else body(*args, **kwargs)

    return checked


_LINE = sys._getframe().f_lineno  # of this line: the text below keeps its numbers, which tracebacks show
_TEXT = """
    def elsewhere(*args, **kwargs):
        return _checked(*args, **kwargs)

    def guard(*args, **kwargs):
        try:
            return _body(*args, **kwargs)
        except Exception:
            done, out = _wanted(args, kwargs)
            if not done:
                raise
        return out
"""


@functools.cache
def _templates(n):
    """{name: code} of the two functions above with n free variables, for functions whose closures have as many: whoever looks at the variables of a frame, as
    tools that show errors do, finds them where the code says."""
    names = [f"free{i}" for i in range(n)]
    use = "".join(f"; {name}" for name in names)  # never reached, and part of the closure all the same
    text = _TEXT.replace("(*args, **kwargs)\n\n", f"(*args, **kwargs){use}\n\n").replace("return out", f"return out{use}")
    space: dict = {}
    exec(compile("\n" * (_LINE - 1) + f"def make({', '.join(names)}):\n{text}    return elsewhere, guard", __file__, "exec"), space)
    return {f.__name__: f.__code__ for f in space["make"](*names)}


def _template(which, f, names):
    """The code of one of them for a function, with other names for what it calls."""
    code = _templates(len(f.__code__.co_freevars))[which]
    return code.replace(co_names=tuple(names.get(n, n) for n in code.co_names), co_name=f.__name__, co_freevars=f.__code__.co_freevars)


def copied(f):
    """Another function with the code and the names of this one."""
    out = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    out.__kwdefaults__, out.__doc__, out.__module__, out.__qualname__ = f.__kwdefaults__, f.__doc__, f.__module__, f.__qualname__
    if "__signature__" in f.__dict__:  # its code may be what stands before another's already
        out.__signature__ = f.__signature__
    return out


def swapped_code(f, name, make):
    """Code for a function `f` that calls ``make(body)``, `body` being the function as it is now; it takes what it is given and has no use for
    the defaults of `f`."""
    body = copied(f)
    f.__globals__[name] = make(body)
    f.__signature__ = inspect.signature(f)
    return _template("elsewhere", f, {"_checked": name})


def rerouted(f, path):
    """Let a function published as it is look at its arguments from `activate` on, and until then where a call of it fails: an object that is no tensor says
    nothing of itself before, as its class is no subclass of Tensor."""
    if f in REROUTE or path in UNTOLD or PATHS.get(id(f)) in UNTOLD:
        return
    REROUTE[f] = path
    if ACTIVE or path.startswith(("Tensor.", "torch.ops.")) or not (f.__code__.co_argcount or f.__code__.co_flags & inspect.CO_VARARGS):
        return
    body, names = copied(f), {"_body": f"_body_{path.replace('.', '_')}", "_wanted": f"_wanted_{path.replace('.', '_')}"}
    f.__globals__[names["_body"]] = body
    f.__globals__[names["_wanted"]] = lambda args, kwargs: foreign_call(f, body, args, kwargs, path)
    f.__code__ = _template("guard", f, names)
    f.__signature__ = inspect.signature(body)  # its defaults stay too: this code has no use for them
    f.__wrapped__, GUARDED[f] = body, (body, f.__code__)


def reroute(f, path):
    """Let a function look at its arguments first wherever it is already known by name: it gets other code, which calls the old one behind a look."""
    f.__code__ = swapped_code(f, f"_checked_{path.replace('.', '_')}", lambda body: checking(body, f, path))


# What nobody is told of: PyTorch neither parses the arguments of these nor looks at them.
UNTOLD = frozenset([f"torch.{name}" for name in (
    "broadcast_shapes", "frombuffer", "get_default_device", "get_default_dtype", "get_rng_state", "initial_seed", "is_warn_always_enabled", "manual_seed",
    "seed", "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_rng_state", "set_warn_always")] + ["Tensor._make_subclass"])
NOT_ASKED = frozenset(("torch.tensor", "torch.as_tensor", "torch.is_tensor", "torch.is_storage", "torch.from_numpy", "Tensor.as_subclass", "torch.asarray"))


_MODES_ALONE = frozenset(("torch.tensor", "torch.as_tensor", "torch.asarray"))  # subclasses are not asked, modes are


def _told_to_modes(body, public):
    @functools.wraps(body)
    def checked(*args, **kwargs):
        if here.modes and not here.all_off:
            out = ask(public, [], (), args, kwargs or None)
            if out is not NotImplemented:
                return out
        return body(*args, **kwargs)

    return checked


def quietly(body):
    """`body` with nobody asked within."""

    @functools.wraps(body)
    def quiet(*args, **kwargs):
        with Off():
            return body(*args, **kwargs)

    return quiet


def foreign_call(public, body, args, kwargs, path):
    """As `with_foreign`, for a function written in Python: (whether somebody was asked, the answer)."""
    if here.off or path in NOT_ASKED or not any(not isinstance(x, Tensor) and overrides(type(x)) for x in arguments(args, kwargs)):
        return False, None
    activate()
    return python_call(public, body, args, kwargs) if in_python(path) else asked(public, args, kwargs)


_PYTHON = frozenset([
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "meshgrid", "norm",
    "split", "stft", "tensordot", "unique", "unique_consecutive", "unravel_index", "istft", "lu", "__repr__", "__len__", "__contains__", "__reversed__",
    "__array__", "__format__"])
_PARSED = frozenset([
    "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear",
    "logsigmoid", "native_channel_shuffle", "one_hot", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_",
    "scaled_dot_product_attention", "selu_", "softplus", "softshrink", "threshold_"])


def in_python(path):
    """Whether torch has a function of this path in Python, not behind its argument parser."""
    where, _, name = path.rpartition(".")
    if where == "torch.nn.functional":
        return name not in _PARSED
    return where == "torch.autograd" or (name in _PYTHON and where in ("torch", "Tensor")) or path == "Tensor.backward"


# Tensor's own answer

def default(cls, func, types, args=(), kwargs=None):
    """`Tensor.__torch_function__`: the call itself, its tensors in this class; NotImplemented beside classes that it is no subclass of."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with Off():
        out = func(*args, **(kwargs or {}))
    return out if func in UNWRAPPED else in_class(out, cls)


UNWRAPPED = set()  # functions whose results stay as they are


def in_class(out, cls):
    """Tensors of a result in a class, unless they are in it."""
    if cls is Tensor:
        return out
    if isinstance(out, Tensor):
        return out if isinstance(out, cls) else Tensor.as_subclass(out, cls)
    if isinstance(out, (tuple, list)) and type(out).__name__ != "Size":
        return type(out)([in_class(x, cls) for x in out])
    return out


Tensor.__torch_function__ = classmethod(default)
