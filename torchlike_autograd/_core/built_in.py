"""Functions that are built in in PyTorch and Python's here (layer 6): published as objects that instances do not bind.

`class Layer: op = torch.matmul` holds a function, not a method, as PyTorch's functions are no Python functions.  Those of the op table know it by
themselves (`hot.wrapped`).
"""

from __future__ import annotations

from . import hot, overriding

# What PyTorch has in Python too: of its own namespace,
_PYTHON = frozenset([
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "eig",
    "einsum", "from_dlpack", "get_default_device", "get_rng_state", "initial_seed", "is_storage", "is_tensor", "is_warn_always_enabled", "lstsq",
    "lu", "manual_seed", "matrix_rank", "meshgrid", "norm", "pca_lowrank", "seed", "set_default_device", "set_default_dtype",
    "set_default_tensor_type", "set_rng_state", "set_warn_always", "solve", "split", "stft", "svd_lowrank", "symeig", "tensordot", "unique",
    "unique_consecutive", "unravel_index"])
# and what it has built in of torch.nn.functional.
_FUNCTIONAL = frozenset([
    "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu_", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "elu_", "hardtanh_", "leaky_relu_", "linear", "one_hot", "pdist", "prelu", "relu_", "rrelu_",
    "scaled_dot_product_attention", "selu_", "threshold_"])
_ALL = frozenset(("torch.fft", "torch.linalg", "torch.special", "torch._C._nn"))  # modules in which all are


def built_in(path):
    """Whether PyTorch's function of this path is built in."""
    where, _, name = path.rpartition(".")
    return where in _ALL or (where == "torch" and name not in _PYTHON) or (where == "torch.nn.functional" and name in _FUNCTIONAL)


def shown(path, f):
    """What stands for `f` under this path."""
    if not built_in(path):
        return f
    out = overriding.SHOWN.get(f)
    if out is None:
        out = overriding.SHOWN[f] = hot.wrapped(f, {}, None, binds=False)
        if id(f) in overriding.PATHS:
            overriding.named(out, overriding.PATHS[id(f)])
    return out


__all__ = ["built_in", "shown"]
