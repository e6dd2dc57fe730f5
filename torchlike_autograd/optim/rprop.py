"""torch.optim.rprop (layer 8)."""

from __future__ import annotations

from ._group import Algorithm, Recorded, check_lr, filled_like, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["Rprop", "rprop"]


class _Rprop(Algorithm):
    name, lists = "Rprop", ("prev", "step_size", "step")
    rule = "rprop"
    older = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def begin(self, group, p, g, state, count):
        count("step")
        state["prev"] = zeros_like(p)
        lr = float(group["lr"])
        state["step_size"] = filled_like(g, complex(lr, lr) if g.is_complex() else lr)

    def states(self, group, state):
        return ("step", "prev", "step_size")

    def flags(self, group):
        return ()

    def numbers(self, group, kind):
        return {"minus": group["etas"][0], "plus": group["etas"][1], "least": group["step_sizes"][0], "most": group["step_sizes"][1]}


class Rprop(Recorded, Optimizer):
    """Steps by the signs of the gradients alone, longer while they stay."""

    _tl_algorithm = _Rprop()

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False, differentiable=False):
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable})

    @own
    def _init_group(self, group, params, grads, prevs, step_sizes, state_steps):
        return init_group(self, group, params, grads, prevs, step_sizes, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def rprop(params, grads, prevs, step_sizes, state_steps, foreach=None, capturable=False, maximize=False, differentiable=False, has_complex=False, *,
          step_size_min, step_size_max, etaminus, etaplus):
    """A step of `Rprop` over lists of tensors, written into them."""
    apply(Rprop._tl_algorithm, params, grads, {"step": state_steps, "prev": prevs, "step_size": step_sizes},
          foreach=foreach, capturable=capturable,
          maximize=maximize, differentiable=differentiable, etas=(etaminus, etaplus), step_sizes=(step_size_min, step_size_max))
