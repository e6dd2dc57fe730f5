"""torch.optim.radam (layer 8)."""

from __future__ import annotations

from ._group import Algorithm, Recorded, check_betas, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["RAdam", "radam"]


class _RAdam(Algorithm):
    name, lists = "RAdam", ("exp_avg", "exp_avg_sq", "step")
    rule = "radam"
    older = {"foreach": None, "maximize": False, "differentiable": False, "decoupled_weight_decay": False, "capturable": False}

    def begin(self, group, p, g, state, count):
        count("step")
        state["exp_avg"] = zeros_like(p)
        state["exp_avg_sq"] = zeros_like(p)

    def states(self, group, state):
        return ("step", "exp_avg", "exp_avg_sq")

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0), ("decoupled", group["decoupled_weight_decay"]))

    def numbers(self, group, kind):
        return {"lr": group["lr"], "beta1": group["betas"][0], "beta2": group["betas"][1], "eps": group["eps"], "weight_decay": group["weight_decay"]}


class RAdam(Recorded, Optimizer):
    """Adam whose adaptive step waits until the second moment is known well enough."""

    _tl_algorithm = _RAdam()

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None, maximize=False,
                 capturable=False, differentiable=False):
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})

    @own
    def _init_group(self, group, params_with_grad, grads, exp_avgs, exp_avg_sqs, state_steps):
        return init_group(self, group, params_with_grad, grads, exp_avgs, exp_avg_sqs, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def radam(params, grads, exp_avgs, exp_avg_sqs, state_steps, decoupled_weight_decay=False, foreach=None, differentiable=False, capturable=False,
          has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay, eps):
    """A step of `RAdam` over lists of tensors, written into them."""
    apply(RAdam._tl_algorithm, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs},
          decoupled_weight_decay=decoupled_weight_decay, foreach=foreach, differentiable=differentiable, capturable=capturable, maximize=maximize,
          lr=lr, weight_decay=weight_decay, eps=eps, betas=(beta1, beta2))
