"""Products of vectors, matrices and stacks of them (layer 2).

float32 products run at full precision on every device; half precision is accumulated in float32 by XLA; integers are exact.
"""

from __future__ import annotations

import string

import jax
import jax.numpy as jnp

from .._core import dtypes, precision, shapes
from .._core.config import default_dtype
from . import held
from .conventions import cxx_name, only, partials
from .memory import blocks, outer
from .reduce import total, type_of
from .registry import SMOOTH, at, call, fails, op, real
from .shape import expand
from .tracing import scan

_BOTH = {"self": ("mat2",), "mat2": ("self",)}
_OTHER = {"self": ("other",), "other": ("self",)}


def product(a, b):
    """a @ b of arrays of one dtype."""
    return jnp.matmul(a, b, precision=precision.of("matmul"))


def _words(shape):
    return "x".join(map(str, shape))


def _same(a, b):
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {cxx_name(a)} != {cxx_name(b)}")


def _fit(a, b):
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_words(a.shape)} and {_words(b.shape)})")


# Two operands

@op("mm(Tensor self, Tensor mat2) -> Tensor", node="MmBackward0", saves=_BOTH, samples=[call(real(2, 3), real(3, 4)), call(real(2, 0), real(0, 3))],
    kinks=SMOOTH, errors=[fails(call(real(2, 3), real(2, 3)), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
                          fails(call(real(2, 3), real(3, 2, dtype="float32")), RuntimeError,
                                "expected m1 and m2 to have the same dtype, but got: double != float"),
                          fails(call(real(3), real(3, 2)), RuntimeError, "self must be a matrix")])
def mm(self, mat2):
    """Matrix times matrix."""
    for x, word in ((self, "self"), (mat2, "mat2")):
        if x.ndim != 2:
            raise RuntimeError(f"{word} must be a matrix")
    _fit(self, mat2)
    _same(self, mat2)
    return product(_summed("addmm_impl_cpu_", self, mat2), mat2)


def _summed(kernel, a, b):
    """`a`, which may hold bools only where nothing is multiplied."""
    return only(kernel, a, "ifc") if a.size and b.size else a


@op("mv(Tensor self, Tensor vec) -> Tensor", node="MvBackward0", saves={"self": ("vec",), "vec": ("self",)}, samples=[call(real(2, 3), real(3))],
    kinks=SMOOTH, errors=[fails(call(real(2, 3), real(2)), RuntimeError, "size mismatch, got input (2), mat (2x3), vec (2)")])
def mv(self, vec):
    """Matrix times vector."""
    _check_mv(self, vec, 1, 1)
    if self.dtype != vec.dtype:
        a, b = type_of(self).char_name, type_of(vec).char_name
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {b}, {a}, and {b}")
    return product(_summed("addmv_impl_cpu", self, vec), vec)


def _check_mv(mat, vec, ndim, size):
    if mat.ndim != 2 or vec.ndim != 1 or ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or size not in (1, mat.shape[0]):
        raise RuntimeError(f"size mismatch, got input ({mat.shape[0] if size == 1 else size}), mat ({_words(mat.shape)}), vec ({vec.shape[0]})")


def _check_dot(name, a, b):
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {type_of(a).char_name} and {type_of(b).char_name}")
    if a.size != b.size:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of elements, but got "
                           f"{a.size} and {b.size} elements respectively")
    only(name, a, "ifc")


@op("dot(Tensor self, Tensor tensor) -> Tensor", node="DotBackward0", saves={"self": ("tensor",), "tensor": ("self",)},
    samples=[call(real(3), real(3)), call(real(0), real(0))], kinks=SMOOTH,
    errors=[fails(call(real(2), real(3)), RuntimeError, "inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements"),
            fails(call(real(2, 1), real(3)), RuntimeError, "1D tensors expected, but got 2D and 1D tensors")])
def dot(self, tensor):
    """The sum of products."""
    _check_dot("dot", self, tensor)
    return product(self, tensor)


@op("vdot(Tensor self, Tensor other) -> Tensor", node="VdotBackward0", saves={"self": ("other",), "other": ("self",)},
    samples=[call(real(3), real(3)), call(real(3, dtype="complex128"), real(3, dtype="complex128"))], kinks=SMOOTH)
def vdot(self, other):
    """The sum of products, the first factors conjugated."""
    _check_dot("dot", self, other)
    return product(jnp.conj(self), other)


