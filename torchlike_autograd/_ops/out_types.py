"""Dtypes of ``out=`` (layer 2): which calls are computed in them, and which torch refuses although the result could be cast."""

from __future__ import annotations

from .._core import dtypes, errors
from .._core.config import default_dtype
from .conventions import cxx_of
from .spec import spec_of

_EXACT = frozenset([
    "addmm", "addmv", "alias_copy", "argmax", "argmin", "argsort.stable", "avg_pool2d", "avg_pool3d", "baddbmm", "bmm", "detach_copy", "diagonal_copy",
    "expand_copy", "gather", "index_add", "index_copy", "index_reduce", "isin.Tensor_Tensor", "linalg_cross", "linalg_ldl_solve", "linalg_lu_solve",
    "frobenius_norm", "linalg_vector_norm", "mm", "msort", "permute_copy", "renorm", "scatter.reduce", "scatter.src", "scatter.value", "scatter.value_reduce", "scatter_add",
    "scatter_reduce.two", "squeeze_copy", "squeeze_copy.dim", "squeeze_copy.dims", "t_copy", "transpose_copy.int", "tril", "triu", "unfold_copy",
    "unsqueeze_copy", "view_copy", "sort", "sort.stable", "max.dim", "min.dim", "topk", "_softmax", "_log_softmax", "aminmax", "norm", "matmul", "linalg_inv",
    "linalg_solve", "linalg_det", "diag", "linalg_cholesky", "cross", "linalg_qr", "as_strided_copy", "linear", "lu_solve", "lu_unpack", "qr",
    "split_with_sizes_copy", "svd", "triangular_solve", "unbind_copy", "cumsum", "cumprod", "linalg_cholesky_ex", "linalg_eigh", "linalg_eigvalsh", "linalg_inv_ex",
    "linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_slogdet", "linalg_solve_ex", "linalg_svd",
    "linalg_svdvals", "slogdet"])  # "Expected out tensor to have dtype ..."
_FOUND = frozenset([
    "abs", "bitwise_not", "ceil", "clamp", "clamp_max", "clamp_min", "floor", "frac", "gelu", "hardshrink", "lerp.Tensor", "neg", "round", "round.decimals",
    "sgn", "sign", "softplus", "softshrink", "trunc", "conj_physical"])  # "Found dtype ..."
