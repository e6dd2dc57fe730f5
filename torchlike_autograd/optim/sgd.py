"""torch.optim.sgd (layer 8)."""

from __future__ import annotations

from .._core.sparse_gradients import is_sparse
from ._group import Algorithm, Recorded, check_first_fused, check_fused, check_lr, check_not_negative, init_group, own, step_groups, zeros_like
from ._lists import apply
from .optimizer import Optimizer

__all__ = ["SGD", "sgd"]


class _SGD(Algorithm):
    name, lists = "SGD", ("momentum_buffer",)
    rule, first, of_sparse, of_sparse_gradients, captured = "sgd", "first", True, True, False
    older = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}

    def spread(self, group, g):
        if group["weight_decay"]:
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        return super().spread(group, g)

    def state_of(self, optimizer, group, p):
        return optimizer.state[p] if group["momentum"] != 0 else {}

    def fresh(self, group, state):
        return group["momentum"] != 0 and state.get("momentum_buffer") is None

    def check_fused(self, optimizer, p, g, fresh):
        check_first_fused(optimizer, p)
        if is_sparse(g):
            raise RuntimeError("`_fused_sgd` does not support sparse gradients")
        if p.is_complex():
            raise NotImplementedError(f"\"fused_sgd_kernel\" not implemented for 'Complex{'Double' if p.dtype.itemsize == 16 else 'Float'}'")

    def check(self, group):
        """Nothing: SGD takes lists of tensors that are differentiated too."""

    def begin(self, group, p, g, state, count):
        state["momentum_buffer"] = zeros_like(g)

    def states(self, group, state):
        return _NONE if group["momentum"] == 0 else _BUFFER

    def flags(self, group):
        return (("weight_decay", group["weight_decay"] != 0), ("momentum", group["momentum"] != 0), ("nesterov", group["nesterov"]),
                ("dampening", group["dampening"] != 0))

    def numbers(self, group, kind):
        return {"lr": group["lr"], "momentum": group["momentum"], "dampening": 0.0 if kind else group["dampening"], "weight_decay": group["weight_decay"]}


class SGD(Recorded, Optimizer):
    """Gradient descent with momentum.  The first step's buffer is the gradient: the usual rule from a buffer of zeros with nothing dampened."""

    _tl_algorithm = _SGD()

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None, differentiable=False,
                 fused=None):
        check_lr(lr)
        check_not_negative(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
            "foreach": foreach, "differentiable": differentiable, "fused": fused})
        if fused:
            self._step_supports_amp_scaling = self._need_device_dtype_check_for_fused = True
            check_fused(self.defaults)

    @own
    def _init_group(self, group, params, grads, momentum_buffer_list):
        init_group(self, group, params, grads, momentum_buffer_list)
        return any(g.is_sparse for g in grads)

    def step(self, closure=None):
        """One update; returns what the closure returns."""
        return step_groups(self, closure)


_NONE, _BUFFER = (), ("momentum_buffer",)


def sgd(params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None, grad_scale=None, found_inf=None, *, weight_decay, momentum,
        lr, dampening, nesterov, maximize):
    """A step of `SGD` over lists of tensors, written into them; where there is no momentum buffer yet (None), the list gets one."""
    options = {"weight_decay": weight_decay, "momentum": momentum, "lr": lr, "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "fused": fused,
               "grad_scale": grad_scale, "found_inf": found_inf}
    first = [i for i in range(len(params)) if momentum != 0 and momentum_buffer_list[i] is None]
    later = [i for i in range(len(params)) if i not in first]
    for i in first:
        momentum_buffer_list[i] = zeros_like(params[i])
    for places, damp in ((first, 0.0), (later, dampening)):
        if places:
            buffers = [momentum_buffer_list[i] for i in places] if momentum != 0 else []
            apply(SGD._tl_algorithm, [params[i] for i in places], [d_p_list[i] for i in places], {"momentum_buffer": buffers}, dampening=damp, **options)
