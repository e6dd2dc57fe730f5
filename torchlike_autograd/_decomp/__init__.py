"""torch._decomp (layer 8): operators written with others.  XLA does that; files that name the tables can be imported."""

from .._core import publish as _publish

_HERE = "torch._decomp"
globals().update(_publish.refused(_HERE, "core_aten_decompositions", "get_decompositions", "register_decomposition", "remove_decompositions",
                                  why="operators are not written with others here: XLA compiles them"))
__getattr__ = _publish.missing(_HERE)
