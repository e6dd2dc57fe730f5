"""allow_mutation_on_saved_tensors (layer 7): what is saved inside may be written to, gradients use what it was.

Values never change, so that nothing is cloned here: what torch would have cloned are the saved Values whose storage was written since.
"""

from __future__ import annotations

import contextlib
import weakref

from .._core import lifetimes
from .._core.record import thread
from .._core.storage import as_detached
from .._tensor import wrap
from ._saving import saved_tensors_hooks


class _Handle:
    """Stands for one saved tensor as long as a node keeps it."""

    __slots__ = ("__weakref__", "apart", "value")

    def __init__(self, value):
        self.value, self.apart = value, value.stale()  # apart: what a write in place keeps of what it overwrites, which torch clones first

    def written(self):
        """Whether the tensor was written to since."""
        return not self.apart and self.value.stale()


class _AllowMutationOnSavedContext:
    """The saved tensors of one context: `cloned` those written to since, `original` the others."""

    def __init__(self):
        self._handles = weakref.WeakValueDictionary()

    @property
    def tid_to_weakhandle(self):
        lifetimes.query()
        return dict(self._handles)

    @property
    def cloned(self):
        lifetimes.query()
        return {h: wrap(as_detached(h.value)) for h in self._handles.values() if h.written()}

    @property
    def original(self):
        lifetimes.query()
        return {h: wrap(as_detached(h.value)) for h in self._handles.values() if not h.written()}

    @property
    def sid_to_tid(self):
        return {key: {key} for key in self._handles}

    def clear(self):
        """Forget them."""
        self._handles.clear()

    def _pack(self, t):
        """The handle of a saved tensor, one for each contents."""
        v = t._tl_v
        handle = self._handles.get(id(v))
        if handle is None:
            handle = self._handles[id(v)] = _Handle(v)
        return handle

    def _unpack(self, handle):
        """What it was when it was saved."""
        if thread.state.extra.get("mutation") is not self or self._handles.get(id(handle.value)) is not handle:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded.")
        return wrap(as_detached(handle.value))


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Tensors that are saved inside may be written to; backward has to run inside too."""
    extra, ctx = thread.state.extra, _AllowMutationOnSavedContext()
    with saved_tensors_hooks(ctx._pack, ctx._unpack):
        if extra.get("mutation") is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        extra["mutation"] = ctx
        try:
            yield ctx
        finally:
            extra["mutation"] = None
            ctx.clear()
