"""torch.testing._internal.common_dtype (layer 8): groups of dtypes."""

from ..._core import dtypes as _d
from ..._core import publish as _publish

_HALF, _FLOAT, _COMPLEX = (_d.float16, _d.bfloat16), (_d.float32, _d.float64), (_d.complex64, _d.complex128)
_INTEGRAL = (_d.uint8, _d.int8, _d.int16, _d.int32, _d.int64)


class _dispatch_dtypes(tuple):
    """A group that stays one when another is added."""

    __slots__ = ()

    def __add__(self, other):
        return _dispatch_dtypes((*self, *other))


def _group(*members):
    return lambda: members, lambda *more: tuple(dict.fromkeys((*members, *more)))


floating_types, floating_types_and = _group(*_FLOAT)
floating_types_and_half = lambda: (*_FLOAT, _d.float16)  # noqa: E731
integral_types, integral_types_and = _group(*_INTEGRAL)
complex_types, complex_types_and = _group(*_COMPLEX)
floating_and_complex_types, floating_and_complex_types_and = _group(*_FLOAT, *_COMPLEX)
all_types, all_types_and = _group(*_FLOAT, *_INTEGRAL)
all_types_and_complex, all_types_and_complex_and = _group(*_FLOAT, *_INTEGRAL, *_COMPLEX)
all_types_and_half = lambda: (*all_types(), _d.float16)  # noqa: E731
double_types = lambda: (_d.float64, _d.complex128)  # noqa: E731


_FLOAT8 = tuple(getattr(_d, n) for n in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz") if hasattr(_d, n))
float8_types, float8_types_and = _group(*_FLOAT8)
all_mps_types, all_mps_types_and = _group(_d.float32, *_HALF, *_INTEGRAL)
empty_types = lambda: ()  # noqa: E731
custom_types = lambda *types: types  # noqa: E731
all_types_complex_float8_and = lambda *more: tuple(dict.fromkeys((*_FLOAT, *_INTEGRAL, *_COMPLEX, *_FLOAT8, *more)))  # noqa: E731
float_to_corresponding_complex_type_map = {_d.float32: _d.complex64, _d.float64: _d.complex128}
highest_precision_float = lambda device: _d.float64  # noqa: E731
highest_precision_complex = lambda device: _d.complex128  # noqa: E731


def get_all_qint_dtypes():
    """There are no quantized ones."""
    return []


def get_all_dtypes(include_half=True, include_bfloat16=True, include_bool=True, include_complex=True, include_complex32=False, include_qint=False):
    """Every dtype, or some."""
    return [*get_all_int_dtypes(), *get_all_fp_dtypes(include_half, include_bfloat16), *([_d.bool_] if include_bool else []),
            *(_COMPLEX if include_complex else ())]


def get_all_math_dtypes(device):
    """Those that arithmetic knows."""
    return [*get_all_int_dtypes(), *get_all_fp_dtypes(False, False), *_COMPLEX]


def get_all_int_dtypes():
    """Integers."""
    return list(_INTEGRAL)


def get_all_fp_dtypes(include_half=True, include_bfloat16=True):
    """Floating ones."""
    return [*_FLOAT, *([_d.float16] if include_half else []), *([_d.bfloat16] if include_bfloat16 else [])]


def get_all_complex_dtypes(include_complex32=False):
    """Complex ones."""
    return list(_COMPLEX)


__getattr__ = _publish.missing("torch.testing._internal.common_dtype")
