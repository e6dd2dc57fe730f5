"""Settings of the optimizers for tests that go over all of them (layer 8): what each is made with, and what it refuses.

A setting is a tuple of pairs; TENSOR stands for a learning rate as a tensor.  What is refused: (arguments, class, words, whether the step refuses it).
"""

from __future__ import annotations

TENSOR = "a tensor"
_LR, _DECAY, _MAX = {"lr": 0.01}, {"weight_decay": 0.1}, {"maximize": True}
_BOTH = {**_MAX, **_DECAY}
_WD_MD = {**_DECAY, "momentum_decay": 0.006}
_ADAM = ({}, _LR, _DECAY, _BOTH, {**_DECAY, "amsgrad": True})

SETTINGS = {
    "Adadelta": ({}, _LR, _DECAY, _MAX, _BOTH, {"rho": 0.95, "weight_decay": 0.9}),
    "Adafactor": ({}, {**_LR, **_DECAY}, _BOTH, {"beta2_decay": -1.0}, {"d": 1.5}),
    "Adagrad": ({}, _DECAY, _BOTH, {"lr": 0.1}, {"initial_accumulator_value": 0.1, **_DECAY}, {"lr": 0.1, "lr_decay": 0.5, **_DECAY}, {"lr": TENSOR}),
    "Adam": _ADAM,
    "Adamax": ({}, {"lr": 0.1}, _DECAY, _MAX, _BOTH),
    "AdamW": _ADAM,
    "ASGD": ({}, {"lambd": 0.1}, {"lr": 0.02}, {"t0": 100}, _MAX, _DECAY, _BOTH),
    "LBFGS": ({}, _LR, {"lr": TENSOR}, {"tolerance_grad": 1e-6}, {"line_search_fn": "strong_wolfe"}),
    "Muon": ({}, _LR, {"lr": TENSOR}, {"weight_decay": 0.2}, {"momentum": 0.8}, {"ns_steps": 6}, {"ns_coefficients": (3.4, -4.7, 2.0)}),
    "NAdam": ({}, {"lr": 1e-3}, {"momentum_decay": 6e-3}, _DECAY, _WD_MD, {**_WD_MD, "decoupled_weight_decay": True}, _BOTH),
    "RAdam": ({}, {"lr": 2e-3}, {"eps": 1e-6}, _DECAY, {**_DECAY, "decoupled_weight_decay": True}, _BOTH),
    "RMSprop": ({}, {"lr": 1e-3}, _DECAY, _MAX, {**_DECAY, "centered": True}, _BOTH, {**_DECAY, "centered": True, "momentum": 0.1},
                {**_BOTH, "centered": True, "momentum": 0.1}),
    "Rprop": ({}, {"lr": 2e-4}, {"etas": (0.5, 1.5)}, {"step_sizes": (2e-6, 100)}, _MAX),
    "SGD": ({}, _LR, {"lr": TENSOR}, {"weight_decay": 0.5}, {"momentum": 0.9}, _BOTH, {"momentum": 0.9, "dampening": 0.5}, {"momentum": 0.9, **_DECAY},
            {"momentum": 0.9, "nesterov": True, **_DECAY}),
    "SparseAdam": ({}, _LR, {"lr": TENSOR}, _MAX),
}

_BETA = {"lr": 1e-2, "betas": (1.0, 0.0)}, ValueError, "Invalid beta parameter at index 0: 1.0"
_DECAY_BELOW = {"lr": 1e-2, "weight_decay": -1}, ValueError, "Invalid weight_decay value: -1"
_ADAMS = (_BETA, _DECAY_BELOW,
          ({"lr": TENSOR, "foreach": True}, ValueError, "lr as a Tensor is not supported for capturable=False and foreach=True"),
          ({"betas": (0.9, TENSOR)}, ValueError, "betas must be either both floats or both Tensors"),
          ({"betas": (TENSOR, 0.99)}, ValueError, "betas must be either both floats or both Tensors"),
          ({"betas": (TENSOR, TENSOR), "foreach": True}, ValueError, r"betas\[0\] as a Tensor is not supported for capturable=False and foreach=True"))

REFUSED = {
    "Adadelta": (({"lr": 1e-2, "rho": 1.1}, ValueError, "Invalid rho value: 1.1"),),
    "Adafactor": (({"eps": (-1e-30, 1e-3)}, ValueError, "epsilon1 should be >= 0"), ({"d": 0.0}, ValueError, "Clipping threshold d should be >= 1"),
                  ({"beta2_decay": 0.8}, ValueError, "beta2_decay should be <= 0")),
    "Adagrad": (({"lr": 1e-2, "lr_decay": -0.5}, ValueError, "Invalid lr_decay value: -0.5"),),
    "Adam": _ADAMS,
    "Adamax": (({"lr": 1e-2, "betas": (0.0, 1.0)}, ValueError, "Invalid beta parameter at index 1: 1.0"),),
    "AdamW": _ADAMS,
    "ASGD": (({"lr": 1e-2, "weight_decay": -0.5}, ValueError, "Invalid weight_decay value: -0.5"),),
    "Muon": (({"adjust_lr_fn": "arbitrary"}, ValueError, "Adjust learning rate function arbitrary is not supported"),),
    "NAdam": (_BETA, ({"lr": 1e-2, "momentum_decay": -0.2}, ValueError, "Invalid momentum_decay value: -0.2")),
    "RAdam": (_BETA, _DECAY_BELOW),
    "RMSprop": (({"lr": 1e-2, "momentum": -1.0}, ValueError, "Invalid momentum value: -1.0"),),
    "Rprop": (({"lr": 1e-2, "etas": (1.0, 0.5)}, ValueError, "Invalid eta values: 1.0, 0.5"),),
    "SGD": (({"lr": 1e-2, "momentum": -0.5}, ValueError, "Invalid momentum value: -0.5"),),
    "SparseAdam": (_BETA,),
}

# what computes it, besides the loop; which settings they take; where there is one fused program
_LOOPS = ("foreach", "differentiable")
FLAGS = {
    "Adafactor": {"supported_impls": ("foreach",), "not_og_supported_flags": ("foreach",), "supports_complex": False},
    "LBFGS": {"supported_impls": (), "step_requires_closure": True, "supports_param_groups": False, "supports_multiple_devices": False},
    "Muon": {"supported_impls": (), "not_og_supported_flags": (), "supports_complex": False},
    "SparseAdam": {"supported_impls": (), "supports_complex": False, "only_supports_sparse_grads": True},
    "SGD": {"supports_sparse": True}, "Adagrad": {"supports_sparse": True},
}
for _name in ("Adagrad", "Adam", "AdamW", "SGD"):
    FLAGS.setdefault(_name, {}).update(supported_impls=(*_LOOPS, "fused"), supports_fused_on=("cpu",),
                                       not_og_supported_flags=("foreach", "differentiable", "fused", "maximize", "capturable"))

__all__ = ["FLAGS", "REFUSED", "SETTINGS", "TENSOR"]
