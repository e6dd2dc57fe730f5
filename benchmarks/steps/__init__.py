"""The training steps.

A module of this package is one step. It has

- ``SIZE`` and ``QUICK``: how large it is, in full and for a quick look;
- ``torch_step(torch, size)``: a function of no arguments that trains once and returns the loss;
  `torch` is either PyTorch or the module that stands in for it;
- ``jax_step(size)``: the same training as one compiled program, as somebody who knows JAX would
  write it by hand, or op by op where ``COMPILED`` is False;
- optionally ``READ_EVERY``, after how many steps the loss is looked at (10); ``TORCH_GOAL``,
  how many times as long as PyTorch it may take (1); ``MEMORY_GOAL``, how many times the peak
  memory of the hand-written program it may hold (any); ``LONG_FROM`` and ``LONG_JIT_GOAL``, from
  how many seconds on which multiple of the hand-written program is asked for.

All start from the same NumPy arrays, so their losses agree.
"""

import importlib

NETWORKS, OPTIMIZERS = ("mlp", "cnn", "resnet", "lstm", "gpt"), ("adam", "adamw")
NAMES = (
    "mlp_tiny",
    "mlp_small",
    "mlp_large",
    "pinn",
    "rnn",
    "transformer",
    "chain",
    "minibatch",
    "hooks",
    "trees",
    "graphs",
    *(f"{network}_{optimizer}" for network in NETWORKS for optimizer in OPTIMIZERS),
)


def load(name: str):
    """Import the step called `name`: its module, or a network of `modules` with an optimizer."""
    network, _, optimizer = name.partition("_")
    if optimizer in OPTIMIZERS:
        return importlib.import_module(f"{__name__}.modules").Step(network, optimizer)
    return importlib.import_module(f"{__name__}.{name}")
