"""An optimizer working for a while on other parameters and states (layer 8)."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager

__all__ = ["swap_in_optimizer_params_and_state"]

_WHO = "swap_in_optimizer_params_and_state"


@contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """Within the context `optimizer` has these parameters (a dict, in the order of its own) and this state dict; afterwards its own again.

    The tensors of the state dict are used as they are, so that a step inside changes them.  RuntimeError where the optimizer has no state yet, where there
    are fewer parameters than it has, or other groups.
    """
    if not optimizer.state:
        raise RuntimeError(f"{_WHO} requires initialized optimizer state.")
    groups, saved = optimizer.param_groups, swapin_optim_state.get("param_groups")
    given = list(swapin_parameters.values())
    if len(given) < sum(len(g["params"]) for g in groups):
        raise RuntimeError(f"{_WHO} requires the explicit parameter state to match optimizer.param_groups ordering.")
    if not isinstance(saved, list):
        raise RuntimeError(f"{_WHO} requires swapin_optim_state['param_groups'] to be a list of param-group dicts, got {type(saved).__name__}.")
    if len(saved) != len(groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    own, own_state = [dict(g) for g in groups], optimizer.state
    try:
        optimizer.state = _swapped(groups, saved, given, swapin_optim_state.get("state", {}))
        yield
    finally:
        optimizer.state = own_state
        for group, old in zip(groups, own):
            group.clear()
            group.update(old)


def _swapped(groups, saved, given, states):
    """Put the parameters and options into the groups; the state of the new parameters."""
    at, numbers = 0, {}
    for group, new in zip(groups, saved):
        params = given[at: at + len(group["params"])]
        at += len(params)
        numbers.update(zip(new["params"], params))
        group.update({k: v for k, v in new.items() if k != "params"}, params=params)
    return defaultdict(dict, {numbers.get(k, k): dict(v) for k, v in states.items()})