_IMPROVE = "  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
_WORDS = {  # a tuple: for each result
    **dict.fromkeys(("log_sigmoid", "linalg_solve_triangular"), "expected scalar type {have} but found {got}"),
    **dict.fromkeys(("complex", "polar"), "Expected object of scalar type {have} but got scalar type {got} for argument 'out'"),
    **dict.fromkeys(("isposinf", "isneginf", "signbit"), "{name} does not support non-boolean outputs."),
    **dict.fromkeys(("all", "all.dim", "all.dims", "any", "any.dim", "any.dims"), "{name} only supports bool tensor for result, got: {got}"),
    **dict.fromkeys(("amax", "amin"), "Expected the dtype for input and out to match, but got {have} for input's dtype and {got} for out's dtype."),
    **dict.fromkeys(("quantile", "quantile.scalar", "nanquantile", "nanquantile.scalar"), "quantile() out tensor must be same dtype as the input tensor"),
    **dict.fromkeys(("dot", "vdot"), "result dtype {got} does not match input dtype {have}"),
    **dict.fromkeys(("mv", "matrices times a vector"), "addmv input tensors must have the same dtype, but got {got}, {have}, and {have}"),
    **dict.fromkeys(("native_batch_norm", "_native_batch_norm_legit"), "expected scalar type {have} but found {got}"),
    "narrow_copy": "Expected self.dtype() == output.dtype() to be true, but got false." + _IMPROVE,
    **dict.fromkeys(("searchsorted.Tensor", "bucketize.Tensor"),
                    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
                    "whether out_int32 flag is True, but we got output tensor's dtype {got} and out_int32 flag is {int32}"),
    **dict.fromkeys(("inner", "tensordot"), "tensordot: Expected the output tensor to have dtype {have}, but got an output tensor with dtype {got}"),
    "where.self": "Expected out type to be {have} but got {got}", "_masked_select": "masked_select(): self and result must have the same scalar type",
    "hash_tensor": "Expected result to be of dtype uint64, but got {got}",
    **dict.fromkeys(("cummax", "cummin", "diff of nothing", "logcumsumexp"), "expected scalar_type {have} but found {got}"),
    "frexp.Tensor": ("torch.frexp() expects mantissa to have dtype {have_cxx} but got {got_cxx}",
                     "torch.frexp() expects exponent to have int dtype but got {got_cxx}"),
    "linalg_matrix_norm": "linalg.matrix_norm expected out tensor dtype {have} but got: {got}",
    "linalg_norm": "linalg.norm expected out tensor dtype {have} but got: {got}",
    "linalg_vecdot": "linalg.vecdot: Expected out of dtype{have} but found {got}",
    "linalg_multi_dot": "multi_dot(): expected out tensor to have dtype {have_cxx} but got {got_cxx}",
    **dict.fromkeys(("histc", "histogram"), "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {have_cxx} and hist {got_cxx}"),
    "nonzero": "nonzero: Expected out tensor to have scalar type {have} but got scalar type{got}",
    "heaviside": "heaviside is not yet implemented for tensors with different dtypes.",
    "nan_to_num": "nan_to_num: dtype of out: {got} should be same as input: {have}",
    "index_select": "index_select(): self and result must have the same scalar type",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {have} and out.dtype = {got}",
    "ormqr": "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{have} and result has dtype {got}",
    "ldexp.Tensor": '!needs_dynamic_casting<func_t>::check(iter) INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/native/cpu/Loops.h":311, '
                    "please report a bug to PyTorch.",  # torch multiplies by a power of another dtype
    "addbmm": "self and mat2 must have the same dtype, but got {got} and {have}",
    "kthvalue": ("output values must be of same type as input", "output indices must be of scalar type Long"),
    "mode": tuple("expected scalar type '{have}' but got '{got}' for " + which + " output" for which in ("values", "indices")),
}
_SAFELY = "{label}: Expected result to be safely castable from {have} dtype, but got result with dtype {got}"
_NOT_CAST = {  # said only where the result cannot be cast
    **dict.fromkeys(("cat", "stack", "_chunk_cat"), "torch.cat(): input types can't be cast to the desired output type {got}"),
    "ldexp.Tensor": "ldexp can't be cast to the desired output type {got}",
    "mean": "mean.dtype_out(): input types can't be cast to the desired output type {got}",
    "logsumexp": "logsumexp(): Expected floating point type for result tensor, but got: {got}",
    **{k: _SAFELY.replace("{label}", k) for k in ("cholesky", "cholesky_solve", "cholesky_inverse")},
    "float_power": "the output given to float_power has dtype {got} but the operation's result requires dtype {have}",
    "geqrf": tuple(_SAFELY.format(label="torch.geqrf", have="{have}", got="{got}").replace("result", which) for which in ("a", "tau")),
    **dict.fromkeys(("max", "min"), "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got false." + _IMPROVE),
    "mvlgamma": "mvlgamma: result type {given} can't be cast to the desired output type {have}",
    "linalg_householder_product": _SAFELY.replace("{label}", "torch.linalg.householder_product"),
    **{f"linalg_{k}": _SAFELY.replace("{label}", label) for k, label in (
        ("cond", "linalg.cond"), ("pinv", "linalg.pinv"), ("tensorinv", "tensorinv"), ("tensorsolve", "tensorsolve"), ("matrix_power", "matrix_power"))},
    "linalg_eigvals": _SAFELY.replace("{label}", "torch.linalg.eigvals").replace("result", "eigenvalues"),
    "linalg_eig": tuple(_SAFELY.replace("{label}", "torch.linalg.eig").replace("result", which) for which in ("eigenvalues", "eigenvectors")),
    "linalg_lstsq": _SAFELY.replace("{label}", "torch.linalg.lstsq").replace("result", "solution"),
}
_FIRST = {"ldexp.Tensor": _NOT_CAST["ldexp.Tensor"], "diag": "diag: result type {have} can't be cast to the desired out= type {got}"}  # before the others
_BYTES = ("all", "any")  # whose result may be bytes or truth values

_SUMS = ("sum", "nansum", "prod", "cumsum", "cumprod")


def cast_first(spec, dtype, own):
    """The spec of a call of a tensor of dtype `own` whose `out` has this dtype: sums, products and means cast their input to it, where no other is asked for."""
    if spec.op.name == "nansum" and own.is_floating_point and not dtype.is_floating_point:
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{dtype.char_name}'")
    if spec.op.name == "mean" and spec.statics.get("dtype") is None and own.category >= dtypes.FLOAT and dtype.category < dtypes.FLOAT:
        raise errors.not_castable(default_dtype(), dtype)  # its sum is an integer, the quotient of the default dtype
    casts = spec.op.name in _SUMS or (spec.op.name == "mean" and own.category >= dtypes.FLOAT)
    if not casts or spec.statics.get("dtype", dtype) is not None:
        return spec
    if dtype is dtypes.bool_ and spec.op.name.startswith("cum"):
        raise NotImplementedError(f"\"{spec.op.name}_out_cpu\" not implemented for 'Bool'")
    return spec_of(spec.op, tuple({**spec.statics, "dtype": dtype}.items()), spec.pattern)


