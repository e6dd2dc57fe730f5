"""Members of tensors that mean something for other layouts, quantized numbers and other devices (layer 7): what torch says of a dense tensor; and the
names of linear algebra that were removed.

What a sparse tensor answers stands in `torchlike_autograd/sparse/`.
"""

from __future__ import annotations

import numpy as np

from .._core import dtypes
from .._core.composite import composite, named
from .._core.record import thread
from .._core.saying import warn
from .._core.shapes import wrap_dim
from .._core.words import type_name
from .._tensor import Tensor, from_array
from .by_example import by_example
from .convert import cast
from .norm import into

# Sparse layouts

_PARTS = {"coalesce": "sparse coordinate tensor", "is_coalesced": "sparse coordinate tensor", "indices": "sparse coordinate tensor", "values": "sparse tensor",
          "crow_indices": "sparse row compressed tensor", "col_indices": "sparse row compressed tensor", "ccol_indices": "sparse column compressed tensor",
          "row_indices": "sparse column compressed tensor"}


def _dense_has_no(name, what):
    def method(self):
        raise RuntimeError(f"{name} expected {what} layout but got Strided")

    method.__name__ = name
    method.__doc__ = f"RuntimeError for a dense tensor, as torch says it: it has no {name}."
    return method


for _name, _what in _PARTS.items():
    composite(f"Tensor.{_name}")(_dense_has_no(_name, _what))
    if _name.endswith(("indices", "values")):
        composite(f"torch.{_name}_copy")(_dense_has_no(_name, _what))


def no_kernel(name):
    """torch's error for an operator that has nothing for dense tensors of the host (without its list of what has)."""
    return NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend.")


@composite("Tensor._coalesced_")
def _coalesced_(self, coalesced):
    """NotImplementedError: only a sparse tensor can be told whether its places are in order and each there once."""
    raise no_kernel("_coalesced_")


def _refused(name, *paths):
    def function(self):
        raise no_kernel(name)

    function.__name__ = name
    function.__doc__ = "NotImplementedError for a dense tensor of numbers, as in torch."
    for path in paths or (f"Tensor.{name}", f"torch.{name}"):
        composite(path)(function)


for _name in ("int_repr", "q_scale", "q_zero_point", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points"):
    _refused(_name)
for _name in ("qscheme", "_nnz", "_indices", "_values"):
    _refused(_name, f"Tensor.{_name}")


def _tensors(name, *given):
    for i, (word, x) in enumerate(given, 1):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): argument '{word}' (position {i}) must be Tensor, not {type_name(x)}")


@composite("Tensor.sparse_mask")
def sparse_mask(self, mask):
    """NotImplementedError for a dense mask, as in torch."""
    _tensors("sparse_mask", ("mask", mask))
    raise no_kernel("sparse_mask")


@composite("Tensor.resize_as_sparse_", "torch.resize_as_sparse_")
def resize_as_sparse_(input, the_template):
    """NotImplementedError for a dense tensor, as in torch."""
    _tensors("resize_as_sparse_", ("the_template", the_template))
    raise no_kernel("resize_as_sparse_")


@composite("Tensor.sparse_resize_")
def sparse_resize_(self, size, sparse_dim, dense_dim):
    """NotImplementedError for a dense tensor, as in torch."""
    raise no_kernel("sparse_resize_")


@composite("Tensor.sparse_resize_and_clear_")
def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    """NotImplementedError for a dense tensor, as in torch."""
    raise no_kernel("sparse_resize_and_clear_")


@composite("Tensor.to_padded_tensor")
def to_padded_tensor(self, padding, output_size=None):
    """NotImplementedError for a tensor that is not nested, as in torch."""
    if isinstance(padding, bool) or not isinstance(padding, (int, float)):
        raise TypeError(f"to_padded_tensor(): argument 'padding' (position 1) must be float, not {type(padding).__name__}")
    raise no_kernel("to_padded_tensor")


def _only_sparse(*tensors):
    raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")


@composite("Tensor.smm", "torch.smm")
def smm(input, mat):
    """RuntimeError for dense matrices, as in torch."""
    _tensors("smm", *((("mat2", mat),) if isinstance(input, Tensor) else (("input", input),)))
    _only_sparse()


@composite("Tensor.sspaddmm")
def tensor_sspaddmm(self, mat1, mat2, *, beta=1, alpha=1):
    """RuntimeError for dense matrices, as in torch."""
    _only_sparse()


