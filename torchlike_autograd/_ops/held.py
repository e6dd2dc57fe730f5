"""Numbers that must fit the dtype they are computed with (layer 2): torch refuses those that do not, at the call.

Numbers are runtime arguments, so that the remembered edge of a call takes any of them.  Where a type of number fits its dtype whatever it is (an int beside
int64 or float32), edges are remembered as always; where it need not (an int beside uint8), they stand in the trie under another key, which no shortcut
finds, and every call comes by `check`.  A float that float32 cannot hold is looked at in every call, whatever it stands beside (`record.beyond`).
"""

from __future__ import annotations

from .._core import dtypes
from .._core.numeric import check_number
from .spec import NUMBERS, spec_of

_LARGE = {dtypes.int64, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128}


def own(x, dtype):
    """In the dtype of the result."""
    check_number(x, dtype)


def wide(x, dtype):
    """In float32 for half precision."""
    check_number(x, dtypes.float32 if dtype in _HALVES else dtype)


def own_whole(x, dtype):
    """As `own`; a complex number stays one beside a real tensor."""
    own(x, dtype)


def wide_whole(x, dtype):
    """The same as `wide`: its node shows what it was given."""
    wide(x, dtype)


def minus(x, dtype):
    """Its negative, in 64 bits where it is an int."""
    check_number((_SIGN - x) % (2 * _SIGN) - _SIGN if type(x) is int else -x, dtype)


def whole(x, dtype):
    """Beside integers an int64 first, cut off, and then the integer."""
    if dtype.category == dtypes.INT and type(x) is not complex:
        check_number(x, dtypes.int64)
        x = int(x)
    check_number(x, dtype)


def exponent(x, dtype):
    """As `whole` where powers are computed in the dtype of the result; float32 and more take any number."""
    if dtype in _HALVES or (dtype.category == dtypes.INT and type(x) is not complex and x >= 0):
        whole(x, dtype)


_STAYING = (own_whole, wide_whole)
_SIGN = 1 << 63
_HALVES = {dtypes.float16, dtypes.bfloat16}


def _may_overflow(kind, dtype):
    if kind == "b" or dtype.category == dtypes.BOOL:
        return False
    if kind == "c":
        return not dtype.is_complex
    return dtype not in _LARGE or (kind == "f" and dtype is dtypes.int64)


def _watched(spec, form):
    """[(input, how it is checked, dtype)] of a call's numbers, and whether any of them may fail to fit."""
    holds, out = spec.op.holds, []
    dtype = form.compute or form.avals[0].dtype
    for i, (name, a) in enumerate(zip(form.owners, form.avals)):
        how = holds.get(name)
        if how is not None and a.device == "number":
            out.append((i, how, dtype))
    return out, any(_may_overflow(_KINDS[form.avals[i]], dtype) for i, _, _ in out)


_KINDS = {a: k for k, a in NUMBERS.items()}
_memo = "held"


def reals(spec, avals, ins):
    """(spec, inputs) of a call of real tensors with the real parts of its complex numbers, where those do not take part in promotion; None for others."""
    taken = spec.op.promote_with or ()
    names = [p.name for p in spec.op.params if p.kind.startswith("Tensor") or p.name in spec.op.lift]
    wrong = {name for name, t in zip(names, spec.pattern) if t == "c" and spec.op.holds.get(name, own_whole) not in _STAYING and name not in taken}
    if not wrong or spec.op.check is not None or any(a.dtype.is_complex for a in avals if a.device != "number"):
        return None
    pattern = tuple("f" if name in wrong else t for name, t in zip(names, spec.pattern))
    spec = spec_of(spec.op, tuple(spec.statics.items()), pattern, spec.into)
    real = [x.real if type(x) is complex else x for x in ins]
    check(spec, tuple(NUMBERS["f"] if type(x) is complex else a for x, a in zip(ins, avals)), ins)
    return spec, real


def check(spec, avals, ins):
    """Refuse numbers among the inputs of a call that do not fit; whether the next call has to be looked at too."""
    form = spec.form(avals)
    form = getattr(form, "base", form)
    known = form._pullbacks.get(_memo)
    if known is None:
        known = form._pullbacks[_memo] = _watched(spec, form)
    for i, how, dtype in known[0]:
        how(ins[i], dtype)
    return known[1]


__all__ = ["check", "exponent", "minus", "own", "own_whole", "reals", "whole", "wide", "wide_whole"]
