"""torch.optim.nadam (layer 8)."""

from __future__ import annotations

from ._group import Algorithm, Recorded, check_betas, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["NAdam", "nadam"]


class _NAdam(Algorithm):
    name, lists = "NAdam", ("exp_avg", "exp_avg_sq", "mu_product", "step")
    rule = "nadam"
    older = {"maximize": False, "foreach": None, "capturable": False, "differentiable": False, "decoupled_weight_decay": False}
    capturable_words = "params, mu_products and state_steps"

    def begin(self, group, p, g, state, count):
        count("step")
        count("mu_product", 1.0)
        state["exp_avg"] = zeros_like(p)
        state["exp_avg_sq"] = zeros_like(p)

    def states(self, group, state):
        return ("step", "mu_product", "exp_avg", "exp_avg_sq")

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0), ("decoupled", group["decoupled_weight_decay"]))

    def numbers(self, group, kind):
        return {"lr": group["lr"], "beta1": group["betas"][0], "beta2": group["betas"][1], "eps": group["eps"], "weight_decay": group["weight_decay"],
                "momentum_decay": group["momentum_decay"]}


class NAdam(Recorded, Optimizer):
    """Adam with Nesterov's momentum."""

    _tl_algorithm = _NAdam()

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False):
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable})

    @own
    def _init_group(self, group, params_with_grad, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps):
        return init_group(self, group, params_with_grad, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def nadam(params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps, decoupled_weight_decay=False, foreach=None, capturable=False,
          differentiable=False, has_complex=False, maximize=False, *, beta1, beta2, lr, weight_decay, momentum_decay, eps):
    """A step of `NAdam` over lists of tensors, written into them."""
    apply(NAdam._tl_algorithm, params, grads, {"step": state_steps, "mu_product": mu_products, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs},
          decoupled_weight_decay=decoupled_weight_decay, foreach=foreach, capturable=capturable, differentiable=differentiable, maximize=maximize,
          lr=lr, weight_decay=weight_decay, momentum_decay=momentum_decay, eps=eps, betas=(beta1, beta2))
