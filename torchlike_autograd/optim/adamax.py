"""torch.optim.adamax (layer 8)."""

from __future__ import annotations

from ._group import Algorithm, Recorded, check_betas, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["Adamax", "adamax"]


class _Adamax(Algorithm):
    name, lists = "Adamax", ("exp_avg", "exp_inf", "step")
    rule = "adamax"
    older = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def begin(self, group, p, g, state, count):
        count("step")
        state["exp_avg"] = zeros_like(p)
        state["exp_inf"] = zeros_like(p)

    def states(self, group, state):
        return ("step", "exp_avg", "exp_inf")

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0),)

    def numbers(self, group, kind):
        return {"lr": group["lr"], "beta1": group["betas"][0], "beta2": group["betas"][1], "eps": group["eps"], "weight_decay": group["weight_decay"]}


class Adamax(Recorded, Optimizer):
    """Adam by the largest gradient so far instead of the second moment."""

    _tl_algorithm = _Adamax()

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False, differentiable=False, capturable=False):
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable})

    @own
    def _init_group(self, group, params_with_grad, grads, exp_avgs, exp_infs, state_steps):
        return init_group(self, group, params_with_grad, grads, exp_avgs, exp_infs, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def adamax(params, grads, exp_avgs, exp_infs, state_steps, foreach=None, maximize=False, differentiable=False, capturable=False, has_complex=False, *,
           eps, beta1, beta2, lr, weight_decay):
    """A step of `Adamax` over lists of tensors, written into them."""
    apply(Adamax._tl_algorithm, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_inf": exp_infs},
          foreach=foreach, maximize=maximize,
          differentiable=differentiable, capturable=capturable, eps=eps, lr=lr, weight_decay=weight_decay, betas=(beta1, beta2))
