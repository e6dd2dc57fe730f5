"""Operators on lists of tensors (layer 8): what is known of each, and samples of the ways of calling it."""

from __future__ import annotations

from ...._core import dtypes
from ...._tensor import Tensor
from ..._creation import make_tensor
from ..common_dtype import all_types_and_complex_and
from .core import OpInfo, SampleInput, found

_KINDS = all_types_and_complex_and(dtypes.DTYPES["bool"], dtypes.float16, dtypes.bfloat16)
_UNARY = """exp acos asin atan cos cosh log log10 log2 tan tanh sin sinh neg sqrt rsqrt ceil erf erfc expm1 floor log1p round frac reciprocal sigmoid trunc abs
zero sign lgamma clone"""
_FROM_RESULT = {"exp", "tan", "tanh", "sqrt", "rsqrt", "expm1", "reciprocal", "sigmoid", "pow"}
_REFS = {"minimum": "clamp_max", "maximum": "clamp_min", "norm": "linalg.vector_norm", "zero": "zero_", "copy": "copy_"}
_LISTS, _SCALARS, _TENSOR = "lists", "scalars", "tensor"  # what may stand at the right of a list: lists alone, numbers beside them, a tensor beside those


class ForeachSampleInput(SampleInput):
    """A sample, the arguments of which are others where each tensor is treated for itself."""

    __slots__ = ("disable_fastpath", "ref_args")

    def __init__(self, *args, disable_fastpath=False, ref_args=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.ref_args, self.disable_fastpath = self.args if ref_args is None else ref_args, disable_fastpath

    def transform(self, f):
        """Another sample, every tensor and dtype of which went through f."""
        out, ref = super().transform(f), SampleInput(self.input, args=self.ref_args).transform(f)
        return ForeachSampleInput(out.input, args=out.args, kwargs=out.kwargs, name=out.name, ref_args=ref.args, disable_fastpath=self.disable_fastpath)


class ForeachFuncInfo(OpInfo):
    """An operator on lists of tensors."""

    _own = {"supports_alpha_param": False, "supports_scalar_self_arg": False, "backward_requires_result": False}

    def __init__(self, name, sample_inputs_func=None, **more):
        plain = name.removeprefix("_foreach_")
        ref, inplace = _REFS.get(plain, plain), found(f"{name}_")
        function = (None if plain in ("zero", "copy") else found(name)) or inplace
        self.ref_inplace, self.has_no_in_place = getattr(Tensor, f"{ref.removesuffix('_')}_", None) if inplace else None, inplace is None
        more = {"dtypes": _KINDS, "supports_forward_ad": True, "op": function, "ref": found(ref) or getattr(Tensor, ref), "method_variant": function,
                "inplace_variant": inplace, "backward_requires_result": plain in _FROM_RESULT, **more}
        super().__init__(name, sample_inputs_func=sample_inputs_func or _unary, **more)

    def sample_zero_size_inputs(self, device, dtype, requires_grad=False, **kwargs):
        """Samples with tensors of no elements."""
        return iter(list(self.sample_inputs_func(self, device, dtype, requires_grad, empty=True, **kwargs)))


def _lists(device, dtype, requires_grad, counts=None, same_size=False, noncontiguous=False, low=None, high=None, empty=False, of=1, **_):
    """Lists of tensors, `of` like ones at a time."""
    for count in counts or (1, 3):
        shapes = [(0,) if empty else (count, count) if same_size else (count - i, count - i) for i in range(count)]
        yield [[make_tensor(s, dtype=dtype, device=device, low=low, high=high, noncontiguous=noncontiguous, requires_grad=requires_grad) for s in shapes]
               for _ in range(of)]


def _options(kwargs):
    return {**kwargs, "counts": kwargs.get("num_input_tensors")}


def _numbers(dtype, higher):
    """Numbers that do not change the type, and others where these are asked for."""
    kinds = [True, 2, 1.5, 1 + 2j]
    rank = 0 if dtype.name == "bool" else 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1
    return kinds if higher else kinds[:rank + 1]


def _unary(op, device, dtype, requires_grad, **kwargs):
    return [ForeachSampleInput(a) for a, in _lists(device, dtype, requires_grad, **_options(kwargs))]


def _binary(right):
    def samples(op, device, dtype, requires_grad, allow_higher_dtype_scalars=False, **kwargs):
        alpha = {"alpha": {0: True, 1: 3, 2: 3.5, 3: 3 + 2j}[len(_numbers(dtype, False)) - 1]} if op.supports_alpha_param else {}
        for a, b in _lists(device, dtype, requires_grad, of=2, **_options(kwargs)):
            yield ForeachSampleInput(a, b, **alpha)
            for number in _numbers(dtype, allow_higher_dtype_scalars) if right != _LISTS else ():
                yield ForeachSampleInput(a, number)
                yield ForeachSampleInput(a, [number] * len(a))
            if right == _TENSOR:
                yield ForeachSampleInput(a, make_tensor((), dtype=dtype, device=device, requires_grad=requires_grad))
    return samples


def _pointwise(op, device, dtype, requires_grad, allow_higher_dtype_scalars=False, **kwargs):
    for a, b, c in _lists(device, dtype, requires_grad, of=3, **_options(kwargs)):
        yield ForeachSampleInput(a, b, c)
        for number in _numbers(dtype, allow_higher_dtype_scalars):
            yield ForeachSampleInput(a, b, c, value=number)
            yield ForeachSampleInput(a, b, c, scalars=[number] * len(a))


def _norm(op, device, dtype, requires_grad, **kwargs):
    for a, in _lists(device, dtype, requires_grad, **_options(kwargs)):
        for order in (0, 1, 2, -1, 3.5, float("inf")):
            yield ForeachSampleInput(a, ord=order)


def _lerp(op, device, dtype, requires_grad, allow_higher_dtype_scalars=False, **kwargs):
    for a, b, c in _lists(device, dtype, requires_grad, of=3, **_options(kwargs)):
        yield ForeachSampleInput(a, b, c)
        for number in _numbers(dtype, allow_higher_dtype_scalars):
            yield ForeachSampleInput(a, b, number, ref_args=(b, [number] * len(a)))
            yield ForeachSampleInput(a, b, [number] * len(a))


def _mm(op, device, dtype, requires_grad, **kwargs):
    return [ForeachSampleInput(a, b) for a, b in _lists(device, dtype, requires_grad, of=2, **{**_options(kwargs), "empty": False})]


def _binary_infos():
    for names, right, more in (("add mul div", _TENSOR, {}), ("sub clamp_min clamp_max pow", _SCALARS, {}), ("copy", _LISTS, {"supports_autograd": False}),
                               ("minimum maximum", _SCALARS, {"supports_inplace_autograd": False})):
        for n in names.split():
            yield ForeachFuncInfo(f"_foreach_{n}", _binary(right), supports_alpha_param=n in ("add", "sub"), supports_scalar_self_arg=n == "pow",
                                  supports_forward_ad=n not in ("copy", "minimum", "maximum"), supports_out=n != "copy", **more)


foreach_unary_op_db = [ForeachFuncInfo(f"_foreach_{n}", supports_out=n != "zero") for n in _UNARY.split()]
foreach_binary_op_db = list(_binary_infos())
foreach_pointwise_op_db = [ForeachFuncInfo(f"_foreach_{n}", _pointwise) for n in ("addcmul", "addcdiv")]
foreach_reduce_op_db = [ForeachFuncInfo("_foreach_max"), ForeachFuncInfo("_foreach_norm", _norm)]
foreach_other_op_db = [ForeachFuncInfo("_foreach_lerp", _lerp), ForeachFuncInfo("_foreach_mm", _mm, supports_forward_ad=False)]
