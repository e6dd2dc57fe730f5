"""Matrix products of every rank, linear layers and contractions, made of operators as torch makes them (layer 7).

A product of stacks is views around one `mm`, `mv` or `bmm`.  What happens depends on shapes, strides and which operand requires grad, so
the steps are planned once for each such combination and then only recorded.
"""

from __future__ import annotations

import math
import operator
from itertools import pairwise

import numpy as np

from .._core import dtypes, shapes, words
from .._core.autocasting import also, lower, widest
from .._core.composite import composite, named
from .._core.dispatch import run, values_of
from .._core.hot import PLAIN, binary, view
from .._core.numeric import say_once
from .._core.overriding import asked
from .._core.ranges_heard import RANGES
from .._core.record import IMMEDIATE, counter_of, mark_seen, record_op
from .._core.words import no_tensor, type_name
from .._ops import matmul as _matmul_ops
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, wrap
from .join import all_tensors
from .norm import check_out, into

_ops = _matmul_ops
_mm, _mv, _bmm, _dot = named("mm"), named("mv"), named("bmm"), named("dot")
_MM = spec_of(OPS["mm"], (), ("T", "T"))
_plans: dict = {}


class Chain:
    """Steps over values: each step is (spec, positions of its inputs); shapes and strides are followed along."""

    def __init__(self, *tensors):
        self.shapes = [t._tl_v.aval.shape for t in tensors]
        self.strides = [t.stride() for t in tensors]
        self.steps = []

    def _add(self, key, inputs, statics, shape, strides=None):
        op = OPS[key]
        pattern = tuple("T" if p.kind.startswith("Tensor") else "N" for p in op.params if p.kind.startswith("Tensor") or p.name in op.lift)
        given = dict(statics)
        named_statics = tuple((p.name, given.get(p.name, p.default)) for p in op.params if not p.kind.startswith("Tensor"))
        self.steps.append((spec_of(op, named_statics, pattern), inputs))
        self.shapes.append(tuple(shape))
        self.strides.append(strides or shapes.contiguous_strides(shape))
        return len(self.shapes) - 1

    def product(self, key, *inputs):
        """mm, mv, bmm or dot of earlier values."""
        a, b = (self.shapes[i] for i in inputs[-2:])
        shape = {"mm": (*a[:-1], *b[1:]), "mv": a[:-1], "bmm": (*a[:-1], *b[2:])}[key]
        return self._add(key, inputs, (), shape)

    def transpose(self, i):
        """The last two dims exchanged (one dim: as it is)."""
        shape, strides = self.shapes[i], self.strides[i]
        if len(shape) < 2:
            return i
        swapped, steps = (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2])
        if len(shape) == 2:
            return self._add("t", (i,), (), swapped, steps)
        return self._add("transpose.int", (i,), (("dim0", -1), ("dim1", -2)), swapped, steps)

    def reshape(self, i, shape):
        """A view where strides allow, otherwise a copy."""
        if shapes.is_contiguous(self.shapes[i], self.strides[i]):
            return self._add("view", (i,), (("size", tuple(shape)),), shape)
        strides = shapes.view_strides(self.shapes[i], self.strides[i], shape)
        if strides is not None:
            return self._add("_reshape_alias", (i,), (("size", tuple(shape)), ("stride", tuple(strides))), shape, tuple(strides))
        return self.unsafe_view(self.clone(i), shape)

    def clone(self, i):
        """A fresh copy, row by row."""
        return self._add("clone", (i,), (), self.shapes[i])

    def unsafe_view(self, i, shape):
        """Another shape of a value that nobody else sees."""
        return self._add("_unsafe_view", (i,), (("size", tuple(shape)),), shape)

    def expand(self, i, shape):
        """Dims of size 1 repeated."""
        extra = len(shape) - len(self.shapes[i])
        old = (*([1] * extra), *self.shapes[i])
        steps = (*([0] * extra), *self.strides[i])
        strides = tuple(0 if n == 1 and m != 1 else s for n, m, s in zip(old, shape, steps))
        return self._add("expand", (i,), (("size", tuple(shape)),), shape, strides)

    def unsqueeze(self, i, dim):
        """One more dim of size 1."""
        shape = list(self.shapes[i])
        shape.insert(dim, 1)
        return self._add("unsqueeze", (i,), (("dim", dim),), shape)

    def squeeze(self, i, dim, key="squeeze.dim"):
        """One dim of size 1 fewer."""
        shape, strides = list(self.shapes[i]), list(self.strides[i])
        shape.pop(dim)
        strides.pop(dim)
        return self._add(key, (i,), (("dim", dim),), shape, tuple(strides))


