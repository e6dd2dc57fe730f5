"""torch.optim.Muon (layer 8)."""

from __future__ import annotations

from .._tensor import Tensor
from ._group import Algorithm, Recorded, init_group, own, step_groups, zeros_like
from .optimizer import Optimizer

__all__ = ["Muon"]


class _Muon(Algorithm):
    name, lists = "Muon", ("momentum_buffer",)
    rule, captured = "muon", False

    def begin(self, group, p, g, state, count):
        state["momentum_buffer"] = zeros_like(p)

    def states(self, group, state):
        return ("momentum_buffer",)

    def flags(self, group):
        return (("nesterov", group["nesterov"]), ("ns_steps", group["ns_steps"]), ("adjust", group["adjust_lr_fn"]))

    def numbers(self, group, kind):
        a, b, c = group["ns_coefficients"]
        return {"lr": group["lr"], "weight_decay": group["weight_decay"], "momentum": group["momentum"], "eps": group["eps"], "a": a, "b": b, "c": c}

    def check(self, group):
        if any(p.is_complex() for p in group["params"]):
            raise RuntimeError("Muon does not support complex parameters")
        if group["ns_steps"] >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")


class Muon(Recorded, Optimizer):
    """Momentum made orthogonal, for matrices alone; its size follows `adjust_lr_fn`: "original" (also None) or "match_rms_adamw"."""

    _tl_algorithm = _Muon()

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5,
                 adjust_lr_fn=None):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_coefficients": ns_coefficients, "eps": eps,
            "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    @own
    def _init_group(self, group, params_with_grad, grads, muon_momentum_bufs):
        return init_group(self, group, params_with_grad, grads, muon_momentum_bufs)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)