def _expect_same(a, b):
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type {type_of(a).char_name} but found {type_of(b).char_name}")


def _check_bmm(batch1, batch2):
    for x, word in ((batch1, "batch1"), (batch2, "batch2")):
        if x.ndim != 3:
            raise RuntimeError(f"{word} must be a 3D tensor")
    expected = [batch1.shape[0], batch1.shape[2]]
    if list(batch2.shape[:2]) != expected:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {list(batch2.shape[:2])}.")


@op("bmm(Tensor self, Tensor mat2) -> Tensor", node="BmmBackward0", saves=_BOTH, samples=[call(real(2, 2, 3), real(2, 3, 4))], kinks=SMOOTH,
    errors=[fails(call(real(2, 3, 4), real(2, 3, 4)), RuntimeError,
                  "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]."),
            fails(call(real(3, 4), real(3, 4, 2)), RuntimeError, "batch1 must be a 3D tensor")])
def bmm(self, mat2):
    """Matrix times matrix, one for each entry of the first dim."""
    _check_bmm(self, mat2)
    _expect_same(_summed("bmm", self, mat2), mat2)
    return product(self, mat2)


# A product added to something: beta * self + alpha * product

_FACTORS_OF_SUMS = ("beta", "alpha")
_OWN, _WIDE = dict.fromkeys(_FACTORS_OF_SUMS, held.own), dict.fromkeys(_FACTORS_OF_SUMS, held.wide)
_SCALES = {"beta": lambda x, flat: x in (0, 1), "alpha": lambda x, flat: x == 1}
_WHOLE = {k: lambda x, flat, told=told: type(x) is not float and told(x, flat) for k, told in _SCALES.items()}  # `addr` asks for the type of numbers
_UNREAD = {**_SCALES, "alpha": _SCALES["beta"]}


def _factor(value, dtype):
    """alpha or beta in this type, which a complex one is refused for later; 0 and 1 are part of the program."""
    if not hasattr(value, "dtype"):
        return value
    return (value if jnp.issubdtype(dtype, jnp.complexfloating) else jnp.real(value)).astype(dtype)


def _added(self, out, beta, alpha):
    """beta * self + alpha * out in the type of self; self is not looked at where beta is 0."""
    kind, self = self.dtype, self.astype(out.dtype)
    beta, alpha = _factor(beta, out.dtype), _factor(alpha, out.dtype)
    if hasattr(alpha, "dtype"):
        out = out * alpha
    if hasattr(beta, "dtype"):
        return (self * beta + out).astype(kind)
    return (self + out if beta == 1 else out).astype(kind)


_HALVES = (jnp.bfloat16, jnp.float16)


def _added_product(self, a, b, beta, alpha):
    """beta * self + alpha * a @ b.  torch rounds it once where these are of half precision: product, factors and sum are of float32."""
    if a.dtype not in _HALVES:
        return _added_unless_0(self, product(a, b), beta, alpha)
    return _added(self, _in_float32(a, b, jnp.asarray(_factor(alpha, jnp.float32), jnp.float32)), beta, 1)


def _added_unless_0(self, out, beta, alpha):
    """`_added`, where BLAS does not read the factors of a product times 0."""
    return _added(self, _unread(out), beta, 1) if not hasattr(alpha, "dtype") and alpha == 0 else _added(self, out, beta, alpha)


@partials(lambda t, out, x: t * 0)
def _unread(x):
    """x times 0, whatever x is."""
    return jnp.zeros_like(x)


@jax.custom_jvp
def _in_float32(a, b, alpha):
    """alpha * a @ b before it is rounded; its derivatives are products that are rounded and then multiplied by alpha, as torch's are."""
    return jnp.matmul(a, b, precision=precision.of("matmul"), preferred_element_type=jnp.float32) * alpha


def _scaled(x, alpha):
    return (x.astype(jnp.float32) * alpha).astype(x.dtype)


_in_float32.defjvps(lambda t, out, a, b, alpha: product(_scaled(t, alpha), b).astype(jnp.float32),
                    lambda t, out, a, b, alpha: product(a, _scaled(t, alpha)).astype(jnp.float32), None)


