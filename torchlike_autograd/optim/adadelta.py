"""torch.optim.adadelta (layer 8)."""

from __future__ import annotations

from ._group import Algorithm, Recorded, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["Adadelta", "adadelta"]


class _Adadelta(Algorithm):
    name, lists = "Adadelta", ("square_avg", "acc_delta", "step")
    rule = "adadelta"
    older = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    capturable_where = "['cuda', 'xpu', 'hpu', 'privateuseone']"

    def begin(self, group, p, g, state, count):
        count("step")
        state["square_avg"] = zeros_like(p)
        state["acc_delta"] = zeros_like(p)

    def states(self, group, state):
        return ("step", "square_avg", "acc_delta")

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0),)

    def numbers(self, group, kind):
        return {"lr": group["lr"], "rho": group["rho"], "eps": group["eps"], "weight_decay": group["weight_decay"]}


class Adadelta(Recorded, Optimizer):
    """Steps of the size of earlier steps, relative to earlier gradients."""

    _tl_algorithm = _Adadelta()

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False, differentiable=False):
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable, "foreach": foreach,
            "differentiable": differentiable})

    @own
    def _init_group(self, group, params_with_grad, grads, square_avgs, acc_deltas, state_steps):
        return init_group(self, group, params_with_grad, grads, square_avgs, acc_deltas, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def adadelta(params, grads, square_avgs, acc_deltas, state_steps, capturable=False, foreach=None, differentiable=False, has_complex=False, *, lr, rho,
             eps, weight_decay, maximize):
    """A step of `Adadelta` over lists of tensors, written into them."""
    apply(Adadelta._tl_algorithm, params, grads, {"step": state_steps, "square_avg": square_avgs, "acc_delta": acc_deltas},
          capturable=capturable,
          foreach=foreach, differentiable=differentiable, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize)
