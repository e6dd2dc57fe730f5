"""torch.utils.flop_counter (layer 8): how many floating point operations products, convolutions and attention take, by the module that they are part of.

A mode hears of the operators (`_core/listening.py`) and counts those for which there is a formula of shapes.  The node of each gets a hook, which counts what
its backward pass took: the products for the gradients that were asked for, and the backward operator of a convolution or attention.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from functools import wraps
from math import prod

from .. import ops as _ops
from .._core.listening import Listening, arguments, operator_of
from .._core.record import Value
from .._ops.spec import Spec
from .._tensor import Tensor, wrap
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = _ops.aten
flop_registry: dict = {}  # operator -> f(*arguments, out_val=, **more)


def get_shape(i):
    """The shape of a tensor; what else there is as it is."""
    return i.shape if isinstance(i, Tensor) else i


def shape_wrapper(f):
    """A formula of shapes as one of tensors."""
    @wraps(f)
    def nf(*args, out_val=None, **kwargs):
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)
    return nf


def register_flop_formula(targets, get_raw=False):
    """A decorator: the function of shapes counts the operations of these operators (of tensors with `get_raw`).

    What is no operator is a ValueError, a second formula for one a RuntimeError.
    """
    def register(formula):
        found = formula if get_raw else shape_wrapper(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if not hasattr(target, "overloads"):
                raise ValueError(f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), JitFunction, or "
                                 f"HigherOrderOperator, got {target} which is of type {type(target)}")
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = found
        return formula
    return register


@register_flop_formula(aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    """2mkn of (m, k) by (k, n): a multiplication and an addition each."""
    (m, k), (inner, n) = a_shape, b_shape
    if k != inner:
        raise AssertionError(f"matmul: inner dimensions must match (k == k2), got {k} and {inner}")
    return 2 * m * k * n


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """As of mm."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    """As of mm, for each of a batch."""
    (b, *first), (other, *second) = a_shape, b_shape
    if b != other:
        raise AssertionError(f"bmm: batch dimensions must match (b == b2), got {b} and {other}")
    return b * mm_flop(first, second)


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """As of bmm."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Each element of the result (of the input where transposed) takes a product with each weight of its window and channels."""
    places = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * prod(places) * prod(w_shape)


@register_flop_formula([aten.convolution, aten._convolution])
def conv_flop(x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, *args, out_shape=None, **kwargs):
    """See `conv_flop_count`."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


def _turned(shape):
    return [shape[1], shape[0], *shape[2:]]


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(grad_out_shape, x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, _output_padding, _groups, output_mask, out_shape):
    """The gradient of the input is a convolution of the other kind, that of the weights one of the input with the cotangent (turned round where transposed)."""
    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, get_shape(out_shape[0]), not transposed)
    if output_mask[1]:
        first, second = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(_turned(first), _turned(second), _turned(get_shape(out_shape[1])), transposed=False)
    return count


def sdpa_flop_count(query_shape, key_shape, value_shape):
    """The product of queries and keys, and that of its softmax with the values; each head of keys and values may serve several of queries."""
    batch, heads, queries, width = query_shape
    key_batch, served, keys, key_width = key_shape
    value_batch, value_heads, values, features = value_shape
    if not batch == key_batch == value_batch or (served, width, keys) != (value_heads, key_width, values):
        raise AssertionError(f"sdpa_flop_count: query/key/value shapes are incompatible: q={query_shape}, k={key_shape}, v={value_shape}")
    if heads < served or heads % served:
        raise AssertionError(f"sdpa_flop_count: query heads ({heads}) must be a multiple of key/value heads ({served})")
    return 2 * batch * heads * queries * keys * (width + features)


def sdpa_flop(query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    """See `sdpa_flop_count`.  PyTorch counts this for its kernels on accelerators, not for the one on the CPU, and so nothing is counted here."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


SUFFIXES = suffixes = ["", "K", "M", "B", "T"]


def get_suffix_str(number):
    """The suffix with which a number is written in at most four digits before the point."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number, suffix):
    """A number in units of a suffix."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num, denom):
    """A share in percent; 0% of nothing."""
    return f"{num / denom:.2%}" if denom else "0%"


