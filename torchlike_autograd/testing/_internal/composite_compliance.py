"""torch.testing._internal.composite_compliance (layer 8): checks of how PyTorch's operators are written; names that files import."""

from __future__ import annotations

from ..._core import publish as _publish

_HERE = "torch.testing._internal.composite_compliance"
globals().update(_publish.refused(_HERE, "check_all_permutations", "check_backward_formula", "check_forward_ad_formula", "check_with_mode",
                                  "compute_expected_grads", "generate_cct_and_mode", why="operators are not made of others by a dispatcher here"))
__getattr__ = _publish.missing(_HERE)
