"""torch.functional (layer 8): where the functions of torch that PyTorch writes in Python are found as well."""

from ._core import publish as _publish

__all__ = [  # noqa: F822, RUF022 (names of the package, looked up there; in PyTorch's order)
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "block_diag", "cdist", "chain_matmul", "einsum",
    "istft", "lu", "norm", "meshgrid", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "unique", "unique_consecutive", "unravel_index"]

globals().update({name: _publish.load_all()[f"torch.{name}"] for name in __all__})
__getattr__ = _publish.missing("torch.functional")
