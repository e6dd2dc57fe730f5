"""What a case sees, turned into plain data that can be stored and compared.

None, bools, ints and strings stand for themselves, lists are lists; everything else is a
dict with one key that names its kind: `tensor`, `array`, `dtype`, `size`, `device`, `tuple`,
`dict`, `set`, `type`, `float` (only nan and infinities), `complex`, `error`.
"""

import math
import re
import warnings

import numpy as np

PACKAGE = "torchlike_autograd"
BASES_LEFT_OUT = {"object", "BaseException"}


class Seen(dict):
    """An observation that is encoded already."""


def words(text):
    """A message as it is stored: no addresses, no places in C++ sources, no overload listings, no advice that Python gives since 3.13."""
    text = text.replace(PACKAGE, "torch")
    text = re.sub(r"0x[0-9a-fA-F]+", "0x", text)
    text = re.sub(r" ?\(Triggered internally at .*?\)$", "", text, flags=re.S)
    text = re.sub(r"(but expected one of:).*", r"\1", text, flags=re.S)
    text = re.sub(r"without an implementation for (abstract methods? .*)", lambda found: "with " + found[1].replace("'", ""), text)  # Python 3.12 and later
    text = re.sub(r"(unexpected keyword argument '\w+')\. Did you mean '\w+'\?$", r"\1", text)
    return text.removesuffix(" and no __dict__ for setting new attributes").strip()


def error(exception):
    """An exception: the classes that catch it, most special first, and its message."""
    chain = [c.__name__ for c in type(exception).__mro__ if c.__name__ not in BASES_LEFT_OUT]
    return Seen(error={"class": chain, "message": words(str(exception))})


def raises(fn):
    """The exception that `fn()` raises, or the words "no error"."""
    found = attempt(fn)
    return found if isinstance(found, Seen) else "no error"


def attempt(fn):
    """What `fn()` returns, or the exception that it raises: at once, or when the result is looked at."""
    try:
        found = fn()
        look(found)
        return found
    except Exception as exception:
        return error(exception)


def look(found):
    """Read the data of a result: a check that waits for the data raises here at the latest."""
    if isinstance(found, (tuple, list)):
        for part in found:
            look(part)
    elif hasattr(found, "detach") and hasattr(found, "tolist"):
        values(found)


def warned(fn):
    """The warnings that `fn()` gives, each as (category, message)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fn()
    return [(w.category.__name__, words(str(w.message))) for w in caught]


def encode(torch, value):
    """One observation as plain data."""
    if value is None or isinstance(value, (bool, int, str, Seen)):
        return words(value) if isinstance(value, str) else value
    if isinstance(value, (float, complex)):
        return number(value)
    if isinstance(value, torch.Tensor):
        return {"tensor": tensor(value)}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch.Size):
        return {"size": [int(n) for n in value]}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    return container(torch, value)


def container(torch, value):
    if isinstance(value, (np.ndarray, np.generic)):
        flat = [number(v) for v in value.reshape(-1).tolist()]
        return {"array": {"dtype": str(value.dtype), "shape": list(value.shape), "values": flat}}
    if isinstance(value, type):
        return {"type": value.__name__}
    if isinstance(value, list):
        return [encode(torch, v) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(torch, v) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(torch, k), encode(torch, v)] for k, v in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"set": sorted((encode(torch, v) for v in value), key=repr)}
    raise TypeError(f"a case yielded {type(value).__name__}, which is not plain data")


def tensor(value):
    """dtype, shape, values and requires_grad; the class where it is not plain Tensor."""
    flat = values(value)
    seen = {
        "dtype": str(value.dtype).removeprefix("torch."),
        "shape": [int(n) for n in value.shape],
        "values": [number(v) for v in flat],
        "requires_grad": value.requires_grad,
    }
    if type(value).__name__ != "Tensor":
        seen["class"] = type(value).__name__
    return seen


def values(found):
    """The elements of a tensor as a flat list."""
    plain = found.detach()
    if getattr(plain, "_is_zerotensor", bool)():
        plain = plain.clone()                    # torch 2.13: only a clone of a ZeroTensor has values
    return flatten(plain.tolist())


def flatten(nested):
    """Nested lists, or one number, as a flat list."""
    return [w for v in nested for w in flatten(v)] if isinstance(nested, list) else [nested]


def number(value):
    if isinstance(value, complex):
        return {"complex": [number(value.real), number(value.imag)]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value