def _check_addmm(self, mat1, mat2):
    for a, b, word in ((self, mat2, "self"), (mat1, mat2, "mat1")):
        if a.dtype != b.dtype:
            raise RuntimeError(f"{word} and mat2 must have the same dtype, but got {type_of(a).char_name} and {type_of(b).char_name}")
    for x, word in ((mat1, "mat1"), (mat2, "mat2")):
        if x.ndim != 2:
            raise RuntimeError(f"{word} must be a matrix, got {x.ndim}-D tensor")
    _fit(mat1, mat2)


@op("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", node="AddmmBackward0", lift=("beta", "alpha"),
    holds=_WIDE, wide=_FACTORS_OF_SUMS, bake=_UNREAD,
    inplace=True, saves={"mat1": ("mat2",), "mat2": ("mat1",)},
    samples=[call(real(2, 4), real(2, 3), real(3, 4)), call(real(4), real(2, 3), real(3, 4), beta=0.5, alpha=2.5),
             call(real(2, 4), real(2, 3), real(3, 4), beta=0)],
    kinks=SMOOTH, errors=[fails(call(real(3, 4), real(2, 3), real(3, 4)), RuntimeError,
                                "The expanded size of the tensor (2) must match the existing size (3)")])
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    """beta * self + alpha * mat1 @ mat2."""
    _check_addmm(self, mat1, mat2)
    base = expand(self, size=(mat1.shape[0], mat2.shape[1]))
    if _without_products(base, mat1):
        return _kept(base, beta)
    return _added_product(base, only("addmm_impl_cpu_", mat1, "ifc"), mat2, beta, alpha)


@op("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", node="AddmvBackward0", lift=("beta", "alpha"),
    holds=_OWN, bake=_UNREAD,
    inplace=True, saves={"mat": ("vec",), "vec": ("mat",)},
    samples=[call(real(2), real(2, 3), real(3)), call(real(1), real(2, 3), real(3), beta=0.5, alpha=2.5)], kinks=SMOOTH,
    errors=[fails(call(real(2), real(2, 3), real(2)), RuntimeError, "size mismatch, got input (2), mat (2x3), vec (2)")])
def addmv(self, mat, vec, *, beta=1, alpha=1):
    """beta * self + alpha * mat @ vec."""
    _check_mv(mat, vec, self.ndim, self.size)
    base = expand(self, size=(mat.shape[0],))
    kinds = [type_of(x).char_name for x in (self, mat, vec)]
    if len(set(kinds)) > 1:
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {kinds[0]}, {kinds[1]}, and {kinds[2]}")
    if mat.dtype in _HALVES and hasattr(beta, "dtype"):  # rounded by itself, and with factors that are
        base, beta = base * _factor(beta, base.dtype), 1
    if jnp.iscomplexobj(mat) and not hasattr(alpha, "dtype") and alpha == 0:
        alpha = jnp.zeros((), mat.dtype)  # torch 2.13: here the factors are read
    if _without_products(base, mat):
        return _kept(base, beta, cast=True)
    return _added_product(base, only("addmv_impl_cpu", mat, "ifc"), vec, beta, alpha)


def _without_products(base, first):
    """Whether the kernel, which takes no truth values, is not asked, as there is nothing to multiply."""
    return base.dtype == bool and (base.size == 0 or first.size == 0)


def _kept(base, beta, cast=False):
    """beta * base for truth values; a number that is none is refused, where it is not cast."""
    if base.size and not cast and (beta.dtype != bool if hasattr(beta, "dtype") else type(beta) is not bool and beta != 0):
        raise RuntimeError(f"result type {type_of(jnp.asarray(beta)).char_name} can't be cast to the desired output type Bool")
    return base & jnp.asarray(beta).astype(bool)


def _promoted(*arrays):
    """Arrays cast to torch's result type of all."""
    kinds = [[type_of(x) for x in arrays if (x.ndim > 0) == dims] for dims in (True, False)]
    out = dtypes.result_type(kinds[0], kinds[1], [], default_dtype())
    return [x.astype(out.np) for x in arrays]


@op("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", node="AddrBackward0", lies=outer, lift=("beta", "alpha"),
    holds=_OWN, bake=_WHOLE,
    inplace=True, saves={"vec1": ("vec2",), "vec2": ("vec1",)},
    samples=[call(real(2, 3), real(2), real(3)), call(real(3), real(2), real(3), beta=0.5, alpha=2.5)], kinks=SMOOTH,
    errors=[fails(call(real(2, 2), real(2, 1), real(3)), RuntimeError, "addr: Expected 1-D argument vec1, but got 2-D")])
