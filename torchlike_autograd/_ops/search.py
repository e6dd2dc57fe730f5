"""Searching, counting, membership, distinct values (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp

from .._core.dtypes import bool_, from_numpy_dtype, promote_types
from .casts import copied
from .conventions import needs_tensor, only
from .memory import entries
from .places import long
from .registry import NONE, SMOOTH, UNIMPLEMENTED, at, call, fails, op, real


def _found(rows, values, right):
    """For each row of sorted numbers the position where each value would go, by bisection as torch does (which decides where NaN goes)."""
    n = rows.shape[-1]
    low = jnp.zeros(values.shape, jnp.int64)
    high = jnp.full(values.shape, n, jnp.int64)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        at_middle = jnp.take_along_axis(rows, jnp.minimum(middle, n - 1), -1)
        beyond = ~(at_middle > values) if right else ~(at_middle >= values)
        beyond = beyond & (low < high)
        low, high = jnp.where(beyond, middle + 1, low), jnp.where(beyond, high, jnp.minimum(high, middle))
    return low


def _common(a, b):
    d = promote_types(from_numpy_dtype(a.dtype), from_numpy_dtype(b.dtype)).np
    return a.astype(d), b.astype(d)


def _search(rows, values, right, out_int32):
    rows, values = _common(rows, values)
    if values.size:  # of nothing, any dtype is taken
        only("searchsorted_out_cpu", rows, "if")
    if rows.shape[-1] == 0 or not values.size:
        found = jnp.zeros(values.shape, jnp.int64)
    elif rows.ndim == 1:
        found = _found(rows, values.reshape(-1), right).reshape(values.shape)
    else:
        found = _found(rows, values, right)
    return found.astype(jnp.int32) if out_int32 else found


def _is_right(right, side):
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
    return right or side == "right"


def _astray(sorted_sequence, self, sorter, **_):
    return 0 if sorter is None else jnp.any((sorter < 0) | (sorter >= max(sorted_sequence.shape[-1], 1)))


@op("searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    guard=_astray, guard_error=lambda *_, **__: RuntimeError("torch.searchsorted(): sorter index out of range"),
    derivative=NONE, method=False, scalars=("self",), samples=[call(at(1.0, 3.0, 5.0, grad=False), at(3.0, 4.0, grad=False)), call(at(1.0, 3.0, grad=False), 3.0, right=True)],
    kinks=SMOOTH, errors=[fails(call(at(1.0, 3.0, grad=False), 3.0, side="left", right=True), RuntimeError, "torch.searchsorted(): side and right can't be set to opposites")])
def searchsorted(sorted_sequence, self, sorter, *, out_int32=False, right=False, side=None):
    """Where values would be inserted into sorted rows."""
    right = _is_right(right, side)
    if self.ndim == 0 and sorted_sequence.ndim != 1:
        raise RuntimeError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor "
                           f"dim({sorted_sequence.ndim}) and input value's dim(0) numel(1)")
    if sorted_sequence.ndim == 0:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if sorted_sequence.ndim != 1 and sorted_sequence.shape[:-1] != self.shape[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must "
                           f"match, but we got boundaries tensor {list(sorted_sequence.shape)} and input value tensor {list(self.shape)}")
    if sorter is not None:
        if sorter.shape != sorted_sequence.shape:
            raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                               f"{list(sorted_sequence.shape)}and got sorter tensor {list(sorter.shape)}")
        if sorter.dtype != jnp.int64:
            raise RuntimeError(f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {from_numpy_dtype(sorter.dtype).char_name}")
        sorted_sequence = jnp.take_along_axis(sorted_sequence, sorter, -1)
    return _search(sorted_sequence, self, right, out_int32)


@op("bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", derivative=NONE, method=False, scalars=("self",),
    samples=[call(at(3.0, 4.0, grad=False), at(1.0, 3.0, 5.0, grad=False)), call(3.0, at(1.0, 3.0, grad=False), right=True)], kinks=SMOOTH,
    errors=[fails(call(real(2, grad=False), real(1, 2, grad=False)), RuntimeError, "boundaries tensor must be 1 dimension, but got dim(2)")])
def bucketize(self, boundaries, *, out_int32=False, right=False):
    """The bucket between sorted boundaries into which each value falls."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _search(boundaries, self, right, out_int32)


_ISIN_LISTS = "".join(f" * ({a}, {b}, *, bool assume_unique = False, bool invert = False, Tensor out = None)\n" for a, b in (
    ("Tensor elements", "Tensor test_elements"), ("Number element", "Tensor test_elements"), ("Tensor elements", "Number test_element")))
