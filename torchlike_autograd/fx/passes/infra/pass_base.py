"""torch.fx.passes.infra.pass_base (layer 8): a pass: what it requires, does and ensures."""

from __future__ import annotations

import abc
from collections import namedtuple

__all__ = ["PassBase", "PassResult"]


class PassResult(namedtuple("PassResult", ["graph_module", "modified"])):
    """The module after a pass, and whether it changed."""

    __slots__ = ()


class PassBase(abc.ABC):
    """A pass; a subclass has `call`."""

    def __call__(self, graph_module):
        """Check, run, check."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module):
        """The pass: a PassResult or None."""

    def requires(self, graph_module):  # noqa: B027
        """Raise if the module is not fit for the pass."""

    def ensures(self, graph_module):  # noqa: B027
        """Raise if the module is not what the pass promises."""
