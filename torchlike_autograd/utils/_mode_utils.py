"""torch.utils._mode_utils (layer 7): there are no dispatch modes to leave."""

import contextlib


def no_dispatch():
    """A context in which no dispatch mode is active; none ever is."""
    return contextlib.nullcontext()


def all_same_mode(modes):
    """Whether they all are the same mode."""
    return all(mode == modes[0] for mode in modes)