def follow(steps, tensors):
    """Record the steps; the last value as a Tensor."""
    if IMMEDIATE[0]:
        return _follow_now(steps, list(tensors))
    values = values_of(tensors)
    for spec, inputs in steps:
        values.append(record_op(spec, [values[i] for i in inputs])[0])
    if values[-1].tape is not values[len(tensors)].tape:  # the record ended in between
        _count_versions(steps, tensors, values)
    return wrap(values[-1])


def _count_versions(steps, tensors, values):
    """Views that a later tape reads count versions with the tensors whose memory they show: on their own tape that is known by the steps."""
    owners = list(tensors)
    for (spec, inputs), v in zip(steps, values[len(tensors):]):
        owner = owners[inputs[0]] if spec.op.is_view else None
        owners.append(owner)
        if owner is not None:
            if owner._tl_counter is None:
                owner._tl_counter = counter_of(owner._tl_v)
            mark_seen(v, owner._tl_counter)


def _follow_now(steps, tensors):
    """`follow` where every step runs at once: only a Tensor knows then whose memory a view shows."""
    for spec, inputs in steps:
        ins = [tensors[i] for i in inputs]
        tensors.append(view(spec, *ins) if spec.op.is_view else run(spec, ins))
    return tensors[-1]


def _geometry_key(t):
    return None if t._tl_laid is None and t._tl_view is None else t.stride()


# matmul

def _broadcast_batches(a, b):
    return shapes.broadcast(a[:-2] if len(a) > 2 else (), b[:-2] if len(b) > 2 else ())


def _folds(a, b, strides_a, strides_b, needs_a, needs_b):
    """Whether the larger operand is laid out as one matrix."""
    larger_first = len(a) >= len(b)
    big, small = (a, b) if larger_first else (b, a)
    if not (len(big) >= 3 and len(small) <= 2):
        return False
    if needs_b if larger_first else needs_a:
        return True
    if len(a) == 2:
        return False
    if math.prod(big) == 0:
        return True
    strides = strides_a if larger_first else (*strides_b[:-2], strides_b[-1], strides_b[-2])
    sizes = big if larger_first else (*big[:-2], big[-1], big[-2])
    return all(strides[i] == strides[i + 1] * sizes[i + 1] for i in range(len(big) - 2))


def _fold(chain, i, j):
    """Products with one operand of rank 3 or more laid out as a matrix; returns the last position."""
    larger_first = len(chain.shapes[i]) >= len(chain.shapes[j])
    big, small = (i, j) if larger_first else (chain.transpose(j), chain.transpose(i))
    sizes, other = chain.shapes[big], chain.shapes[small]
    flat = chain.reshape(big, (math.prod(sizes[:-1]), sizes[-1]))
    if len(other) == 1:
        return chain.unsafe_view(chain.product("mv", flat, small), sizes[:-1])
    out = chain.unsafe_view(chain.product("mm", flat, small), (*sizes[:-1], other[1]))
    if larger_first:
        return out
    out = chain.transpose(out)
    return out if shapes.is_contiguous(chain.shapes[out], chain.strides[out]) else chain.clone(out)