def addr(self, vec1, vec2, *, beta=1, alpha=1):
    """beta * self + alpha * the outer product of two vectors."""
    for x, word in ((vec1, "vec1"), (vec2, "vec2")):
        if x.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {word}, but got {x.ndim}-D")
    base = expand(self, size=(vec1.shape[0], vec2.shape[0]))
    base, vec1, vec2 = _promoted(base, vec1, vec2)
    only("addr_cpu", base, "bifc")
    for scale, word in ((beta, "beta"), (alpha, "alpha")):
        if base.dtype != bool and (isinstance(scale, bool) or str(getattr(scale, "dtype", "")) == "bool"):
            raise RuntimeError(f"Boolean {word} only supported for Boolean results.")
        _check_scale(base, scale, word)
    if base.dtype == bool:
        return _addr_bool(base, vec1[:, None] & vec2[None, :], beta, alpha)
    scaled = vec1 * _factor(alpha, vec1.dtype) if hasattr(alpha, "dtype") else vec1
    return _added(base, scaled[:, None] * vec2[None, :], beta, 1)


def _addr_bool(base, outer, beta, alpha):
    return (base & jnp.asarray(beta, bool)) | (outer & jnp.asarray(alpha, bool))


def _check_scale(x, value, name):
    if hasattr(value, "dtype") and type_of(value).category == dtypes.FLOAT and type_of(x).category < dtypes.FLOAT:
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")


def _size(x, dim):
    return x.shape[shapes.wrap_dim(dim, x.ndim)]


@op("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", node="BaddbmmBackward0", lift=("beta", "alpha"),
    holds=_WIDE, wide=_FACTORS_OF_SUMS, bake=_SCALES, inplace=True, saves={"batch1": ("batch2",), "batch2": ("batch1",)},
    samples=[call(real(2, 2, 4), real(2, 2, 3), real(2, 3, 4)), call(real(4), real(2, 2, 3), real(2, 3, 4), beta=0.5, alpha=2.5)], kinks=SMOOTH,
    errors=[fails(call(real(2, 2, 4), real(2, 2, 3), real(2, 2, 4)), RuntimeError,
                  "Expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: [2, 2].")])
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    """beta * self + alpha * batch1 @ batch2, one for each entry of the first dim."""
    base = expand(self, size=(*batch1.shape[:2], _size(batch2, 2)))
    kinds = [cxx_name(x) for x in (self, batch1, batch2)]
    if kinds[0] == kinds[1] != kinds[2]:
        raise RuntimeError(f"expected scalar type {type_of(only('baddbmm', self, 'ifuc')).char_name} but found {type_of(batch2).char_name}")
    if len(set(kinds)) > 1:
        raise RuntimeError(f"Input dtypes must be the same, got: input {kinds[0]}, batch1: {kinds[1]}, batch2: {kinds[2]}")
    _check_bmm(batch1, batch2)
    if _without_products(base, batch1):
        return _kept(base, beta)
    return _added_product(base, only("baddbmm", batch1, "ifc"), batch2, beta, alpha)


@op("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", node="AddbmmBackward0", lift=("beta", "alpha"),
    holds=_WIDE, wide=_FACTORS_OF_SUMS, bake=_UNREAD, inplace=True, saves={"batch1": ("batch2",), "batch2": ("batch1",)},
    samples=[call(real(2, 4), real(2, 2, 3), real(2, 3, 4)), call(real(4), real(2, 2, 3), real(2, 3, 4), beta=0.5, alpha=2.5)], kinks=SMOOTH,
    errors=[fails(call(real(2, 4), real(2, 2, 3), real(2, 2, 4)), RuntimeError, "Incompatible matrix sizes for bmm (2x3 and 2x4)")])
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    """beta * self + alpha * the sum of batch1 @ batch2 over the first dim."""
    base = expand(self, size=(_size(batch1, 1), _size(batch2, 2)))
    for x, word in ((batch1, "batch1"), (batch2, "batch2")):
        if x.ndim != 3:
            raise RuntimeError(f"{word} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and {batch2.shape[0]}")
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({_words(batch1.shape[1:])} and {_words(batch2.shape[1:])})")
    if batch1.shape[0]:
        _check_addmm(self, batch1[0], batch2[0])
    if _without_products(base, batch1):
        return _kept(base, beta)
    batch1 = only("addmm_impl_cpu_", batch1, "ifc")
    if batch1.dtype in _HALVES and batch1.shape[0]:
        return _added_in_turn(base, batch1, batch2, beta, alpha)
    summed = jnp.einsum("bij,bjk->ik", batch1, batch2, precision=precision.of("matmul"))
    return _added_unless_0(base, summed, beta, alpha)