_one_is_tensor = needs_tensor("isin", _ISIN_LISTS)


def _check_isin(types, result, statics):
    _one_is_tensor(types, result, statics)
    for t in types.values():
        if t.dtype.is_complex or t.dtype is bool_:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {t.dtype.char_name}")


@op("isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", derivative=NONE, method=False, check=_check_isin,
    scalars=("elements", "test_elements"), samples=[call(long(1, 2, 3), long(2, 3)), call(long(1, 2), 2), call(2, long(1, 2))], kinks=SMOOTH)
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element is among the test elements."""
    have, tests = _common(elements, test_elements)
    tests = jnp.sort(tests.reshape(-1))
    if tests.size == 0:
        return jnp.full(have.shape, invert)
    where = _found(tests, have.reshape(-1), False)
    inside = (tests[jnp.minimum(where, tests.size - 1)] == have.reshape(-1)).reshape(have.shape)
    return ~inside if invert else inside


def _classes(self, *, num_classes):
    return jnp.where(jnp.any(self < 0), 1, jnp.where(jnp.any(self >= num_classes), 2, 0)) if self.size else 0


_CLASS_WORDS = {1: "Class values must be non-negative.", 2: "Class values must be smaller than num_classes."}


@op("_one_hot(Tensor self, *, int num_classes) -> Tensor", derivative=NONE, names=(), guard=_classes,
    guard_error=lambda code, *_, **__: RuntimeError(_CLASS_WORDS[code]), samples=[call(long(0, 2), num_classes=3)], kinks=SMOOTH)
def _one_hot(self, *, num_classes):
    """Ones at the class numbers (checked by the caller) along a new last dim."""
    return (self[..., None] == jnp.arange(num_classes, dtype=self.dtype).reshape((1,) * self.ndim + (-1,))).astype(jnp.int64)


@op("_bincount(Tensor self, *, int size) -> Tensor", derivative=NONE, names=(), samples=[call(long(0, 2, 2), size=4)], kinks=SMOOTH)
def _bincount(self, *, size):
    """How often each number below `size` occurs."""
    return jnp.zeros(size, jnp.int64).at[self.astype(jnp.int64)].add(1)


@op("bincount(Tensor self, Tensor weights, *, int size) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, names=(), nondiff=("self",),
    samples=[call(long(0, 2, 2), real(3, grad=False), size=4)], kinks=SMOOTH)
def _bincount_weighted(self, weights, *, size):
    """The sum of the weights of each number below `size`."""
    wide = weights if weights.dtype in ("float32", "float64") else copied(weights, jnp.float64)
    return jnp.zeros(size, wide.dtype).at[self.astype(jnp.int64)].add(wide)


# Histograms, counted on the host: these give them a history through which backward raises

def _told(name):
    @op(f"{name}(Tensor[] sources, Tensor hist) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, second=f"aten::{name}", names=(),
        nondiff=("hist",), samples=[call([real(2, grad=False)], real(3, grad=False))], kinks=SMOOTH)
    def told(sources, hist):
        """What was found in the sources."""
        return hist


_told("_histogramdd_bin_edges")
_told("_histogramdd_from_bin_cts")
_told("_histogramdd_from_bin_tensors")


@op("_histogram(Tensor[] sources, Tensor hist, Tensor edges) -> (Tensor, Tensor)", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED,
    second="aten::histogram", names=(), nondiff=("hist", "edges"), samples=[call([real(2, grad=False)], real(3, grad=False), real(4, grad=False))], kinks=SMOOTH)
def _histogram(sources, hist, edges):
    """Counts and edges of the bins that were found in the sources."""
    return hist, edges


# Distinct values: the places of their first occurrences are found on the host; the values stay in the graph, where their derivative raises

def _distinct(name, node):
    @op(f"{name}(Tensor self, Tensor places, *, int? dim) -> Tensor", node=node, derivative=UNIMPLEMENTED, names=(), nondiff=("places",), lies=entries,
        samples=[call(real(3, grad=False), long(0, 2), dim=None)], kinks=SMOOTH)
    def values(self, places, *, dim):
        """The entries at `places`."""
        return self.reshape(-1)[places] if dim is None else jnp.take(self, places, axis=dim, mode="clip")

    return values


_distinct("_unique", "UniqueBackward0")
_distinct("_unique2", "Unique2Backward0")
_distinct("unique_dim", "UniqueDimBackward0")
_distinct("unique_consecutive", "UniqueConsecutiveBackward0")
