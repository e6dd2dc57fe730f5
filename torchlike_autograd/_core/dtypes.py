"""dtype objects and torch's promotion rules (layer 1).

A `dtype` is one immutable object per torch name.  Promotion follows torch 2.13: the category
(bool < int < float < complex) decides first, and within a category only operands with at least one
dimension count, then 0-dim tensors, then Python numbers ("wrapped").
"""

from __future__ import annotations

import jax.numpy as jnp
import ml_dtypes
import numpy as np

from .shown import Shown

__all__ = ["DTYPES", "can_cast", "dtype", "finfo", "from_numpy_dtype", "iinfo", "of_scalar", "promote_types", "result_type"]

BOOL, INT, FLOAT, COMPLEX = range(4)


class dtype(metaclass=Shown):
    """A torch dtype: `repr` is ``torch.<name>``; `np` is the matching NumPy dtype."""

    __slots__ = ("category", "char_name", "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "np")

    def __init__(self, name, np_dtype, category, char_name):
        self.name = name
        self.np = np.dtype(np_dtype)
        self.category = category
        self.char_name = char_name  # the word in messages and legacy type names: Float, Long, ...
        self.itemsize = self.np.itemsize
        self.is_floating_point = category == FLOAT
        self.is_complex = category == COMPLEX
        self.is_signed = not (category == BOOL or self.np.kind == "u")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return _by_name, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def to_complex(self):
        """The complex dtype of the same precision; RuntimeError where there is none."""
        if self.category == COMPLEX:
            return self
        if self is float16:
            return SMALL["complex32"]
        if self not in _COMPLEX_OF:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.char_name}")
        return _COMPLEX_OF[self]

    def complex_here(self):
        """The complex dtype that takes this one's place beside complex numbers; tensors of it can be made."""
        return _COMPLEX_OF.get(self, complex64 if self.category < COMPLEX else self)

    @property
    def abbr(self):
        """A short name: f32, i64, b8."""
        letter = self.name[0] if self.name.startswith(("uint", "complex", "float", "int")) else "bf" if self is bfloat16 else "b"
        return "b8" if self.category == BOOL else letter + self.name.lstrip("abcdefghijklmnopqrstuvwxyz").replace("_", "")

    def to_real(self):
        """The real dtype of the same precision."""
        return _REAL_OF.get(self, self)


class Small(dtype):
    """A dtype that programs compare with and ask about; tensors of it cannot be made here."""

    __slots__ = ()

    def __init__(self, name, char_name):
        half = name == "complex32"
        self.name, self.char_name, self.category, self.itemsize = name, char_name, COMPLEX if half else FLOAT, 4 if half else 1
        self.is_floating_point, self.is_complex, self.is_signed = not half, half, True

    @property
    def np(self):
        raise NotImplementedError(f"torch.{self.name}: there are no tensors of this dtype here")


class Quantized(Small):
    """A dtype of quantized tensors, which there are none of here; it has no sign to ask for."""

    __slots__ = ()

    def __init__(self, name, char_name, itemsize):
        self.name, self.char_name, self.category, self.itemsize = name, char_name, INT, itemsize
        self.is_floating_point = self.is_complex = False

    @property
    def is_signed(self):
        raise RuntimeError("isSignedType not supported for quantized types")

    @property
    def abbr(self):
        """Its name."""
        return self.name


def _by_name(name):
    return DTYPES.get(name) or SMALL[name]


