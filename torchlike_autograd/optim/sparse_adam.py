"""torch.optim.sparse_adam (layer 8): Adam that steps only where there are gradients.

The step is written over whole tensors with a mask of what has a gradient, and not over the values that are there: their number changes from step to step,
and each one would be a program of its own.
"""

from __future__ import annotations

from .._core.publish import load_all
from .._core.sparse_gradients import is_sparse
from .._tensor import Tensor
from ..autograd.grad_mode import no_grad
from ._group import check_betas, check_lr, zeros_like
from .optimizer import Optimizer, loss_of

__all__ = ["SparseAdam", "sparse_adam"]


class SparseAdam(Optimizer):
    """Steps the places that the sparse gradients of dense parameters (`Embedding(sparse=True)`) name; the averages of the others stay as they are."""

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
        """One update; returns what the closure returns.  RuntimeError for a dense gradient."""
        loss = loss_of(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p._grad is not None]
            grads = [p._grad for p in params]
            for p, g in zip(params, grads):
                if not is_sparse(g):
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                state = self.state[p]
                if not state:
                    state.update(step=0, exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
                state["step"] += 1
            states = [self.state[p] for p in params]
            sparse_adam(params, grads, *([s[name] for s in states] for name in ("exp_avg", "exp_avg_sq", "step")), eps=group["eps"],
                        beta1=group["betas"][0], beta2=group["betas"][1], lr=group["lr"], maximize=group.get("maximize", False))
        return loss


def sparse_adam(params, grads, exp_avgs, exp_avg_sqs, state_steps, *, eps, beta1, beta2, lr, maximize):
    """A step of `SparseAdam` over lists of tensors, written into them."""
    from ..sparse import _gradients  # not before it is needed: `torch.sparse` is imported then

    where = load_all()["torch.where"]
    with no_grad():
        for p, grad, m, v, step in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps):
            g, there = _gradients.dense(-grad if maximize else grad), _gradients.mask(grad)
            new_m = (g - m) * (1 - beta1) + m
            new_v = (g * g - v) * (1 - beta2) + v
            size = lr * (1 - beta2 ** step) ** 0.5 / (1 - beta1 ** step)
            p.copy_(where(there, p - size * (new_m / (new_v.sqrt() + eps)), p))
            m.copy_(where(there, new_m, m))
            v.copy_(where(there, new_v, v))


def _refuse_sparse(params):
    groups = [group["params"] if isinstance(group, dict) else [group] for group in params]
    sparse = [[i, j] for i, group in enumerate(groups) if isinstance(group, (list, tuple)) for j, p in enumerate(group)
              if isinstance(p, Tensor) and p.is_sparse]
    if sparse:
        where = sparse if isinstance(params[0], dict) else [[0, i] for i, _ in sparse]
        raise ValueError(f"Sparse params at indices {where}: SparseAdam requires dense parameter tensors")
