"""Operators that PyTorch's own libraries are put together from and that others call by these names (layer 7): the scale of mixed precision, the indices of
sparse matrices."""

from __future__ import annotations

from .._core import dtypes
from .._core.composite import COMPOSITES, composite

# The scale of mixed precision

@composite("torch._amp_foreach_non_finite_check_and_unscale_")
def _amp_foreach_non_finite_check_and_unscale_(self, found_inf, inv_scale):
    """Multiply gradients by `inv_scale` in place; `found_inf` becomes 1 where one of them is not finite."""
    for name, x in (("inv_scale", inv_scale), ("found_inf", found_inf)):
        if x.numel() != 1:
            raise RuntimeError(f"{name} must be a 1-element tensor.")
        if x.dtype is not dtypes.float32:
            raise RuntimeError(f"{name} must be a float tensor.")
    for g in self:
        found_inf.masked_fill_(~g.isfinite().all(), 1.0)
        g.mul_(inv_scale.to(g.dtype))


@composite("torch._amp_update_scale_")
def _amp_update_scale_(input, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval):
    """The next scale, in place: backed off where `found_inf` says so, grown after so many steps (`growth_tracker`) without."""
    where = COMPOSITES["torch.where"]
    found = found_inf.reshape(()) > 0
    steps = growth_tracker + 1
    grown = input * scale_growth_factor
    due = (steps == growth_interval) & ~found
    input.copy_(where(found, input * scale_backoff_factor, where(due & grown.isfinite(), grown, input)))
    growth_tracker.copy_(where(found | due, steps * 0, steps))
    return input


# Indices of sparse matrices

@composite("torch._convert_indices_from_coo_to_csr")
def _convert_indices_from_coo_to_csr(input, size, *, out_int32=False):
    """Where each of `size` rows begins among sorted row numbers."""
    before = input.bincount(minlength=size).cumsum(0)
    return COMPOSITES["torch.nn.functional.pad"](before, (1, 0)).to(dtypes.int32 if out_int32 else dtypes.int64)


@composite("torch._convert_indices_from_csr_to_coo")
def _convert_indices_from_csr_to_coo(crow_indices, col_indices, *, out_int32=False, transpose=False):
    """[2, nnz]: rows and columns; with `transpose` columns and rows."""
    rows = COMPOSITES["torch.arange"](crow_indices.shape[-1] - 1).repeat_interleave(crow_indices.diff())
    both = [col_indices, rows] if transpose else [rows, col_indices]
    kind = dtypes.int32 if out_int32 else dtypes.int64
    return COMPOSITES["torch.stack"]([x.to(kind) for x in both])


@composite("torch._shape_as_tensor")
def _shape_as_tensor(self):
    """The sizes as a tensor."""
    return COMPOSITES["torch.tensor"](list(self.shape), dtype=dtypes.int64)