float32 = dtype("float32", np.float32, FLOAT, "Float")
float64 = dtype("float64", np.float64, FLOAT, "Double")
float16 = dtype("float16", np.float16, FLOAT, "Half")
bfloat16 = dtype("bfloat16", jnp.bfloat16, FLOAT, "BFloat16")
complex64 = dtype("complex64", np.complex64, COMPLEX, "ComplexFloat")
complex128 = dtype("complex128", np.complex128, COMPLEX, "ComplexDouble")
uint8 = dtype("uint8", np.uint8, INT, "Byte")
int8 = dtype("int8", np.int8, INT, "Char")
int16 = dtype("int16", np.int16, INT, "Short")
int32 = dtype("int32", np.int32, INT, "Int")
int64 = dtype("int64", np.int64, INT, "Long")
uint16 = dtype("uint16", np.uint16, INT, "UInt16")
uint32 = dtype("uint32", np.uint32, INT, "UInt32")
uint64 = dtype("uint64", np.uint64, INT, "UInt64")
bool_ = dtype("bool", np.bool_, BOOL, "Bool")

DTYPES = {d.name: d for d in (
    float32, float64, float16, bfloat16, complex64, complex128,
    uint8, int8, int16, int32, int64, uint16, uint32, uint64, bool_)}
SMALL = {n: Small(n, n[0].upper() + n[1:]) for n in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")}
SMALL["complex32"] = SMALL["chalf"] = Small("complex32", "ComplexHalf")
for _name, _char, _size in (("qint8", "QInt8", 1), ("quint8", "QUInt8", 1), ("qint32", "QInt32", 4), ("quint4x2", "QUInt4x2", 1), ("quint2x4", "QUInt2x4", 1)):
    SMALL[_name] = Quantized(_name, _char, _size)
ALIASES = {"float": float32, "double": float64, "half": float16, "cfloat": complex64, "cdouble": complex128,
           "short": int16, "int": int32, "long": int64}
# what sums and products of many are added up in, by NumPy's names; other dtypes stay as they are
DOUBLED = {"float32": np.float64, "complex64": np.complex128}
_COMPLEX_OF = {float32: complex64, float64: complex128, bfloat16: complex64, float16: complex64}
_REAL_OF = {complex64: float32, complex128: float64, SMALL["complex32"]: float16}
_FROM_NUMPY = {d.np: d for d in DTYPES.values()}
_INT_RANK = {int8: 1, int16: 2, int32: 3, int64: 4}
_BAREBONES = {uint16, uint32, uint64}


def from_numpy_dtype(np_dtype) -> dtype:
    """The dtype for a NumPy dtype; TypeError in torch's words for one that torch lacks."""
    try:
        return _FROM_NUMPY[np.dtype(np_dtype)]
    except KeyError:
        from .errors import numpy_type_unsupported

        raise numpy_type_unsupported(np.dtype(np_dtype)) from None


def of_scalar(value) -> dtype:
    """The dtype class of a Python number before any default: bool, int64, float64 or complex128."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (float, np.floating)):
        return float64
    return complex128


def _promote_ints(a, b):
    if a is b:
        return a
    if uint8 in (a, b):
        other = b if a is uint8 else a
        return int16 if other is int8 else other
    return a if _INT_RANK[a] >= _INT_RANK[b] else b


def _promote_floats(a, b):
    if a is b:
        return a
    if {a, b} == {float16, bfloat16}:
        return float32
    return a if a.itemsize >= b.itemsize else b


def _promote(a, b):
    _need_dtypes("promote_types", type1=a, type2=b)
    if a is b:
        return a
    if isinstance(a, Quantized) or isinstance(b, Quantized):
        raise RuntimeError("promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, offending types: "
                           f"{a.char_name} {b.char_name}")
    if a.name.startswith("float8") or b.name.startswith("float8"):
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {a.char_name} and {b.char_name}")
    if (a in _BAREBONES and b.category != FLOAT) or (b in _BAREBONES and a.category != FLOAT):
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a.char_name} and {b.char_name}")
    if a.category > b.category:
        a, b = b, a
    if b.category == COMPLEX:
        return complex128 if complex128 in (a, b) or a is float64 else complex64
    if b.category == FLOAT:
        return b if a.category < FLOAT else _promote_floats(a, b)
    return b if a.category == BOOL else _promote_ints(a, b)


def _need_dtypes(name, **given):
    for i, (word, d) in enumerate(given.items(), 1):
        if not isinstance(d, dtype):
            raise TypeError(f"{name}(): argument '{word}' (position {i}) must be torch.dtype, not {type(d).__name__}")


_TABLE: dict = {}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both promote to, by torch's lattice."""
    key = (type1, type2)
    out = _TABLE.get(key)
    if out is None:
        out = _TABLE[key] = _promote(type1, type2)
    return out


def _join(types):
    out = None
    for t in types:
        out = t if out is None else promote_types(out, t)
    return out


def _combine(higher, lower):
    """`higher` outranks `lower` unless the category of `lower` is greater."""
    if higher is None:
        return lower
    if lower is None or higher.category == COMPLEX:
        return higher
    if higher.category == FLOAT:
        return higher.complex_here() if lower.category == COMPLEX else higher
    if lower.category >= FLOAT:
        return lower
    return promote_types(higher, lower) if higher.category == BOOL else higher


def result_type(dimensioned, zero_dim, wrapped, default: dtype) -> dtype:
    """torch's result type of operands sorted by rank; `wrapped` are dtypes of Python numbers."""
    numbers = [default if w.category == FLOAT else default.complex_here() if w.category == COMPLEX else w for w in wrapped]
    return _combine(_combine(_join(dimensioned), _join(zero_dim)), _join(numbers))


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of `from_` may be written into `to` (torch.can_cast)."""
    _need_dtypes("can_cast", from_=from_, to=to)
    if from_.category == COMPLEX and to.category != COMPLEX:
        return False
    if from_.category == FLOAT and to.category < FLOAT:
        return False
    return not (from_.category != BOOL and to.category == BOOL)


class _Info(metaclass=Shown):
    __slots__ = ()

    def __repr__(self):
        names = list(self._shown)
        return f"{type(self).__name__}({', '.join(f'{n}={self._text(n)}' for n in names)})"

    def _text(self, name):
        value = getattr(self, name)
        return f"{value:g}" if isinstance(value, float) else str(value)

    def __eq__(self, other):
        return type(self) is type(other) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


def _kind_of_number(type, name):
    """The dtype that limits are asked of; a Python type stands for its widest dtype."""
    given = {float: "float64", complex: "complex128", int: "int64", bool: "bool"}.get(type)
    kind = type if given is None else DTYPES[given]
    if not isinstance(kind, dtype):
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {kind.__class__.__name__}")
    return kind


class finfo(_Info):
    """Numerical limits of a floating or complex dtype (torch.finfo)."""

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny", "dtype")

    def __init__(self, type=None):
        from . import config

        type = config.default_dtype() if type is None else _kind_of_number(type, "finfo")
        if type.category < FLOAT:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        info = jnp.finfo(getattr(ml_dtypes, type.name) if isinstance(type, Small) else type.to_real().np)
        self.dtype = type.to_real().name
        self.bits = int(info.bits)
        self.resolution = 10.0 ** -info.precision if self.bits > 8 else 1.0  # a byte has no whole digit
        for name in ("min", "max", "eps", "smallest_normal"):
            setattr(self, name, float(getattr(info, name)))
        if self.dtype == "float8_e5m2fnuz":
            self.eps = 0.125  # what torch says; the next number after 1 is 1.25
        self.tiny = self.smallest_normal


_HELD = {"qint8": np.int8, "quint8": np.uint8, "qint32": np.int32}  # what holds quantized numbers


class iinfo(_Info):
    """Numerical limits of an integer dtype (torch.iinfo)."""

    __slots__ = ("bits", "dtype", "max", "min")

    _shown = ("min", "max", "dtype")

    def __init__(self, type):
        type = _kind_of_number(type, "iinfo")
        if type.category >= FLOAT:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if type.category == BOOL:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        info = np.iinfo(_HELD.get(type.name) or type.np)
        self.dtype, self.bits = type.name, int(info.bits)
        self.min, self.max = int(info.min), int(info.max)
