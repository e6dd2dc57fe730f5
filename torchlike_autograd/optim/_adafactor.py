"""torch.optim.Adafactor (layer 8)."""

from __future__ import annotations

import numpy as np

from .._tensor import Tensor, from_array
from ._group import Algorithm, Recorded, init_group, own, step_groups, zeros_like
from .optimizer import Optimizer

__all__ = ["Adafactor"]


class _Adafactor(Algorithm):
    name, lists = "Adafactor", ("row_var", "col_var", "variance", "step")
    rule, uniform = "adafactor", False
    older = {"foreach": None}

    def begin(self, group, p, g, state, count):
        if g.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        count("step")
        shape, dtype = tuple(g.shape), g.dtype
        if len(shape) > 1:
            state["row_var"] = from_array(np.zeros((*shape[:-1], 1), dtype.np), dtype, like=p)
            state["col_var"] = from_array(np.zeros((*shape[:-2], 1, shape[-1]), dtype.np), dtype, like=p)
        else:
            state["variance"] = zeros_like(g)

    def states(self, group, state):
        return _MATRIX if "row_var" in state else _VECTOR

    def listed(self, group):
        return self.lists

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0),)

    def numbers(self, group, kind):
        out = {"lr": group["lr"], "beta2_decay": group["beta2_decay"], "eps2": group["eps"][1], "d": group["d"], "weight_decay": group["weight_decay"]}
        if group["eps"][0] is not None:
            out["eps1"] = group["eps"][0]
        return out


class Adafactor(Recorded, Optimizer):
    """Second moments of matrices by their rows and columns alone."""

    _tl_algorithm = _Adafactor()

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for ok, name, value in ((lr >= 0.0, "Learning rate should be >= 0", lr), (beta2_decay <= 0.0, "beta2_decay should be <= 0", beta2_decay),
                                (eps[0] is None or eps[0] >= 0.0, "epsilon1 should be >= 0", eps[0]), (eps[1] >= 0.0, "epsilon2 should be >= 0", eps[1]),
                                (d >= 1.0, "Clipping threshold d should be >= 1", d), (weight_decay >= 0.0, "weight_decay should be >= 0", weight_decay)):
            if not ok:
                raise ValueError(f"{name} but is: {value}")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize})

    @own
    def _init_group(self, group, params_with_grad, grads, row_vars, col_vars, variances, state_steps):
        return init_group(self, group, params_with_grad, grads, row_vars, col_vars, variances, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


_MATRIX, _VECTOR = ("step", "row_var", "col_var"), ("step", "variance")
