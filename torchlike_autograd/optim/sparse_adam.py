"""torch.optim.sparse_adam (layer 8): for sparse gradients, of which there are none here."""

from __future__ import annotations

from .._tensor import Tensor
from ._group import check_betas, check_lr
from .optimizer import Optimizer, loss_of

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Refuses the gradients of strided tensors in PyTorch's words."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_lr(lr)
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        if not isinstance(params, Tensor):      # which `Optimizer` refuses
            params = list(params)
            _refuse_sparse(params)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def step(self, closure=None):
        """RuntimeError as soon as there is a gradient."""
        loss = loss_of(closure)
        if any(p._grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return loss


def _refuse_sparse(params):
    groups = [group["params"] if isinstance(group, dict) else [group] for group in params]
    sparse = [[i, j] for i, group in enumerate(groups) if isinstance(group, (list, tuple)) for j, p in enumerate(group)
              if isinstance(p, Tensor) and p.is_sparse]
    if sparse:
        where = sparse if isinstance(params[0], dict) else [[0, i] for i, _ in sparse]
        raise ValueError(f"Sparse params at indices {where}: SparseAdam requires dense parameter tensors")
