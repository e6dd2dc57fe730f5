"""Numbers and tensors as NumPy arrays."""

import numpy as np

from ..._tensor import Tensor

__all__ = ["make_np"]


def make_np(x):
    """An array, a tensor or a number as an array; NotImplementedError for anything else."""
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if not isinstance(x, Tensor):
        raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
    x = x.detach().cpu()
    return (x.float() if x.dtype.np.name == "bfloat16" else x).numpy()
