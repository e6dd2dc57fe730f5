"""torch.utils._dtype_abbrs (layer 7): short names of dtypes."""

from ..autograd._logged import dtype_abbrs  # noqa: F401
