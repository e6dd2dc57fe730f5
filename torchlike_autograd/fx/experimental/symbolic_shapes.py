"""torch.fx.experimental.symbolic_shapes (layer 8): sizes are numbers here; names that files import."""

from __future__ import annotations

from ..._core import publish as _publish

_HERE, _WHY = "torch.fx.experimental.symbolic_shapes", "nothing is traced here; sizes are numbers"


class GuardOnDataDependentSymNode(RuntimeError):
    """A branch on a size that is not known; never raised here."""


ShapeEnv = _publish.refused_class(_HERE, "ShapeEnv", _WHY)
DimDynamic = _publish.refused_class(_HERE, "DimDynamic", _WHY)
StatelessSymbolicContext = _publish.refused_class(_HERE, "StatelessSymbolicContext", _WHY)
__getattr__ = _publish.missing(_HERE)