@composite("torch.sspaddmm")
def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """RuntimeError for dense matrices, as in torch."""
    _only_sparse()


@composite("Tensor.to_dense")
def to_dense(self, dtype=None, *, masked_grad=True):
    """This tensor, in another dtype where one is given: it is dense."""
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"to_dense(): argument 'dtype' (position 1) must be torch.dtype, not {type(dtype).__name__}")
    return self if dtype is None else cast(self, dtype)


# Quantized numbers

@composite("Tensor.dequantize")
def dequantize(self):
    """This tensor as float32: it holds plain numbers."""
    if self._tl_needs and thread.state.grad:
        return named("dequantize")(self)
    return self if self.dtype is dtypes.float32 else cast(self, dtypes.float32)


# Devices

def _elsewhere(name, error, text):
    def method(self, device=None, non_blocking=False, *, memory_format=None):
        raise error(text)

    method.__name__ = name
    method.__doc__ = f"{error.__name__}: there are no such devices here."
    composite(f"Tensor.{name}")(method)


_elsewhere("ipu", RuntimeError, "PyTorch is not linked with support for ipu devices")
_elsewhere("xpu", AssertionError, "Torch not compiled with XPU enabled")
_elsewhere("mtia", AssertionError, "Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime.torch_mtia.dynamic_library` in your python "
           "src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!")


@composite("Tensor.is_distributed", "torch.is_distributed")
def is_distributed(input):
    """False."""
    return False


@composite("Tensor.const_data_ptr")
def const_data_ptr(self):
    """`data_ptr()`."""
    return self.data_ptr()


@composite("Tensor.record_stream")
def record_stream(self, stream):
    """RuntimeError: there are no streams here."""
    raise RuntimeError("unknown parameter type")


# What was removed

_REMOVED = "This function was deprecated since version 1.9 and is now removed."
_EIG = _REMOVED + (
    " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` "
    "rather than real tensors mimicking complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = "
    "torch.linalg.eigvals(A)\n\nand\n\nL, V = torch.eig(A, eigenvectors=True) should be replaced with:\nL_complex, V_complex = torch.linalg.eig(A)")
_SYMEIG = _REMOVED + (
    " The default behavior has changed from using the upper triangular portion of "
    "the matrix by default to using the lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\nL = "
    "torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\nL, V = torch.symeig(A, eigenvectors=True) should be replaced with:\nL, V = "
    "torch.linalg.eigh(A, UPLO='U' if upper else 'L')")
_LSTSQ = _REMOVED + (
    " `torch.lstsq` is deprecated in favor of "
    "`torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed arguments and does not return the QR decomposition in the returned tuple (although it "
    "returns other information about the problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.\n\nThe returned solution in "
    "`torch.lstsq` stored the residuals of the solution in the last m - n columns of the returned value whenever m > n. In torch.linalg.lstsq, the "
    "residuals are in the field 'residuals' of the returned named tuple.\n\nThe unpacking of the solution, as in\nX, _ = torch.lstsq(B, "
    "A).solution[:A.size(1)]\nshould be replaced with:\nX = torch.linalg.lstsq(A, B).solution")
_SOLVE = _REMOVED + (
    " `torch.solve` is deprecated in favor of `torch.linalg.solve`. "
    "`torch.linalg.solve` has its arguments reversed and does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which "
    "can be used with `torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\nX = torch.linalg.solve(A, B)")
_RANK = _REMOVED + (
    "\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter "
    "'symmetric' was renamed in `torch.linalg.matrix_rank()` to 'hermitian'.")
_REINFORCE = (
    "reinforce() was removed.\nUse torch.distributions instead.\nSee https://pytorch.org/docs/main/distributions.html\n\nInstead of:\n\nprobs = "
    "policy_network(state)\naction = probs.multinomial()\nnext_state, reward = "
    "env.step(action)\naction.reinforce(reward)\naction.backward()\n\nUse:\n\nprobs = policy_network(state)\n# NOTE: categorical is equivalent to "
    "what used to be called multinomial\nm = torch.distributions.Categorical(probs)\naction = m.sample()\nnext_state, reward = "
    "env.step(action)\nloss = -m.log_prob(action) * reward\nloss.backward()\n")


@composite("Tensor.eig")
def tensor_eig(self, eigenvectors=False):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_EIG)


@composite("torch.eig")
def eig(self, eigenvectors=False, *, e=None, v=None):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_EIG)