def _added_in_turn(base, batch1, batch2, beta, alpha):
    """Half precision is rounded after each of the products."""
    first = _added_product(base, batch1[0], batch2[0], beta, alpha)
    return scan(lambda sofar, pair: (_added_product(sofar, *pair, 1, alpha), None), first, (batch1[1:], batch2[1:]))[0]


# Products made of products

@op("_inner(Tensor self, Tensor other) -> Tensor", node="ViewBackward0", names=(), saves=_OTHER, samples=[call(real(3), real(3)), call(real(2, 3), real(4, 3))], kinks=SMOOTH,
    errors=[fails(call(real(3), real(4)), RuntimeError, "inner() the last dimension must match on both input tensors but got shapes [3] and [4]")])
def _inner(self, other):
    """Sums of products over the last dims."""
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(self.shape)} and {list(other.shape)}")
    if self.dtype != other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if self.ndim == other.ndim == 1:
        only("dot", self, "ifc")
    _summed("addmm_impl_cpu_", self, other)
    return jnp.tensordot(self, other, axes=((self.ndim - 1,), (other.ndim - 1,)), precision=precision.of("matmul"))


@op("kron(Tensor self, Tensor other) -> Tensor", node="UnsafeViewBackward0", lies=blocks, opmath=False, samples=[call(real(2, 2), real(3)), call(real(()), real(2))],
    kinks=SMOOTH)
def kron(self, other):
    """All products of elements, laid out in blocks."""
    rank = max(self.ndim, other.ndim)
    a, b = _promoted(*[x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (self, other)])  # beside dims a scalar's dtype counts too
    left = a.reshape([n for size in a.shape for n in (size, 1)])
    right = b.reshape([n for size in b.shape for n in (1, size)])
    out = left & right if left.dtype == bool else left * right
    return out.reshape([m * n for m, n in zip(a.shape, b.shape)])


@op("_tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", node="ViewBackward0", names=(), saves=_OTHER,
    samples=[call(real(2, 3, 4), real(4, 3, 2), (1, 2), (1, 0)), call(real(2), real(3), (), ())], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), real(4, 2), (-1,), (0,)), RuntimeError,
                  "contracted dimensions need to match, but first has size 3 in dim -1 and second has size 4 in dim 0")])
def _tensordot(self, other, *, dims_self, dims_other):
    """Sums of products over pairs of dims."""
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    if self.dtype != other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    left = [shapes.wrap_dim(d, self.ndim, scalar_ok=False) for d in dims_self]
    right = [shapes.wrap_dim(d, other.ndim, scalar_ok=False) for d in dims_other]
    ones_left, ones_right = [], []
    for i, j, a, b in zip(left, right, dims_self, dims_other):
        m, n = self.shape[i], other.shape[j]
        if n == 1:
            ones_left.append(i)
        elif m == 1:
            ones_right.append(j)
        elif m != n:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {m} in dim {a} and second has size {n} in dim {b}")
    self, other = total(self, tuple(ones_left), True), total(other, tuple(ones_right), True)
    _summed("addmm_impl_cpu_", self, other)
    return jnp.tensordot(self, other, axes=(left, right), precision=precision.of("matmul"))


@op("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", node="LinalgCrossBackward0", names=("torch.linalg.cross",),
    saves={"self": ("other",), "other": ("self",)}, samples=[call(real(2, 3), real(2, 3)), call(real(1, 3), real(2, 3)), call(real(3, 2), real(3, 2), dim=0)],
    kinks=SMOOTH, errors=[fails(call(real(2, 2), real(2, 2)), RuntimeError, "linalg.cross: inputs dimension -1 must have length 3. Got 2 and 2")])
