"""Products with an underscore in their names (layer 7): of small integers, and of matrices with an activation after."""

from __future__ import annotations

from .._core import dtypes
from .._core.composite import composite, named
from .convert import cast


@composite("torch._int_mm")
def int_mm(self, mat2, *, out=None):
    """The product of matrices of int8 (the first may be uint8) in int32."""
    _refuse(self.ndim == 2, f"Expected self to be of dimension 2 but got {self.ndim}")
    mat2.size(1)  # of a vector: there is no such dim
    _refuse(self.shape[1] == mat2.size(0), f"self.size(1) needs to match mat2.size(0) but got {self.shape[1]} and {mat2.size(0)}")
    _refuse(self.dtype in (dtypes.int8, dtypes.uint8), f"Expected self dtype to be int8 or uint8 but got {_word(self)}")
    _refuse(mat2.dtype is dtypes.int8, f"Expected mat2 dtype to be of type int8 but got {_word(mat2)}")
    if out is not None:
        _refuse(out.dtype is dtypes.int32, f"Expected result dtype to be of type kInt but got {_word(out)}")
        for i, n in enumerate((self.shape[0], mat2.shape[1])):
            _refuse(out.size(i) == n, f"Expected result.size({i}) to be {n} but got {out.size(i)}")
    made = named("mm")(cast(self, dtypes.int32), cast(mat2, dtypes.int32))
    return made if out is None else out.copy_(made)


def _refuse(fits, why):
    if not fits:
        raise RuntimeError(f"int_mm_out_cpu: {why}")


_WORDS = {"float32": "float", "float64": "double", "uint8": "unsigned char", "int16": "short int", "int32": "int", "int64": "long int", "bool": "bool",
          "float16": "c10::Half", "bfloat16": "c10::BFloat16", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def _word(x):
    return _WORDS.get(x.dtype.name, x.dtype.name)


@composite("torch._addmm_activation", "Tensor._addmm_activation")
def addmm_activation(self, mat1, mat2, *, beta=1, alpha=1, use_gelu=False, out=None):
    """`addmm`, then relu or gelu."""
    made = named("addmm")(self, mat1, mat2, beta=beta, alpha=alpha)
    made = named("gelu")(made) if use_gelu else named("relu")(made)
    return made if out is None else out.resize_(made.shape).copy_(made)
