"""torch.optim.adagrad (layer 8)."""

from __future__ import annotations

from .._core.sparse_gradients import is_sparse
from ._group import Algorithm, Recorded, begin, check_first_fused, check_fused, check_lr, check_not_negative, filled_like, init_group, own, step_groups
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["Adagrad", "adagrad"]


class _Adagrad(Algorithm):
    name, lists = "Adagrad", ("sum", "step")
    rule, of_sparse_gradients, captured = "adagrad", True, False
    older = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def check_fused(self, optimizer, p, g, fresh):
        check_first_fused(optimizer, p)
        if is_sparse(g) or p.is_complex():
            raise RuntimeError("`fused` does not support sparse grad or complex param")

    def begin(self, group, p, g, state, count):
        count("step")
        value = group["initial_accumulator_value"]
        state["sum"] = filled_like(p, complex(value, value) if p.is_complex() else value)

    def spread(self, group, g):
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        return super().spread(group, g)

    def states(self, group, state):
        return ("step", "sum")

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0),)

    def numbers(self, group, kind):
        return {"lr": group["lr"], "lr_decay": group["lr_decay"], "eps": group["eps"], "weight_decay": group["weight_decay"]}


class Adagrad(Recorded, Optimizer):
    """Steps by the root of all squared gradients so far; the states are there from the start."""

    _tl_algorithm = _Adagrad()

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False,
                 differentiable=False, fused=None):
        check_lr(lr)
        check_not_negative(lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, eps=eps)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay, "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable, "fused": fused})
        check_fused(self.defaults)
        if fused:
            self._step_supports_amp_scaling = self._need_device_dtype_check_for_fused = True
        for group in self.param_groups:
            counts = {}
            for p in group["params"]:
                begin(self._tl_algorithm, group, p, None, self.state[p], counts)

    def share_memory(self):
        """Tensors are shared within the process only."""
        raise NotImplementedError("share_memory: tensors cannot be shared between processes here")

    @own
    def _init_group(self, group, params_with_grad, grads, state_sums, state_steps):
        has_complex = init_group(self, group, params_with_grad, grads, state_sums, state_steps)
        return any(g.is_sparse for g in grads), has_complex

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


def adagrad(params, grads, state_sums, state_steps, fused=None, grad_scale=None, found_inf=None, has_sparse_grad=False, foreach=None,
            differentiable=False, has_complex=False, *, lr, weight_decay, lr_decay, eps, maximize):
    """A step of `Adagrad` over lists of tensors, written into them."""
    apply(Adagrad._tl_algorithm, params, grads, {"step": state_steps, "sum": state_sums},
          fused=fused, grad_scale=grad_scale, found_inf=found_inf,
          foreach=foreach, differentiable=differentiable, lr=lr, weight_decay=weight_decay, lr_decay=lr_decay, eps=eps, maximize=maximize)


def _make_sparse(grad, grad_indices, values):
    """A sparse tensor of the size of a gradient."""
    from .. import sparse_coo_tensor  # cycle: the public names lie above

    return sparse_coo_tensor(grad_indices, values, grad.size())
