"""torch.return_types (layer 8): the named tuples that operators return, by the name of the operator."""

from __future__ import annotations

from ._core.dispatch import named_tuple
from ._functions import histogram as _histogram
from ._functions import linalg, linalg_spectral
from ._ops.registry import OPS

_SEVERAL = [x for module in (_histogram, linalg, linalg_spectral) for x in vars(module).values() if isinstance(x, linalg.Several)]


def __getattr__(name):
    for op in [*OPS.values(), *_SEVERAL]:
        for suffix in ("", "_out"):
            if op.fields is not None and not name.startswith("_") and name == (op.result_name or op.name) + suffix:
                return named_tuple(op, suffix)
    raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
