"""torch.optim.adamw (layer 8)."""

from __future__ import annotations

from ._lists import apply
from .adam import Adam, _Adam

__all__ = ["AdamW", "adamw"]


class _AdamW(_Adam):
    older = {**_Adam.older, "decoupled_weight_decay": True}


class AdamW(Adam):
    """Adam with decoupled weight decay."""

    _tl_algorithm = _AdamW()

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False, foreach=None, capturable=False,
                 differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
                         differentiable=differentiable, fused=fused, decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def adamw(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False, differentiable=False, fused=None,
          grad_scale=None, found_inf=None, has_complex=False, *, amsgrad, beta1, beta2, lr, weight_decay, eps, maximize):
    """A step of `AdamW` over lists of tensors, written into them."""
    apply(AdamW._tl_algorithm, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "max_exp_avg_sq": max_exp_avg_sqs},
          foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused, grad_scale=grad_scale, found_inf=found_inf,
          amsgrad=amsgrad, lr=lr, weight_decay=weight_decay, eps=eps, maximize=maximize, betas=(beta1, beta2), decoupled_weight_decay=True)