def _batch(chain, i, j):
    """One bmm over the broadcast batch dims."""
    a, b = chain.shapes[i], chain.shapes[j]
    n, m1 = (a[-2] if len(a) > 1 else 1), a[-1]
    m2, p = (b[-2] if len(b) > 1 else b[-1]), (b[-1] if len(b) > 1 else 1)
    batch = _broadcast_batches(a, b)
    count = math.prod(batch)
    left = chain.reshape(chain.expand(i, (*batch, n, m1)), (count, n, m1))
    if len(b) == 1:
        right = chain.unsqueeze(chain.reshape(chain.expand(j, (*batch, m2)), (count, m2)), 2)
    else:
        right = chain.reshape(chain.expand(j, (*batch, m2, p)), (count, m2, p))
    out = chain.product("bmm", left, right)
    if len(b) == 1:
        out = chain.squeeze(out, 2)
    shape = [*batch, *([n] if len(a) > 1 else []), *([p] if len(b) > 1 else [])]
    return chain.unsafe_view(out, shape)


def _plan(x, y):
    chain = Chain(x, y)
    needs = x._tl_needs, y._tl_needs
    _extend(chain, 0, 1, *needs)
    return chain.steps


def _extend(chain, i, j, needs_a, needs_b):
    a, b = chain.shapes[i], chain.shapes[j]
    if len(a) == 1 and len(b) == 2:
        return chain.squeeze(chain.product("mm", chain.unsqueeze(i, 0), j), 0, "_squeezed")
    if len(a) == 3 and len(b) == 3:
        if a[0] > 1 and b[0] == 1 and needs_b:
            return _extend(chain, i, chain.squeeze(j, 0), needs_a, needs_b)
        if b[0] > 1 and a[0] == 1 and needs_a:
            return _extend(chain, chain.squeeze(i, 0), j, needs_a, needs_b)
    if _folds(a, b, chain.strides[i], chain.strides[j], needs_a, needs_b):
        return _fold(chain, i, j)
    return _batch(chain, i, j)