def linalg_cross(self, other, *, dim=-1):
    """The vector product along a dim of size 3."""
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = shapes.sized_dim(dim, self.shape)
    if self.shape[axis] != 3 or other.shape[axis] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[axis]} and {other.shape[axis]}")
    size = shapes.broadcast(self.shape, other.shape)
    _expect_same(only("cross", self, "ifc"), other)
    a, b = jnp.broadcast_to(self, size), jnp.broadcast_to(other, size)
    a1, b1, a2, b2 = jnp.roll(a, -1, axis), jnp.roll(b, -1, axis), jnp.roll(a, -2, axis), jnp.roll(b, -2, axis)
    return a1 * b2 - a2 * b1


def _bilinear(input1, input2, weight, bias):
    given = [("input1", input1), ("input2", input2), ("weight", weight), *([] if bias is None else [("bias", bias)])]
    if any(x.dtype != input1.dtype for _, x in given):
        raise RuntimeError("All tensors must have the same dtype, got " + ", ".join(f"{name}: {cxx_name(x)}" for name, x in given))
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    if not input1.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    for i in range(input1.ndim - 1):
        if input1.shape[i] != input2.shape[i]:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {input1.shape[i]} and {input2.shape[i]}")
    for x, word, axis in ((input1, "input1", 1), (input2, "input2", 2)):
        axis = shapes.wrap_dim(axis, weight.ndim)
        if x.shape[-1] != weight.shape[axis]:
            raise RuntimeError(f"bilinear(): {word} size does not match weight size: got {x.shape[-1]} but expected {weight.shape[axis]}")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}")
    if weight.ndim != 3:
        raise RuntimeError("number of dimensions must match")
    only("bmm", input1, "ifc")
    out = _einsum("...i,kij,...j->...k", input1, weight, input2)
    return out if bias is None else out + jnp.broadcast_to(bias, shapes.broadcast(out.shape, bias.shape))


_THREE = {"input1": ("input2", "weight"), "input2": ("input1", "weight"), "weight": ("input1", "input2")}


@op("_bilinear(Tensor input1, Tensor input2, Tensor weight) -> Tensor", node="ViewBackward0", names=(), saves=_THREE, real_only="_trilinear",
    samples=[call(real(2, 3), real(2, 4), real(5, 3, 4))], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), real(3, 4), real(5, 3, 4)), RuntimeError, "bilinear(): input batch dimensions do not match at dim 0: got 2 and 3")])
def _bilinear_plain(input1, input2, weight):
    """input1 @ weight @ input2 for every output feature."""
    return _bilinear(input1, input2, weight, None)


@op("_bilinear.bias(Tensor input1, Tensor input2, Tensor weight, Tensor bias) -> Tensor", node="AddBackward0", names=(), saves=_THREE, real_only="_trilinear",
    samples=[call(real(2, 3), real(2, 4), real(5, 3, 4), real(5))], kinks=SMOOTH)
def _bilinear_bias(input1, input2, weight, bias):
    """input1 @ weight @ input2 + bias for every output feature."""
    return _bilinear(input1, input2, weight, bias)


@op("_squeezed(Tensor self, int dim) -> Tensor", node="SqueezeBackward4", names=(), samples=[call(real(1, 3), 0)], kinks=SMOOTH)
def _squeezed(self, *, dim):
    """A fresh tensor without its dim of size 1."""
    return jnp.squeeze(self, dim)


# Sums of products over named indices

_LETTERS = string.ascii_letters


def _contract(tensors, equation):
    """einsum over labels that are letters; a dim of size 1 stands for any size of its label."""
    inputs, _, output = equation.partition("->")
    labels = inputs.split(",")
    size = {}
    for x, label in zip(tensors, labels):
        for letter, n in zip(label, x.shape):
            size[letter] = n if n != 1 else size.get(letter, 1)
    whole, names = [], []
    for x, label in zip(tensors, labels):
        ones = [i for i, letter in enumerate(label) if x.shape[i] == 1 and size[letter] != 1]
        whole.append(jnp.squeeze(x, ones))
        names.append("".join(letter for i, letter in enumerate(label) if i not in ones))
    if whole[0].dtype in _HALVES:  # what no other operand has is summed first, in float32, as in torch
        every = "".join(names) + output
        for k, name in enumerate(names):
            alone = tuple(i for i, letter in enumerate(name) if every.count(letter) == 1)
            whole[k], names[k] = total(whole[k], alone), "".join(letter for i, letter in enumerate(name) if i not in alone)
    return _einsum(",".join(names) + "->" + output, *whole)