@composite("Tensor.symeig")
def tensor_symeig(self, eigenvectors=False):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_SYMEIG)


@composite("torch.symeig")
def symeig(input, eigenvectors=False, upper=True, *, out=None):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_SYMEIG)


@composite("Tensor.lstsq")
def tensor_lstsq(self, other):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_LSTSQ)


@composite("torch.lstsq")
def lstsq(input, A, *, out=None):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_LSTSQ)


@composite("Tensor.solve")
def tensor_solve(self, other):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_SOLVE)


@composite("torch.solve")
def solve(input, A, *, out=None):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_SOLVE)


@composite("torch.matrix_rank")
def matrix_rank(input, tol=None, symmetric=False, *, out=None):
    """RuntimeError: removed in 1.9."""
    raise RuntimeError(_RANK)


@composite("Tensor.reinforce")
def reinforce(self, reward):
    """RuntimeError: removed."""
    raise RuntimeError(_REINFORCE)


# Old names of `view`, and other members

def _viewed(self, sizes):
    """The same elements in another shape; the node is the one of torch's own function."""
    n = int(np.prod(sizes)) if all(isinstance(s, int) for s in sizes) else None
    if n != self.numel():
        shown = "x".join(map(str, sizes))
        total = n if n is not None else " ".join(map(str, sizes))
        have = "x".join(map(str, self.shape))
        raise RuntimeError(f"requested resize to {shown} ({total} elements in total), but the given tensor has a size of {have} ({self.numel()} elements). "
                           "autograd's resize can only change the shape of a given tensor, while preserving the number of elements. ")
    if self._tl_needs and thread.state.grad:
        return named("_resized")(self.contiguous(), tuple(sizes))
    return self.contiguous().view(sizes)


@composite("Tensor.resize")
def resize(self, *sizes):
    """The same elements in another shape; deprecated."""
    warn("non-inplace resize is deprecated")
    return _viewed(self, sizes)


@composite("Tensor.resize_as")
def resize_as(self, tensor):
    """The same elements in the shape of another tensor; deprecated."""
    warn("non-inplace resize_as is deprecated")
    return _viewed(self, tuple(tensor.shape))


@composite("Tensor.module_load")
def module_load(self, other, assign=False):
    """What `load_state_dict` puts where this tensor is: `other`, or this tensor with its values; without history."""
    return other.detach() if assign else self.copy_(other).detach()


@composite("Tensor.hash_tensor")
def tensor_hash(self, dim=None, *, keepdim=False, mode=0):
    """The bits of all elements, as those of a float64 or int64, joined by exclusive or; over dims where they are given."""
    return hash_tensor(self, dim, keepdim=keepdim, mode=mode)


@composite("torch.hash_tensor")
@by_example
def hash_tensor(input, dim=None, *, keepdim=False, mode=0, out=None):
    """The bits of all elements, as those of a float64 or int64, joined by exclusive or; over dims where they are given."""
    if not isinstance(mode, int):
        raise TypeError(f"hash_tensor(): argument 'mode' must be int, not {type(mode).__name__}")
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    dims = _hashed_dims(input, dim)
    if input.dtype.is_complex or input.dtype.name in ("uint16", "uint32", "uint64"):
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{input.dtype.char_name}'")
    if input.is_meta:
        return into("hash_tensor", out, input.detach().sum(dims or None, keepdim=keepdim).to(dtypes.uint64), input.detach())
    wide = np.asarray(input._tl_numpy(), np.float64 if input.dtype.is_floating_point else np.int64)
    found = np.bitwise_xor.reduce(np.ascontiguousarray(wide).view(np.uint64).reshape(wide.shape), axis=dims, keepdims=keepdim)
    result = from_array(np.asarray(found), dtypes.uint64, like=input)
    if out is not None and thread.state.grad and input._tl_needs:
        input = input.detach()
    return into("hash_tensor", out, result, input)


def _hashed_dims(input, dim):
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if not dims:
        if not input.numel():
            raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
        return tuple(range(input.ndim))
    wrapped = [wrap_dim(d, input.ndim) for d in dims]
    for i, d in enumerate(wrapped):
        if d in wrapped[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.ndim and not input.shape[d]:
            raise IndexError(f"hash_tensor: Expected reduction dim {dims[i]} to have non-zero size.")
    return tuple(wrapped) if input.ndim else ()


__all__ = ["hash_tensor", "module_load", "no_kernel"]