def input_dtype(op, dtype, own):
    """The dtype that an input of dtype `own` is cast to for an `out` of another one, or None: deviations are computed in that of `out`."""
    casts = op.name in ("std", "var") and own is not dtype and own.is_floating_point and dtype.is_floating_point
    return dtype if casts else None


def refuse(op, have, got, castable, statics, given, index=0, fits=True, single=False):
    """Raise for an output of dtype `got` where the result has `have`, if torch does not cast it; True where it casts what it casts nowhere else.

    castable: whether it could be; given: the dtypes of the arguments; index: which result it is; fits: whether it has the shape of the result; single: whether that is one number.
    """
    if op.name in ("std", "var") and got.is_complex and not single:
        raise NotImplementedError(f"\"std_cpu\" not implemented for '{got.char_name}'")
    if op.name in _BYTES and got.name in ("uint8", "bool"):
        return True
    if op.key == "logsumexp" and have.is_complex and got.is_floating_point:
        return True
    if op.key == "abs" and not have.is_complex and given[0].is_complex:
        return
    if op.key == "ldexp.Tensor" and castable and not (given[0].is_floating_point and not given[-1].is_floating_point and not given[-1].is_complex):
        return  # it multiplies by a power; only floats are scaled by whole exponents
    if op.key == "lerp.Tensor" and castable and len(set(given)) > 1:
        return  # a weight without dims: only then may the dtypes differ, and only then torch casts
    if statics.get("dtype") is not None:
        _refuse_beside_dtype(op.name, have, got)
    refuse_as(op.key, op.name, have, got, castable, statics, given, index, fits)


def _refuse_beside_dtype(name, have, got):
    """Raise where the dtype that was asked for is not that of `out`."""
    if name in ("sum", "prod", "mean"):
        raise RuntimeError(f"Expected out tensor to have dtype {cxx_of(have)}, but got {cxx_of(got)} instead")
    if name == "nansum":
        raise RuntimeError(f"nansum: provided dtype must match dtype of result. Got {got.char_name} and {have.char_name}.")


def refuse_as(key, name, have, got, castable, statics, given=(None,), index=0, fits=True):
    """The same for a function of several operators, under its name."""
    if not castable and key in _FIRST:
        raise RuntimeError(_FIRST[key].format(have=have.char_name, got=got.char_name))
    if key == "heaviside" and got.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if key in ("median.dim", "nanmedian.dim"):
        raise RuntimeError(_median_words(have, got, index))
    if key in _EXACT or (key == "mv" and not fits):
        raise RuntimeError(f"Expected out tensor to have dtype {cxx_of(have)}, but got {cxx_of(got)} instead")
    if key in _FOUND:
        raise RuntimeError(f"Found dtype {got.char_name} but expected {have.char_name}")
    words = _WORDS.get(key) or (None if castable else _NOT_CAST.get(key))
    if words is not None:
        words = words if isinstance(words, str) else words[index]
        said = words.format(have=have.char_name, got=got.char_name, given=given[0] and given[0].char_name, name=name, have_cxx=cxx_of(have), got_cxx=cxx_of(got), int32=statics.get("out_int32"))
        raise (TypeError if key in ("cat", "stack", "_chunk_cat") else RuntimeError)(said)


def _median_words(have, got, index):
    """torch's words for `values` (float32 say) of dtype `got`, or indices of it."""
    def kind(dtype):
        return f"CPU{dtype.char_name}Type" if dtype.is_complex or dtype.name in ("bool", "bfloat16") else f"torch.{dtype.char_name}Tensor"

    if index == 0:
        return (f"Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type {kind(got)} does not equal "
                f"{kind(have)} (while checking arguments for median)")
    return f"Expected tensor for argument #1 'indices' to have scalar type Long; but got {kind(got)} instead (while checking arguments for median)"


LAST_FIRST = ("median", "nanmedian")  # whose indices are looked at before their values

__all__ = ["LAST_FIRST", "cast_first", "input_dtype", "refuse", "refuse_as"]
