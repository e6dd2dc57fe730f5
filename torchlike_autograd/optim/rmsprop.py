"""torch.optim.rmsprop (layer 8)."""

from __future__ import annotations

from ._group import Algorithm, Recorded, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["RMSprop", "rmsprop"]


class _RMSprop(Algorithm):
    name, lists = "RMSprop", ("square_avg", "momentum_buffer", "grad_avg", "step")
    rule = "rmsprop"
    older = {"momentum": 0, "centered": False, "foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def begin(self, group, p, g, state, count):
        count("step")
        for name in self.states(group, state)[1:]:
            state[name] = zeros_like(p)

    def states(self, group, state):
        return ("step", "square_avg", *(("momentum_buffer",) if group["momentum"] > 0 else ()), *(("grad_avg",) if group["centered"] else ()))

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0), ("momentum", group["momentum"] > 0), ("centered", group["centered"]))

    def numbers(self, group, kind):
        return {"lr": group["lr"], "alpha": group["alpha"], "eps": group["eps"], "weight_decay": group["weight_decay"], "momentum": group["momentum"]}


class RMSprop(Recorded, Optimizer):
    """Steps by the running root mean square of the gradients, `centered` by their mean."""

    _tl_algorithm = _RMSprop()

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None, maximize=False,
                 differentiable=False):
        check_lr(lr)
        check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay, "capturable": capturable,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable})

    @own
    def _init_group(self, group, params_with_grad, grads, square_avgs, momentum_buffer_list, grad_avgs, state_steps):
        return init_group(self, group, params_with_grad, grads, square_avgs, momentum_buffer_list, grad_avgs, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def rmsprop(params, grads, square_avgs, grad_avgs, momentum_buffer_list, state_steps, foreach=None, maximize=False, differentiable=False,
            capturable=False, has_complex=False, *, lr, alpha, eps, weight_decay, momentum, centered):
    """A step of `RMSprop` over lists of tensors, written into them."""
    apply(RMSprop._tl_algorithm, params, grads, {"step": state_steps, "square_avg": square_avgs,
          "momentum_buffer": momentum_buffer_list, "grad_avg": grad_avgs},
          foreach=foreach, maximize=maximize, differentiable=differentiable, capturable=capturable, lr=lr, alpha=alpha, eps=eps,
          weight_decay=weight_decay, momentum=momentum, centered=centered)
