"""einsum and tensordot: equations and lists of dims read as torch reads them (layer 7)."""

from __future__ import annotations

import string

from .._core.autocasting import also, lower
from .._core.composite import composite, named
from .._core.dispatch import run
from .._core.overriding import SPREAD
from .._core.shapes import wrap_dim
from .._core.words import type_name
from .._ops import matmul as _matmul_ops
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from .norm import into

_ops = _matmul_ops
_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_plans: dict = {}


def _letter(n):
    if n is Ellipsis:
        return "..."
    if 0 <= n < 52:
        return _LETTERS[n]
    raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")


def _from_lists(args):
    """(equation, operands) of the form operand, list, operand, list, ..., [output list]."""
    operands, terms = list(args[: len(args) - len(args) % 2 : 2]), args[1::2]
    equation = ",".join("".join(map(_letter, term)) for term in terms)
    if len(args) % 2:
        equation += "->" + "".join(map(_letter, args[-1]))
    return equation, operands


class _Term:
    """The labels of one operand, with the place of the ellipsis (None: it has none)."""

    def __init__(self):
        self.labels, self.ellipsis = [], None


def _read_terms(text, count):
    terms, i = [_Term()], 0
    while i < len(text):
        c, term = text[i], terms[-1]
        if c == ".":
            if term.ellipsis is not None:
                raise RuntimeError(f"einsum(): found '.' for operand {len(terms) - 1} for which an ellipsis was already found")
            if text[i:i + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for operand {len(terms) - 1} that is not part of any ellipsis")
            term.ellipsis = len(term.labels)
            i += 2
        elif c == ",":
            terms.append(_Term())
            if len(terms) > count:
                raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
        elif c.isascii() and c.isalpha():
            term.labels.append(c)
        elif c != " ":
            raise RuntimeError(f"einsum(): invalid subscript given at index {i} in the equation string, subscripts must be in [a-zA-Z]")
        i += 1
    if len(terms) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return terms


def _check_ranks(terms, sizes):
    """The number of dims that ellipses stand for, at most."""
    most = 0
    for i, (term, size) in enumerate(zip(terms, sizes)):
        n = len(term.labels)
        if term.ellipsis is None and n != len(size):
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({n}) does not match the number of dimensions ({len(size)}) "
                               f"for operand {i} and no ellipsis was given")
        if n > len(size):
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({n}) is more than the number of dimensions ({len(size)}) for operand {i}")
        if term.ellipsis is not None:
            most = max(most, len(size) - n)
    return most