class FlopCounterMode:
    """A context that counts floating point operations of what is called inside, forward and backward, by modules.

    depth: of the modules in the table, which is printed at the end with `display`; custom_mapping: {operator: formula of shapes, or of tensors where it has
    `_get_raw`}, beside those registered.  What differs: a call inside `vmap` or `jvp` counts as that of one example without its tangent; what PyTorch puts
    together from products and is one operator here (`tensordot`, `addbmm`, the recurrent layers), products in double backward and those of graphs that were
    recorded before are not counted.
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.depth, self.display, self.mode = depth, display, None
        self.mod_tracker = ModuleTracker()
        own = custom_mapping or {}
        self.flop_registry = {**flop_registry, **{k: v if getattr(v, "_get_raw", False) else shape_wrapper(v) for k, v in own.items()}}

    def get_total_flops(self):
        """The sum of all."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """{module: {operator: count}}; "Global" is all of it."""
        return {k: dict(v) for k, v in self.flop_counts.items()}

    def get_table(self, depth=None):
        """The counts as a table of modules to a depth (needs the package ``tabulate``)."""
        import tabulate
        tabulate.PRESERVE_WHITESPACE = True
        depth = self.depth if depth is None else depth
        depth = 999999 if depth is None else depth
        total = self.get_total_flops()
        suffix = get_suffix_str(total)
        modules = sorted(name for name in self.flop_counts if name != "Global" and name.count(".") + 1 <= depth)
        subsumed = any(sum(self.flop_counts[name].values()) >= total for name in modules)
        rows = [row for name in modules for row in self._rows(name, name.count(".") + 1, total, suffix)]
        if "Global" in self.flop_counts and not subsumed:
            rows = [*self._rows("Global", 0, total, suffix), *([" " + row[0], *row[1:]] for row in rows)]
        return tabulate.tabulate(rows or [["Global", "0", "0%"]], headers=["Module", "FLOP", "% Total"], colalign=("left", "right", "right"))

    def _rows(self, name, depth, total, suffix):
        own, before = self.flop_counts[name], " " * depth
        lines = [(name, sum(own.values())), *((f" - {op}", n) for op, n in own.items())]
        return [[before + words, convert_num_with_suffix(n, suffix), convert_to_percent_str(n, total)] for words, n in lines]

    def __enter__(self):
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Counter(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *args):
        if self.mode is None:
            raise AssertionError("Internal error: FlopCounter.__exit__ called but mode is None")
        out = self.mode.__exit__(*args)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))
        return out

    def _count_flops(self, func_packet, out, args, kwargs):
        formula = self.flop_registry.get(func_packet)
        if formula is not None:
            self._add(func_packet, formula(*args, **kwargs, out_val=out))
        return out

    def _add(self, op, n):
        for name in set(self.mod_tracker.parents):
            self.flop_counts[name][op] += n


class _Counter(TorchDispatchMode):
    """What hears of the operators while a FlopCounterMode is entered."""

    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        return self.counter._count_flops(func._overloadpacket, func(*args, **kwargs), args, kwargs)

    def _tl_listening(self):
        return _Counting(self)


class _Counting(Listening):
    """Counts what modes do not hear of: einsum, and what nodes compute."""

    def made(self, spec, ins, outs):
        found = super().made(spec, ins, outs)
        if not isinstance(spec, Spec):  # what a node computes
            return found
        counter, name = self.mode.counter, spec.op.name
        if name == "_einsum_view":  # einsum that ends in a product
            products = _einsum_flops(spec, ins)
            for n in products:
                counter._add(aten.bmm, n)
            if products:  # each product has one for the gradient of each side
                _when_run(found[0], lambda grads, cots: counter._add(aten.bmm, _einsum_back(products, grads)), self.mode)
            return found
        op = operator_of(spec) if name in _BACKWARD else None
        if op is not None:
            args, kwargs = arguments(spec, [wrap(v) if isinstance(v, Value) else v for v in ins])
            shapes, out = tree_map(get_shape, args), found[0].aval.shape
            _when_run(found[0], lambda grads, cots: _BACKWARD[name](counter, shapes, kwargs, out, grads), self.mode)
        return found


def _when_run(v, f, mode):
    """Call f(gradients, cotangents) when the node of a result has run, as long as the mode is entered."""
    node = wrap(v).grad_fn if v.needs else None
    if node is not None:
        node.register_hook(lambda grads, cots: f(grads, cots) and None if mode.counter.mode is mode else None)


def _einsum_flops(spec, ins):
    """What each product of a contraction from left to right takes: 2 for each combination of the dims of both sides; none where nothing is summed."""
    equation, _, result = spec.statics["equation"].replace(" ", "").partition("->")
    words = equation.split(",")
    sizes = {c: n for word, v in zip(words, ins) for c, n in zip(word, v.aval.shape)}
    flops, left = [], set(words[0])
    for i, word in enumerate(words[1:], 1):
        later = set(result).union(*words[i + 1:])
        both = left | set(word)
        if (left & set(word)) - later:
            flops.append(2 * prod(sizes[c] for c in both))
        left = both & later
    return flops


def _einsum_back(products, grads):
    """The backward passes of all products: two each, less those for factors whose gradient nobody asked for."""
    return 2 * sum(products) - sum(products[max(i - 1, 0)] for i, g in enumerate(grads) if g is None and i <= len(products))


def _of_product(op):
    """The gradient of each factor is a product as large as the first one."""

    def count(counter, shapes, kwargs, out, grads):
        formula = counter.flop_registry[op]
        a, b = shapes[-2:]
        turned = [*a[:-2], a[-1], a[-2]], [*b[:-2], b[-1], b[-2]]
        first, second = grads[-2:]
        counter._add(op, (formula(out, turned[1], out_val=a) if first is not None else 0) + (formula(turned[0], out, out_val=b) if second is not None else 0))

    return count


def _of_convolution(counter, shapes, kwargs, out, grads):
    mask = [g is not None for g in grads]
    counter._add(aten.convolution_backward, counter.flop_registry[aten.convolution_backward](
        out, shapes[0], shapes[1], None, *shapes[3:9], mask, out_val=tuple(grads)))


_BACKWARD = {"mm": _of_product(aten.mm), "addmm": _of_product(aten.mm), "bmm": _of_product(aten.bmm), "baddbmm": _of_product(aten.bmm),
             "convolution": _of_convolution}
