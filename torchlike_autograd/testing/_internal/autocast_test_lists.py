"""torch.testing._internal.autocast_test_lists (layer 8): PyTorch's lists of operators under autocast; names that files import."""

from __future__ import annotations

from ..._core import publish as _publish
from .common_utils import TestCase

_HERE, _WHY = "torch.testing._internal.autocast_test_lists", "the lists of operators under autocast are not here"
AutocastTestLists = _publish.refused_class(_HERE, "AutocastTestLists", _WHY)
AutocastCPUTestLists = _publish.refused_class(_HERE, "AutocastCPUTestLists", _WHY)


class TestAutocast(TestCase):
    """What tests of autocast derive from."""


TestAutocast.__test__ = False
__getattr__ = _publish.missing(_HERE)
