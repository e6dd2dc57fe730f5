"""torch.optim.adam (layer 8)."""

from __future__ import annotations

from .._tensor import Tensor
from ._group import Algorithm, Recorded, check_betas, check_fused, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["Adam", "adam"]


class _Adam(Algorithm):
    name, lists = "Adam", ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step")
    rule = "adam"
    older = {"amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False, "decoupled_weight_decay": False, "fused": None}

    def sparse_words(self):
        """torch's refusal, also of AdamW's."""
        return "Adam does not support sparse gradients, please consider SparseAdam instead"

    def begin(self, group, p, g, state, count):
        count("step")
        state["exp_avg"] = zeros_like(p)
        state["exp_avg_sq"] = zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)

    def states(self, group, state):
        return _AMSGRAD if group["amsgrad"] else _PLAIN

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0), ("decoupled", group["decoupled_weight_decay"]), ("amsgrad", group["amsgrad"]))

    def numbers(self, group, kind):
        return {"lr": group["lr"], "beta1": group["betas"][0], "beta2": group["betas"][1], "eps": group["eps"], "weight_decay": group["weight_decay"]}


class Adam(Recorded, Optimizer):
    """Adam, with coupled or decoupled weight decay; `amsgrad` keeps the largest second moment."""

    _tl_algorithm = _Adam()

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        if not any(isinstance(betas[0], kind) and isinstance(betas[1], kind) for kind in (float, Tensor)):  # 0 is no float: torch 2.13 refuses (0, 0.9)
            raise ValueError("betas must be either both floats or both Tensors")
        for i in (0, 1):
            if isinstance(betas[i], Tensor):
                if not capturable and foreach:
                    raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
                if betas[i].numel() != 1:
                    raise ValueError(f"Tensor betas[{i}] must be 1-element")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused, "decoupled_weight_decay": decoupled_weight_decay})
        check_fused(self.defaults)
        if fused:
            self._step_supports_amp_scaling = True

    @own
    def _init_group(self, group, params_with_grad, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps):
        return init_group(self, group, params_with_grad, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


_PLAIN = ("step", "exp_avg", "exp_avg_sq")
_AMSGRAD = (*_PLAIN, "max_exp_avg_sq")


def adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False, differentiable=False, fused=None,
         grad_scale=None, found_inf=None, has_complex=False, decoupled_weight_decay=False, *, amsgrad, beta1, beta2, lr, weight_decay, eps, maximize):
    """A step of `Adam` over lists of tensors, written into them."""
    apply(Adam._tl_algorithm, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "max_exp_avg_sq": max_exp_avg_sqs},
          foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused, grad_scale=grad_scale, found_inf=found_inf,
          decoupled_weight_decay=decoupled_weight_decay, amsgrad=amsgrad, lr=lr, weight_decay=weight_decay, eps=eps, maximize=maximize, betas=(beta1,
          beta2))
