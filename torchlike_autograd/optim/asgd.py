"""torch.optim.asgd (layer 8)."""

from __future__ import annotations

from ._group import Algorithm, Recorded, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["ASGD", "asgd"]


class _ASGD(Algorithm):
    name, lists = "ASGD", ("mu", "ax", "eta", "step")
    rule = "asgd"
    older = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    capturable_words = "params, mus, etas, and state_steps"

    def begin(self, group, p, g, state, count):
        count("step")
        count("eta", float(group["lr"]))
        count("mu", 1.0)
        state["ax"] = zeros_like(p)

    def states(self, group, state):
        return ("step", "eta", "mu", "ax")

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0),)

    def numbers(self, group, kind):
        return {"lr": group["lr"], "lambd": group["lambd"], "alpha": group["alpha"], "t0": group["t0"], "weight_decay": group["weight_decay"]}


class ASGD(Recorded, Optimizer):
    """Gradient descent with a falling rate and the average of the parameters in the state `ax`."""

    _tl_algorithm = _ASGD()

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, differentiable=False, capturable=False):
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})

    @own
    def _init_group(self, group, params_with_grad, grads, mus, axs, etas, state_steps):
        return init_group(self, group, params_with_grad, grads, mus, axs, etas, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def asgd(params, grads, axs, mus, etas, state_steps, foreach=None, maximize=False, differentiable=False, capturable=False, has_complex=False, *,
         lambd, lr, t0, alpha, weight_decay):
    """A step of `ASGD` over lists of tensors, written into them."""
    apply(ASGD._tl_algorithm, params, grads, {"step": state_steps, "eta": etas, "mu": mus, "ax": axs},
          foreach=foreach, maximize=maximize,
          differentiable=differentiable, capturable=capturable, lambd=lambd, lr=lr, t0=t0, alpha=alpha, weight_decay=weight_decay)
