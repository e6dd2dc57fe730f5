"""Selective checkpoints (layer 6): which calls of a checkpointed piece keep their results, and taking these up in the second run.

Both runs are watched (watch.py).  In the first, the policy is asked about each call and what it wants kept is held.  In the second, a call whose results are
held is recorded as the others are, for its node, and then its results are the held ones: the recorded call is never computed, as nobody reads it.
"""

from __future__ import annotations

from .._ops.spec import Layout
from .._tensor import Tensor, wrap
from .overloads import overload
from .pytree import flatten, unflatten
from .record import Value, thread
from .storage import as_detached, with_history
from .watch import rewatch

IGNORED = frozenset(("aten.detach.default", "aten.alias.default"))
_HEARD_AS = {"_reshape_alias": "view",
             **{f"{name}{over}": f"{name}.correction" for name in ("var", "std", "var_mean", "std_mean") for over in ("", ".dim")}}  # PyTorch composes these
CONSUMED = object()  # in the place of what was held
MISMATCH = ("This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that changed between forward and "
            "backward.")
AGAIN = ("Trying to backward an extra time. You are only allowed to backward once on any region computed under selective activation checkpoint.")


class Listener:
    """A context; calls inside it go to `made`."""

    def __enter__(self):
        state = thread.state
        self.before = state.extra.get("selective")
        state.extra["selective"] = self
        rewatch(state)
        return self

    def __exit__(self, *exc):
        state = thread.state
        if self.before is None:
            del state.extra["selective"]
        else:
            state.extra["selective"] = self.before
        rewatch(state)

    def made(self, spec, ins, outs):
        """The results that go on."""
        op = overload(_HEARD_AS.get(spec.op.key, spec.op.key))
        if op is None or str(op) in IGNORED:
            return outs
        state = thread.state
        del state.extra["selective"]  # what happens in here is not asked about
        try:
            return self.answer(op, spec, ins, outs)
        finally:
            state.extra["selective"] = self


    def computed(self, op, run, args, kwargs):
        """The results of an operator of a program's own, which run() computes; the calls in it are not asked about."""
        state = thread.state
        del state.extra["selective"]
        try:
            return self.own(op, run, args, kwargs)
        finally:
            state.extra["selective"] = self


class Keeping(Listener):
    """The first run; held: {operator: [results, or None where they are computed again]}; wants(op, args, kwargs, out): the policy."""

    def __init__(self, wants, held):
        self.wants, self.held = wants, held

    def answer(self, op, spec, ins, outs):
        """Ask, and hold."""
        flat = [wrap(v) if isinstance(v, Value) else v for v in ins]
        args, kwargs = Layout(spec.op, spec.pattern).arguments(flat)
        shown = [wrap(v) for v in outs]
        kept = list(outs) if self.wants(op, args, {**kwargs, **spec.statics}, shown[0] if len(shown) == 1 else tuple(shown)) else None
        self.held.setdefault(op, []).append(kept)
        return outs


    def own(self, op, run, args, kwargs):
        """Ask, and hold: ([Values and what is no tensor], structure)."""
        out = run()
        wanted = self.wants(op, args, kwargs, out)
        leaves, tree = flatten(out)
        kept = ([t._tl_value() if isinstance(t, Tensor) else t for t in leaves], tree)
        self.held.setdefault(op, []).append(kept if wanted else None)
        return out


class Taking(Listener):
    """The second run; mutable: what was written since is taken too, as it was."""

    def __init__(self, held, mutable=False):
        self.held, self.at, self.mutable = held, {}, mutable

    def __enter__(self):
        self.at.clear()
        return super().__enter__()

    def answer(self, op, spec, ins, outs):
        """The held results under the history of the new ones."""
        kept = self._next(op)
        if kept is None:
            return outs
        self._check(kept)
        return [with_history(k, v) if v.needs else as_detached(k) for k, v in zip(kept, outs)]

    def own(self, op, run, args, kwargs):
        """The held results; those of what is not held are computed."""
        kept = self._next(op)
        if kept is None:
            return run()
        leaves, tree = kept
        self._check([x for x in leaves if isinstance(x, Value)])
        return unflatten([wrap(as_detached(x)) if isinstance(x, Value) else x for x in leaves], tree)

    def _next(self, op):
        """What is held of the next call of an operator, or None."""
        kept, at = self.held.get(op), self.at.get(op, 0)
        if kept is None:
            raise RuntimeError(f"{op} encountered during backward but not found in storage. {MISMATCH}")
        if at >= len(kept):
            raise RuntimeError(f"{op} invocation index {at} encountered during backward but not found in storage. {MISMATCH}")
        self.at[op] = at + 1
        if kept[at] is CONSUMED:
            raise RuntimeError(AGAIN)
        out = kept[at]
        if out is not None:
            kept[at] = CONSUMED
        return out

    def _check(self, values):
        if not self.mutable and any(k.stale() for k in values):
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")


__all__ = ["Keeping", "Taking"]