def _read_output(text, start, terms, most):
    """The labels of the output; those of the ellipsis are ("...", k)."""
    dots = [("...", k) for k in range(most)]
    seen = [c for term in terms for c in term.labels]
    if text is None:
        return dots + [c for c in sorted(set(seen)) if seen.count(c) == 1]
    out, ellipsis, i = [], False, 0
    while i < len(text):
        c = text[i]
        if c == ".":
            if ellipsis:
                raise RuntimeError("einsum(): found '.' for output but an ellipsis (...) was already found")
            if text[i:i + 3] != "...":
                raise RuntimeError("einsum(): found '.' for output that is not part of any ellipsis (...)")
            out, ellipsis = out + dots, True
            i += 2
        elif c.isascii() and c.isalpha():
            if c in out:
                raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
            if c not in seen:
                raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")
            out.append(c)
        elif c != " ":
            raise RuntimeError(f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts must be in [a-zA-Z]")
        i += 1
    return out


def _spelled(terms, sizes, most):
    """The labels of each operand in full; sizes that do not fit raise."""
    out, known = [], {}
    for i, (term, size) in enumerate(zip(terms, sizes)):
        labels = list(term.labels)
        if term.ellipsis is not None:
            n = len(size) - len(labels)
            labels[term.ellipsis:term.ellipsis] = [("...", k) for k in range(most - n, most)]
        own = {}
        for c, n in zip(labels, size):
            if c in own and own[c] != n:
                raise RuntimeError(f"einsum(): subscript {c} is repeated for operand {i} but the sizes don't match, {n} != {own[c]}")
            own[c] = n
        for c, n in own.items():
            if known.get(c, 1) == 1:
                known[c] = n
            elif n not in (1, known[c]):
                if isinstance(c, tuple):  # without a space, as torch 2.13 says it
                    raise RuntimeError(f"einsum(): dimension {labels.index(c)} covered by ellipsis in operand {i}has size {n} which does not broadcast with "
                                       f"previously seen ellipsis with size {known[c]} for the respective dimension")
                raise RuntimeError(f"einsum(): subscript {c} has size {n} for operand {i} which does not broadcast with previously seen size {known[c]}")
        out.append(labels)
    return out


class _Views:
    """An equation of one operand: a view of it, summed over the last dims where the output leaves labels out."""

    def __init__(self, labels, output):
        self.diagonals, kept = [], []  # pairs of dims that share a label; the labels of the dims left
        for c in labels:
            if c in kept:
                self.diagonals.append((kept.index(c), len(kept)))
            else:
                kept.append(c)
        summed = [c for c in kept if c not in output]
        self.order = tuple(kept.index(c) for c in (*output, *summed))
        self.summed = tuple(range(len(output), len(kept)))

    def of(self, x):
        """What the equation says of this tensor."""
        for i, j in self.diagonals:
            x = x.diagonal(0, i, j).movedim(-1, i)
        x = x.permute(self.order)
        return x.sum(self.summed) if self.summed else x


def _plan(equation, sizes):
    """The spec of an equation for these sizes; of one operand, its views."""
    left, arrow, right = equation.partition("->")
    terms = _read_terms(left, len(sizes))
    most = _check_ranks(terms, sizes)
    output = _read_output(right if arrow else None, len(left) + 2, terms, most)
    spelled = _spelled(terms, sizes, most)
    letters = {}
    for labels in spelled:
        for c in labels:
            letters.setdefault(c, _LETTERS[len(letters)])
    inputs = ",".join("".join(letters[c] for c in labels) for labels in spelled)
    if len(spelled) == 1:
        return _Views(spelled[0], output)
    key = "_einsum_view" if any(c not in output for c in letters) else "_einsum_mul"
    statics = (("equation", f"{inputs}->{''.join(letters[c] for c in output)}"),)
    return spec_of(OPS[key], statics, (("L", len(spelled)),))


def _cast(args, kwargs, kind):
    """Autocast: torch's einsum multiplies matrices where operands share a label that is summed."""
    equation, operands = (args[0], list(args[1:])) if isinstance(args[0], str) else _from_lists(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    inputs, _, output = equation.replace(" ", "").partition("->")
    terms = [set(t) - {"."} for t in inputs.split(",")]
    output = output if "->" in equation else [c for c in set(inputs) if inputs.count(c) == 1]
    summed = any(sum(c in t for t in terms) > 1 for c in set().union(*terms) - set(output))
    return lower((equation, *operands), kwargs, kind) if summed else (args, kwargs)


def _told(args):
    """Operands without a list around them: so `__torch_function__` is told."""
    _has_operands(args)
    return (args[0], *args[1]) if len(args) == 2 and isinstance(args[1], (list, tuple)) else args


def _has_operands(args):
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list")


SPREAD["torch.einsum"] = _told


@also(cpu=_cast, cuda=lower)
@composite("torch.einsum")
def einsum(*args):
    """Sums of products over the indices that the equation names."""
    _has_operands(args)
    if not isinstance(args[0], (str, bytes, Tensor)):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(args[0])}")
    equation, operands = (args[0], list(args[1:])) if isinstance(args[0], str) else _from_lists(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
        _has_operands((equation, *operands))
    for i, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type_name(x)}")
    key = (equation, *[x._tl_v.aval.shape for x in operands])
    spec = _plans.get(key)
    if spec is None:
        if len(_plans) > 4096:
            _plans.clear()
        spec = _plans[key] = _plan(equation, key[1:])
    return spec.of(operands[0]) if type(spec) is _Views else run(spec, operands)


def _dims(a, b, dims):
    """The two lists of dims of a tensordot."""
    if isinstance(dims, (tuple, list)):
        left, right = dims
        for word, given, place in (("self", left, 3), ("other", right, 4)):
            if isinstance(given, int):
                raise TypeError(f"tensordot(): argument 'dims_{word}' (position {place}) must be tuple of ints, not {type_name(given)}")
    elif isinstance(dims, Tensor):
        if dims.numel() > 1:
            left, right = dims.tolist()
        else:
            return _dims(a, b, int(dims.item()))
    else:
        if not isinstance(dims, int):
            raise RuntimeError("tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but got "
                               f"dims={dims}")
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return tuple(range(-dims, 0)), tuple(range(dims))
    return tuple([left] if isinstance(left, int) else left), tuple([right] if isinstance(right, int) else right)


def _refuse_repeated(a, b, left, right):
    """torch's error for dims that are named twice, after those for sizes that do not fit."""
    pairs = [(wrap_dim(i, a.ndim, scalar_ok=False), wrap_dim(j, b.ndim, scalar_ok=False)) for i, j in zip(left, right, strict=True)]
    if any(1 not in (n, m) and n != m for n, m in ((a.shape[i], b.shape[j]) for i, j in pairs)):
        return
    for dims in zip(*pairs, strict=True):
        for k, d in enumerate(dims):
            if d in dims[:k]:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")


@composite("torch.tensordot")
def tensordot(a, b, dims=2, out=None):
    """Sums of products over the last dims of a and the first of b, or over pairs of dims."""
    left, right = _dims(a, b, dims)
    if len(left) == len(right):
        _refuse_repeated(a, b, left, right)
    result = named("_tensordot")(a, b, left, right)
    return into("tensordot", out, result, a, b)