def _einsum(equation, *operands):
    """jnp.einsum, whose order of more than two factors depends on their sizes."""
    if len(operands) > 2:
        tuple(int(n) for x in operands for n in x.shape)  # symbols are not accepted: JAX orders these as if they were all of one size
    return jnp.einsum(equation, *operands, precision=precision.of("matmul"))


def _expect_met(tensors, equation):
    """Raise where a pair, taken from the left, sums over what both have as a matrix product and their dtypes differ; other pairs only multiply.

    Of the first two the right one is the first factor where all its own dims come before the left one's; a product so far comes before a further operand.
    """
    inputs, _, output = equation.partition("->")
    labels = inputs.split(",")
    place = {letter: i for i, letter in enumerate([*output, *sorted(set(inputs) - {*output, ","})])}
    wide = [{letter for letter, n in zip(label, x.shape) if n != 1} for label, x in zip(labels, tensors)]
    left, mine = tensors[0], wide[0]
    for k, (right, theirs) in enumerate(zip(tensors[1:], wide[1:]), 1):
        later = set(output).union(*labels[k + 1:])
        if (mine & theirs) - later:
            first, second = [place[c] for c in mine - theirs if c in later], [place[c] for c in theirs - mine if c in later]
            swapped = k == 1 and first and second and max(second) < min(first)
            pair = (right, left) if swapped else (left, right)
            if left.size and right.size:
                only("bmm", pair[0], "ifc")
            _expect_same(*pair)
        elif left.dtype != right.dtype:
            left = _promoted(left, right)[0]
        mine = (mine | theirs) & later


_EINSUMS = [call((real(2, 3), real(3, 4)), "ab,bc->ac")]


_FACTORS = {"tensors": ("factors",)}  # of a product made from the left


@op("_einsum_view(Tensor[] tensors, str equation) -> Tensor", node="ViewBackward0", names=(), saves=_FACTORS, samples=_EINSUMS, kinks=SMOOTH)
def _einsum_view(tensors, *, equation):
    """Sums of products of several tensors."""
    inputs, _, output = equation.partition("->")
    once = {letter for letter in inputs if inputs.count(letter) == 1 and letter not in output}
    whole = [any(n != 1 and letter in once for letter, n in zip(label, x.shape)) and type_of(x).category < dtypes.FLOAT
             for label, x in zip(inputs.split(","), tensors)]
    tensors = [x.astype(jnp.int64) if wide else x for wide, x in zip(whole, tensors)]  # what one operand alone has is summed first: integers as int64
    _expect_met(tensors, equation)
    return _contract(_promoted(*tensors), equation)


@op("_einsum_mul(Tensor[] tensors, str equation) -> Tensor", node="MulBackward0", names=(), opmath=False, saves=_FACTORS,
    samples=[call((real(2), real(3)), "a,b->ab")],
    kinks=SMOOTH)
def _einsum_mul(tensors, *, equation):
    """Products without any sum."""
    kind = _promoted(*tensors)
    if kind[0].dtype == bool:
        return _contract([x.astype(jnp.int32) for x in kind], equation) != 0
    return _contract(kind, equation)


def _check_vecdot(types, result, statics):
    """What torch refuses, said of the types as they were given: half precision is widened after it."""
    x, y = types["x"].dtype, types["y"].dtype
    if x.category < dtypes.FLOAT:
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {x.char_name}")
    if x is not y:
        raise RuntimeError(f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {x.char_name} and y of type {y.char_name} instead")


@op("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", node="SumBackward1", names=(), opmath=True, check=_check_vecdot, saves={"x": ("y",), "y": ("x",)},
    samples=[call(real(2, 3), real(2, 3)), call(real(2, 3), real(3)), call(real(2, 3, dtype="complex128"), real(2, 3, dtype="complex128"), dim=0)],
    kinks=SMOOTH,
    errors=[fails(call(at(1, 2, dtype="int64", grad=False), at(1, 2, dtype="int64", grad=False)), RuntimeError,
                  "linalg.vecdot: Expected a floating point or complex tensor as input. Got Long")])
def linalg_vecdot(x, y, *, dim=-1):
    """Sums of products along a dim, the first factors conjugated."""
    size = shapes.broadcast(x.shape, y.shape)
    axis = shapes.wrap_dim(dim, len(size))
    return total(jnp.conj(jnp.broadcast_to(x, size)) * jnp.broadcast_to(y, size), (axis,) if size else ())
