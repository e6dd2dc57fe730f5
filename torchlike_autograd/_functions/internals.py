"""Functions with an underscore and their kin that libraries and torch's own tests call (layer 7)."""

from __future__ import annotations

from .._core import dtypes, levels
from .._core.composite import composite, named
from .._core.laying import keep_order
from .._core.shapes import wrap_dim
from .convert import cast
from .create import full, zeros
from .dropout import noise_of
from .index import refuse_complex
from .mapped_draws import like
from .norm import into
from .random import bernoulli_
from .windows import empty_strided

_where, _sum, _mul, _cat = named("where"), named("sum"), named("mul"), named("cat")


# Sizes

@composite("Tensor.sum_to_size")
def sum_to_size(self, *size, **kw):
    """The tensor summed over the dims in which it was expanded from `size`."""
    if not size and "size" in kw:
        size = (kw.pop("size"),)
    for k in kw:
        raise TypeError(f"sum_to_size() got an unexpected keyword argument '{k}'")
    if not size:
        raise TypeError('sum_to_size() missing 1 required positional arguments: "size"')
    shape = tuple(size[0]) if isinstance(size[0], (tuple, list)) else tuple(size)
    have = tuple(self.shape)
    lead = len(have) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, have[max(lead, 0):])):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(have)}}}.")
    if not shape:
        return self.sum()
    dims = [*range(lead), *[i + lead for i, n in enumerate(shape) if n == 1 and have[i + lead] != 1]]
    out = self.sum(dims, True) if dims else self
    return out.view(shape) if lead else out


@composite("torch.empty_permuted")
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Zeros whose dims lie in memory in the order of `physical_layout`."""
    n = len(size)
    if n != len(physical_layout):
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {n} is not equal to len(physical_layout) = {len(physical_layout)}")
    for i, d in enumerate(physical_layout):
        if not 0 <= d < n:
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and {n - 1}, but got {d} at index {i}).  NB: negative dims not currently "
                               "supported; file an issue if you want it.")
        if d in physical_layout[:i]:
            raise RuntimeError("Duplicate dim not allowed")
    strides, step = [0] * n, 1
    for d in reversed(physical_layout):
        strides[d] = step
        step *= max(size[d], 1)
    return empty_strided(size, strides, dtype=dtype, device=device, requires_grad=requires_grad)


@composite("torch._chunk_cat")
def chunk_cat(tensors, dim, num_chunks, *, out=None):
    """Every tensor cut into chunks along a dim (zeros fill the last), its other dims flattened; chunk by chunk side by side."""
    if not len(tensors):
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    first = tensors[0]
    if dim < 0 and any(t.ndim != first.ndim for t in tensors):
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    if any(dim >= t.ndim for t in tensors):
        raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
    d = wrap_dim(dim, first.ndim)
    if any(t.dtype != first.dtype for t in tensors):
        raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
    if any(t.numel() == 0 for t in tensors):
        raise RuntimeError("_chunk_cat expects non-empty tensor")
    if any(t.shape[:d] != first.shape[:d] for t in tensors):
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    parts = []
    for t in tensors:
        lead, missing = t.shape[:d], -t.shape[d] % num_chunks
        if missing:
            t = _cat([t, zeros((*lead, missing, *t.shape[d + 1:]), dtype=t.dtype)], d)
        parts.append(t.reshape(*lead, num_chunks, -1))
    result = _cat(parts, d + 1)
    return into("_chunk_cat", out, result, *tensors)


# Dropout with its mask

def _kept(input, keep):
    """Ones and zeros for the examples of maps, in the order of the memory of what is mapped over."""
    found = like(input, lambda whole: bernoulli_(whole, keep))
    return noise_of(input, keep, False) if found is None else found


@composite("torch.native_dropout")
def native_dropout(input, p, train):
    """(input without the elements that were drawn and scaled, the mask of those kept); complex numbers take no part in gradients, as torch's do not."""
    refuse_complex("native_dropout", [input])
    if train is False or not input.numel():
        mask = full(input.shape, True, dtype=dtypes.bool_)
        keep_order(mask, input)
        return named("_native_dropout")(input, mask, 1.0), mask
    drawn = dtypes.bool_ if input.dtype.is_complex else input.dtype
    blank = zeros(input.shape, dtype=drawn)
    keep_order(blank, input)
    mask = cast(_kept(input, 1 - p) if levels.running() else bernoulli_(blank, 1 - p), dtypes.bool_)
    if input.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"result type {dtypes.float32.char_name} can't be cast to the desired output type {input.dtype.char_name}")
    return named("_native_dropout")(input, mask, 0.0 if p == 1 else 1 / (1 - p)), mask


# Indices that a mask makes safe

def _given(indices):
    """(the index tensors, the dims that they are for)."""
    return [i for i in indices if i is not None], tuple(d for d, i in enumerate(indices) if i is not None)


@composite("torch._unsafe_masked_index")
def unsafe_masked_index(self, mask, indices, fill):
    """self[indices] where the mask is True, `fill` elsewhere, where the indices may be out of bounds."""
    return named("_safe_index")(self, mask, *_given(indices), fill)


@composite("torch._unsafe_masked_index_put_accumulate")
def unsafe_masked_index_put_accumulate(self, mask, indices, values):
    """`values` added to self[indices] where the mask is True."""
    return named("_safe_index_put")(self, mask, *_given(indices), values)


# Backward functions that are public

def _refuse_integers(name, grad, dim):
    if grad.dtype.category < dtypes.FLOAT:
        last = "_lastdim" if grad.ndim == 0 or wrap_dim(dim, grad.ndim) == grad.ndim - 1 else ""
        raise NotImplementedError(f"\"{name}_backward{last}_kernel_impl\" not implemented for '{grad.dtype.char_name}'")


@composite("torch._softmax_backward_data")
def softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of a softmax by its output."""
    _refuse_integers("softmax", grad_output, dim)
    return cast(named("_softmax_pulled")(grad_output, output, dim), input_dtype)


@composite("torch._log_softmax_backward_data")
def log_softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of a log_softmax by its output."""
    _refuse_integers("log_softmax", grad_output, dim)
    return cast(named("_log_softmax_pulled")(grad_output, output, dim), input_dtype)


__all__ = ["chunk_cat", "empty_permuted", "log_softmax_backward_data", "native_dropout", "softmax_backward_data", "sum_to_size", "unsafe_masked_index",
           "unsafe_masked_index_put_accumulate"]