def product(x, y, name="matmul"):
    """The matrix product of two Tensors of any rank; name: what torch's error calls it."""
    a, b = x._tl_v.aval, y._tl_v.aval
    if a.ndim == 2 and b.ndim == 2:
        return binary(_MM, x, y)
    if b.ndim == 1 and a.ndim == 2:
        return _mv(x, y)
    if a.ndim == 1 and b.ndim == 1:
        return _dot(x, y)
    if not a.ndim or not b.ndim:
        raise RuntimeError(f"both arguments to {name} need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    key = (a, b, x._tl_needs, y._tl_needs, _geometry_key(x), _geometry_key(y))
    steps = _plans.get(key)
    if steps is None:
        if a.dtype is not b.dtype and a.ndim > 2 and b.ndim > 2:
            raise RuntimeError(f"expected scalar type {a.dtype.char_name} but found {b.dtype.char_name}")
        if len(_plans) > 4096:
            _plans.clear()
        steps = _plans[key] = _plan(x, y)
    return follow(steps, (x, y))


def _check(name, position, label, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument '{label}' (position {position}) must be Tensor, not {type_name(x)}")


def _spelled(input, other, out, spelled):
    """The operands of a call with `x1` or `x2`."""
    given = {k: v for k, v in (("input", input), ("other", other), ("out", out)) if v is not None}
    error = words.explained("torch.matmul", (), {**given, **spelled})
    if error is not None:
        raise error
    return spelled.get("x1", spelled.get("x", spelled.get("a", input))), spelled.get("x2", other)


@composite("torch.matmul", "torch.linalg.matmul")
def matmul(input=None, other=None, *, out=None, **spelled):
    """The matrix product; vectors, matrices and broadcast stacks of matrices."""
    if spelled:  # NumPy's names
        return matmul(*_spelled(input, other, out, spelled), out=out)
    if type(input) not in PLAIN or type(other) not in PLAIN:
        done, result = asked(matmul, (input, other), {} if out is None else {"out": out})
        if done:
            return result
        error = words.explained("torch.matmul", tuple([x for x in (input, other) if x is not None]), {})
        if error is not None:
            raise error
    result = product(input, other)
    if out is None:
        return result
    if not isinstance(out, Tensor):
        raise no_tensor("matmul", out)
    check_out(_product_kind(input.ndim, other.ndim), out, result)
    return into("matmul", out, result, input, other)


@composite("Tensor.matmul")
def tensor_matmul(self, other):
    """A function of its own, for `__torch_function__` is told which one was called."""
    return matmul(self, other)


def _product_kind(m, n):
    """Whose words refuse an output of another dtype, by the ranks of the operands."""
    return "dot" if m == n == 1 else "mv" if (m, n) in ((1, 2), (2, 1)) else "matrices times a vector" if n == 1 else "matmul"


# Layers

def _flat_linear(input, weight, bias):
    """(steps up to addmm, the view of its result) for an input of rank other than 2."""
    chain = Chain(input, weight, bias)
    sizes = chain.shapes[0]
    flat = chain.reshape(0, (math.prod(sizes[:-1]), sizes[-1]))
    turned = chain._add("t", (1,), (), chain.shapes[1][::-1], chain.strides[1][::-1])
    chain._add("addmm", (2, flat, turned), (("beta", 1), ("alpha", 1)), (math.prod(sizes[:-1]), chain.shapes[1][0]))
    return chain.steps, spec_of(OPS["view"], (("size", (*sizes[:-1], chain.shapes[1][0])),), ("T",))


@composite("torch.nn.functional.linear", "torch._C._nn.linear")
def linear(input, weight, bias=None, *, out=None):
    """input @ weight.T + bias."""
    if RANGES:
        with RANGES[-1]("aten::linear", (input, weight, bias)):
            return _linear(input, weight, bias, out)
    return _linear(input, weight, bias, out)


def _linear(input, weight, bias, out):
    if out is not None:
        return _into_linear(input, weight, bias, out)
    if type(input) not in PLAIN or type(weight) not in PLAIN or not (bias is None or type(bias) in PLAIN):
        done, out = asked(linear, (input, weight) if bias is None else (input, weight, bias), {}, "torch._C._nn.linear")
        if done:
            return out
        _check("linear", 1, "input", input)
        _check("linear", 2, "weight", weight)
        if bias is not None:
            _check("linear", 3, "bias", bias)
    a, w = input._tl_v.aval, weight._tl_v.aval
    if not a.ndim and w.ndim > 2:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are 0D and {w.ndim}D")
    if bias is None:
        return product(input, named("t")(weight), "linear")
    if a.ndim and w.ndim == 1 and bias._tl_v.aval.ndim:  # torch multiplies and adds at once, which takes matrices
        raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
    if a.ndim == 2 and w.ndim:
        return follow(_LINEAR, (input, weight, bias))
    if not a.ndim or w.ndim != 2 or not bias._tl_v.aval.ndim or (_geometry_key(input) is not None and not input.is_contiguous()):
        return named("add")(product(input, named("t")(weight), "linear"), bias)
    key = ("linear", a, w, bias._tl_v.aval)
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = _flat_linear(input, weight, bias)
    steps, reshape = plan
    return view(reshape, follow(steps, (input, weight, bias)))


def _into_linear(input, weight, bias, out):
    """`linear` written into a tensor that is there."""
    from .norm import into

    return into("linear", out, linear(input, weight, bias), *(t for t in (input, weight, bias) if t is not None))


_LINEAR = [(spec_of(OPS["t"], (), ("T",)), (1,)),
           (spec_of(OPS["addmm"], (("beta", 1), ("alpha", 1)), ("T", "T", "T", "N", "N")), (2, 0, 3))]


@composite("torch.nn.functional.bilinear", "torch.bilinear")
def bilinear(input1, input2, weight, bias=None):
    """input1 @ weight @ input2 + bias, for every output feature."""
    if bias is None:
        return named("_bilinear")(input1, input2, weight)
    return named("_bilinear")(input1, input2, weight, bias)


# Vectors

@composite("torch.outer", "torch.ger", "Tensor.outer", "Tensor.ger")
def outer(input, vec2, *, out=None):
    """All products of the elements of two vectors."""
    for x, word in ((input, "self"), (vec2, "vec2")):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {word}, but got {x.ndim}-D")
    result = named("mul")(named("view")(input, (input.shape[0], 1)), vec2)
    return into("outer", out, result, input, vec2)


@also(cpu=lambda args, kwargs, kind: lower(args, kwargs, kind) if args and isinstance(args[0], Tensor) and args[0].ndim else (args, kwargs), cuda=widest)
@composite("torch.inner", "Tensor.inner")
def inner(input, other, *, out=None):
    """Sums of products over the last dims (of a scalar: all products)."""
    if not input.ndim or not other.ndim:
        return named("mul")(input, other) if out is None else named("mul")(input, other, out=out)
    return into("inner", out, named("_inner")(input, other), input, other)


@composite("torch.linalg.vecdot")
def vecdot(x, y, *, dim=-1, out=None):
    """Sums of products along a dim, the first factors conjugated."""
    if x.ndim == 1 and y.ndim == 1 and x.dtype is y.dtype and x.dtype.category >= dtypes.FLOAT:
        result = named("vdot")(x, y)
    else:
        result = named("linalg_vecdot")(x, y, dim=dim)
    return into("linalg_vecdot", out, result, x, y)


@composite("torch.cross", "Tensor.cross")
def cross(input, other, dim=None, *, out=None):
    """The vector product; without `dim` along the first dim of size 3."""
    if dim is None:
        say_once("Using torch.cross without specifying the dim arg is deprecated.\n"
                 "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
                 "The default value of dim will change to agree with that of linalg.cross in a future release.")
        dim = next((i for i, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return named("linalg_cross")(input, other, dim=dim, **({} if out is None else {"out": out}))


# Several matrices

def _best_order(sizes):
    """split[i][j]: where the product of matrices i..j is cut with the fewest multiplications."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i][j], split[i][j] = min(options[::-1] if n == 3 else options, key=operator.itemgetter(0))  # of three the first two where it is the same
    return split


def _in_order(matrices, split, i, j):
    if i == j:
        return matrices[i]
    k = split[i][j]
    return _mm(_in_order(matrices, split, i, k), _in_order(matrices, split, k + 1, j))


def _check_multi(tensors):
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for i, word in ((0, "first"), (n - 1, "last")):
        if not 1 <= tensors[i].ndim <= 2:
            raise RuntimeError(f"multi_dot(): the {word} tensor must be 1D or 2D but got {tensors[i].ndim}D")
    for i in range(1, n - 1):
        if tensors[i].ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {tensors[i].ndim}D")
    for i, t in enumerate(tensors):
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError(f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {_cxx(tensors[0])} and tensor {i} {_cxx(t)}")


def _cxx(t):
    return _matmul_ops.cxx_name(np.empty(0, t.dtype.np))


@composite("torch.linalg.multi_dot")
def multi_dot(tensors, *, out=None):
    """The product of several matrices, in the cheapest order."""
    tensors = list(tensors)
    _check_multi(tensors)
    shape = [*([tensors[0].shape[0]] if tensors[0].ndim == 2 else []), *([tensors[-1].shape[1]] if tensors[-1].ndim == 2 else [])]
    matrices = list(tensors)
    if matrices[0].ndim == 1:
        matrices[0] = named("unsqueeze")(matrices[0], 0)
    if matrices[-1].ndim == 1:
        matrices[-1] = named("unsqueeze")(matrices[-1], -1)
    for i, (a, b) in enumerate(pairwise(matrices)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                               f"{list(tensors[i + 1].shape)} cannot be multiplied")
    sizes = [m.shape[0] for m in matrices] + [matrices[-1].shape[1]]
    result = named("view")(_in_order(matrices, _best_order(sizes), 0, len(matrices) - 1), tuple(shape))
    return into("linalg_multi_dot", out, result, *tensors)


@composite("torch.chain_matmul")
def chain_matmul(*matrices, out=None):
    """The product of several matrices."""
    say_once("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, which accepts a list of "
             "two or more tensors rather than multiple parameters. (Triggered internally at /pytorch/aten/src/ATen/native/LinearAlgebra.cpp:1102.)")
    for m in all_tensors(matrices):
        if m.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {m.ndim}, expected 2 instead.")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    if len(matrices) == 1:
        return named("clone")(matrices[0])
    return multi_dot(matrices, out=out)

