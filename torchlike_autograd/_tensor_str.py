"""How tensors look in print: torch 2.13's ``repr`` of a tensor, from numpy values alone.

Three steps, each a few small functions:

1. ``_corner``  - what is shown: everything, or the edges of a tensor above the threshold;
2. ``_texts``   - how each number is written: one style for all numbers shown, found together;
3. ``_nested``  - where it stands: brackets, wrapped lines, then the notes after the numbers.

Nothing here knows about tensors: the caller passes the values and the facts to be noted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = [
    "PARAMETER_HEADING",
    "PRINT_OPTS",
    "PrintOptions",
    "get_printoptions",
    "printoptions",
    "scalar_format",
    "set_printoptions",
    "tensor_repr",
]

PARAMETER_HEADING = "Parameter containing:\n"


# ---------------------------------------------------------------------------- options


@dataclasses.dataclass
class PrintOptions:
    """The five settings of printing; `sci_mode` None lets the numbers decide."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = PrintOptions()

_PROFILES: dict[str | None, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print; a `profile` is applied first, single settings over it.

    As in torch, `sci_mode` goes back to automatic whenever it is left out, an unknown
    profile changes nothing, and values are not checked until something is printed.
    """
    wanted = dict(_PROFILES.get(profile, {}))
    single = {"precision": precision, "threshold": threshold,
              "edgeitems": edgeitems, "linewidth": linewidth}
    wanted.update((name, value) for name, value in single.items() if value is not None)
    for name, value in wanted.items():
        setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The current settings, in the form that `set_printoptions` takes."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Use other settings inside a ``with`` block."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


# --------------------------------------------------------------------- what is shown


def _cuts(shape: tuple[int, ...]) -> tuple[bool, ...]:
    """Per axis, whether its middle is left out."""
    if math.prod(shape) <= PRINT_OPTS.threshold:
        return (False,) * len(shape)
    return tuple(size > 2 * PRINT_OPTS.edgeitems for size in shape)


def _corner(data: Any, cuts: tuple[bool, ...]) -> np.ndarray:
    """The entries that get printed, and no others: both ends of every cut axis."""
    if not any(cuts):
        return np.asarray(data)
    edge = PRINT_OPTS.edgeitems
    kept = [
        np.concatenate([np.arange(edge), np.arange(size - edge, size)]) if cut else np.arange(size)
        for size, cut in zip(data.shape, cuts, strict=True)
    ]
    return np.asarray(data[np.ix_(*kept)])


# ------------------------------------------------------------ how numbers are written


def _whole(value: float) -> str:
    text = f"{value:.0f}"
    return text + "." if math.isfinite(value) else text


def _float_style(counted: np.ndarray) -> Callable[[float], str]:
    """The notation that all floats share, judged from the `counted` ones."""
    if not counted.size:
        return _whole  # torch 2.13: sci_mode=True leaves tensors of zeros, inf and nan alone
    precision, sci = PRINT_OPTS.precision, PRINT_OPTS.sci_mode
    if sci is None:
        small, large = float(np.abs(counted).min()), float(np.abs(counted).max())
        sci = large / small > 1000.0 or large > 1e8 or small < 1e-4
    if sci:
        return lambda value: f"{value:.{precision}e}"
    if (counted == np.ceil(counted)).all():
        return _whole
    return lambda value: f"{value:.{precision}f}"


def _float_texts(values: np.ndarray) -> tuple[list[str], int]:
    """The numbers as padded texts, and the width they were padded to.

    Zeros, infinities and nans have no say in notation or width, so they may stick out.
    """
    values = values.astype(np.float64).ravel()  # exact for every narrower float
    counts = np.isfinite(values) & (values != 0)
    write = _float_style(values[counts])
    texts = [write(value) for value in values.tolist()]
    width = max((len(texts[i]) for i in np.flatnonzero(counts)), default=1)
    return [text.rjust(width) for text in texts], width


def _complex_texts(values: np.ndarray) -> tuple[list[str], int]:
    """Real and imaginary parts in a style each; only the real part keeps its padding."""
    reals, real_width = _float_texts(values.real)
    imags, imag_width = _float_texts(values.imag)
    bare = (text.lstrip() for text in imags)
    signed = (text if text.startswith("-") else "+" + text for text in bare)
    return [f"{re}{im}j" for re, im in zip(reals, signed, strict=True)], real_width + imag_width + 1


def _integer_texts(values: np.ndarray) -> tuple[list[str], int]:
    texts = [str(value) for value in values.ravel().tolist()]
    width = max(map(len, texts), default=1)
    return [text.rjust(width) for text in texts], width


def _texts(values: np.ndarray, dtype: str) -> tuple[list[str], int]:
    """Every entry of `values` in row-major order as text, and the width of a column."""
    if dtype.startswith("complex"):
        return _complex_texts(values)
    if dtype.startswith(("int", "uint", "bool")):
        return _integer_texts(values)
    return _float_texts(values)


# --------------------------------------------------------------------- where it stands


def _vector(items: list[str], *, indent: int, per_line: int) -> str:
    starts = range(0, len(items), per_line)
    lines = [", ".join(items[start:start + per_line]) for start in starts]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(
    texts: Iterator[str], shape: tuple[int, ...], cuts: tuple[bool, ...],
    *, indent: int, per_line: int,
) -> str:
    """Brackets around the next ``prod(shape)`` of `texts`, dots where an axis was cut."""
    size, inner = shape[0], shape[1:]
    if inner:
        items = [
            _nested(texts, inner, cuts[1:], indent=indent + 1, per_line=per_line)
            for _ in range(size)
        ]
    else:
        items = list(itertools.islice(texts, size))
    if cuts[0]:
        items.insert(size // 2, "..." if inner or not size else " ...")
    if not inner:
        return _vector(items, indent=indent, per_line=per_line)
    return "[" + ("," + "\n" * len(inner) + " " * (indent + 1)).join(items) + "]"


def _body(data: Any, dtype: str, indent: int) -> str:
    """The numbers of a tensor with their brackets."""
    shape = tuple(data.shape)
    if math.prod(shape) == 0:
        return "[]"
    cuts = _cuts(shape)
    shown = _corner(data, cuts)
    texts, width = _texts(shown, dtype)
    if not shape:
        return texts[0]
    room = PRINT_OPTS.linewidth - (indent + len(shape) - 1)
    per_line = max(1, math.floor(room / (width + 2)))
    return _nested(iter(texts), shown.shape, cuts, indent=indent, per_line=per_line)


def _notes(
    shape: tuple[int, ...], *, dtype: str, defaults: tuple[str, str], device: str,
    requires_grad: bool, grad_fn: str | None, tangent: str | None,
) -> Iterator[str]:
    """The facts after the numbers, in torch's order, leaving out what a reader can see."""
    unseen = device == "meta" or math.prod(shape) == 0
    if device != "cpu":
        yield f"device='{device}'"
    if device == "meta" or (shape != (0,) if unseen else not PRINT_OPTS.edgeitems):
        yield f"size={shape}"
    if dtype not in ((defaults[0],) if unseen else (*defaults, "int64", "bool")):
        yield f"dtype=torch.{dtype}"
    if grad_fn is not None:
        yield f"grad_fn=<{grad_fn.rsplit('::', 1)[-1]}>"
    elif requires_grad:
        yield "requires_grad=True"
    if tangent is not None:
        yield f"tangent={tangent}"


def _append_notes(text: str, notes: Iterator[str], indent: int, fresh: bool = False) -> str:
    """Add each note on the line in progress if it fits (and the first need not stand on a `fresh` one), else on a fresh one.

    A note is measured as one line, so a tangent of several lines starts afresh; and the
    numbers count two columns more than they take (torch 2.13).
    """
    used = len(text) - (text.rfind("\n") + 1) + 2
    for note in notes:
        if fresh or used + len(note) + 2 > PRINT_OPTS.linewidth:
            fresh = False
            text += ",\n" + " " * indent + note
            used = indent + len(note)
        else:
            text += ", " + note
            used += len(note) + 2
    return text


def tensor_repr(
    data: Any, *, dtype: str, default_dtype: str = "float32",
    default_complex: str = "complex64", requires_grad: bool = False,
    grad_fn: str | None = None, device: str = "cpu", tangent: str | None = None,
    class_name: str = "tensor", is_inference: bool = False, is_parameter: bool = False,
) -> str:
    """The text torch 2.13 prints for a tensor with these values and properties.

    `data` is a numpy array, or anything with ``shape`` that understands ``numpy.ix_``
    indexing: above the threshold only its edge entries are read, and nothing is read for
    the device ``"meta"``. `dtype` is torch's name of the type; `grad_fn` the node's name,
    printed without its namespace; `tangent` what ``f"{tangent}"`` gives, which for a tangent
    of no dimensions is the bare number (torch 2.13). Inference tensors look like any other.

    A parameter of a class of its own reads ``Parameter(Name(...))`` under the heading; torch
    gives the heading to subclasses of ``Parameter`` only, so drop `PARAMETER_HEADING` for a
    tensor subclass that was merely wrapped in one.
    """
    opening = f"{class_name}("
    indent = len(opening)
    notes = _notes(
        tuple(data.shape), dtype=dtype, defaults=(default_dtype, default_complex),
        device=device, requires_grad=requires_grad, grad_fn=grad_fn, tangent=tangent,
    )
    body = "..." if device == "meta" else _body(data, dtype, indent)
    text = _append_notes(opening + body, notes, indent) + ")"
    if not is_parameter:
        return text
    return PARAMETER_HEADING + (text if class_name == "tensor" else f"Parameter({text})")


def scalar_format(value: Any, spec: str) -> str:
    """Format a 0-dim tensor's value as the Python number it holds: ``f"{t:.3f}"``.

    Torch does so for plain tensors of no dimensions; all others take ``object.__format__``.
    """
    return format(np.asarray(value).item(), spec)


def _tensor_str(self, indent: int) -> str:
    """The numbers of a tensor with their brackets, as programs that print tables ask for them."""
    return _body(self._tl_numpy(), self.dtype.name, indent)


class _Formatter:
    """How single numbers are written beside those of a tensor: for programs that print tensors their own way."""

    def __init__(self, tensor: Any) -> None:
        values = np.asarray(tensor._tl_numpy())
        self.floating_dtype = tensor.dtype.is_floating_point
        self._write, self.max_width = str, max(map(len, map(str, values.ravel().tolist())), default=1)
        if self.floating_dtype:
            values = values.astype(np.float64).ravel()
            self._write = _float_style(values[np.isfinite(values) & (values != 0)])
            self.max_width = _float_texts(values)[1]

    def width(self) -> int:
        """The columns that a number takes."""
        return self.max_width

    def format(self, value: Any) -> str:
        """A number in the notation of the tensor's, as wide as these."""
        return self._write(value).rjust(self.max_width)
