"""torch.fx.passes (layer 8): what runs over a graph: the shapes of its values, its division into modules, a schedule of passes."""

from . import graph_manipulation, infra, shape_prop, split_module

__all__ = ["graph_manipulation", "infra", "shape_prop", "split_module"]
