"""Dual tensors of torch.autograd.forward_ad that share memory with their primal and their tangent (layer 6).

A dual tensor is read from two others and written to both: its Value is joined anew whenever one of them was written, and a write through it, or through a
view of it, gives its parts to them.  They stand in its `View`, which `storage.py` asks:

    source ---- cell                    d (DualView: source, tangent) ---- views of d: base d, chain
    tangent --- cell                    d.mul_(2):  new = d * 2;  source = primal(new);  tangent = tangent(new)

A dual tensor that `make_dual` gave is a view of its source: what it is read from and written through is `shown`, a view of it that nobody else has, so
that its history is that of any view of it.
"""

from __future__ import annotations

import weakref

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, wrap
from . import belonging, dispatch, levels, overriding, tangents_off
from .chains import PickSpec, recorded
from .hot import make_view
from .record import GRAD, mark_seen, record_op, thread
from .state import copy_state
from .state import new as _new
from .storage import View, as_detached, as_leaf, cell_of, history, peek, replayed_from, with_history, write

_FILL = spec_of(OPS["_zero_"], (), ("T",))
_ALIAS = spec_of(OPS["_fw_primal"], (("level", 0),), ("T",))


class DualView(View):
    """The View of a dual tensor: `level` as types hold it; source: whose memory the primal is; tangent; made: whether `source` is the user's own tensor
    (the dual is a view of it then, torch's `_base`, and `shown` one that its Value is read from); parts: the Values that `value` was joined from."""

    __slots__ = ("is_turned", "level", "made", "old", "parts", "shown", "since", "source", "tangent", "value", "views")
    of_two = True

    def __init__(self, level, source, tangent, made, chain, old=None, shown=None):
        View.__init__(self, None, chain, "default")
        self.old = old      # whose history it goes on showing when its parts were written to beside it: of a reverse-mode level inside of this one, say
        self.level, self.source, self.tangent, self.made = level, source, tangent, made
        self.is_turned = shown is not None
        self.shown = shown if shown is not None else _view_of(source) if made else source
        self.parts = self.value = None
        self.views = {}     # id of a view of the dual tensor -> (weak reference to it, tangent that it shows a part of, its own tangent)
        self.since = source._tl_cell.n, tangent._tl_cell.n

    @property
    def written(self):
        """Whether the memory of its parts was written to since they were."""
        return self.since != (self.source._tl_cell.n, self.tangent._tl_cell.n)

    @property
    def tangent_written(self):
        """Whether that of its tangent was."""
        return self.since[1] != self.tangent._tl_cell.n

    @property
    def shown_base(self):
        """What `_base` of the dual tensor is."""
        of_source = self.source._base
        return self.source if of_source is None and self.made else of_source

    def turned(self, t, turn):
        """Turn the parts of a dual tensor in place; views that were made before go on showing what they showed."""
        parts = self.shown, self.tangent
        for part in parts:
            dispatch.check_inplace(part)
        grad, thread.state.grad = thread.state.grad, True  # these views are nobody's who could have made them without
        try:
            self.shown, self.tangent = map(_view_of, parts)
        finally:
            thread.state.grad = grad
        shown, tangent = map(turn, parts)
        chain = () if shown._tl_view is None else shown._tl_view.chain
        t._tl_view = DualView(self.level, self.source, tangent, self.made, chain, self.old, shown)
        t._tl_view.read(t)
        return t

    def read(self, t):
        """The Value of the dual tensor now."""
        parts = self._values()
        if self.parts is None or parts[0] is not self.parts[0] or parts[1] is not self.parts[1]:
            joined = self._joined(*parts)
            old = t._tl_v if t._tl_v.leaf is not None else self.old
            self.show(t, [joined if old is None else with_history(as_detached(joined), old)], parts)
        return self.value

    def _values(self):
        return self.shown._tl_value(), self.tangent._tl_value()

    def beneath(self, t):
        """What views of the dual tensor show a part of once it was written, and writes begin with: where it is a view itself, not a part of its history."""
        if not self.made or t._tl_v.leaf is not None:
            return self.read(t)
        view = self.shown._tl_view if self.is_turned else self.source._tl_view
        base = None if view is None else view.base
        p = self.source._tl_value() if base is None else replayed_from(view, base, history(base), GRAD)
        return self._joined(p, self.tangent._tl_value())

    def _joined(self, *parts):
        # A primal or a tangent that was given a tangent itself, as a tensor: that is none of this one's.
        own = [record_op(levels.MoveSpec("primal", self.level, hidden=True), [v], GRAD)[0] if levels.has_key(v, self.level) else v for v in parts]
        return record_op(levels.MoveSpec("join", self.level, hidden=True), own, GRAD)[0]

    def show(self, t, joined, parts):
        """Let `t` be this Value of these parts."""
        self.parts, self.value = parts, joined[0]
        t._tl_v = self.value
        mark_seen(self.value, t._tl_counter)

    def write(self, t, new):
        """Give the parts of `new` to primal and tangent."""
        dual, was = levels.has_key(new, self.level), levels.has_key(t._tl_v, self.level)
        if dual:
            p, x = record_op(levels.MoveSpec("primal", self.level, hidden=True), [new], GRAD)[0], levels.tangent(new, self.level)
        else:
            p, x = new, _zeros(new)
        p = p if levels.primal_needs(new, self.level) else as_detached(p)
        target = self.shown
        dispatch.check_inplace(target)
        if not (was or dual) or tangents_off.enabled():
            dispatch.check_inplace(self.tangent)
            _put(self.tangent, x)
        _put(target, p)
        self.old = self.old and new
        self.parts = None
        if self.made or (was and not dual):  # numbers that were drawn, say: the tangent stays, of zeros, or as it was where tangents are off
            mark_seen(new, t._tl_counter)
            self.read(t)
        else:
            self.show(t, [new], self._values())

    def primal(self):
        """The primal as a tensor over its memory, whose history goes on where it is written to."""
        return self.source if self.shown is self.source else _view_of(self.shown)


def _view_of(t):
    """A view of the whole of a tensor, whatever class it has and whatever listens."""
    with overriding.Off(modes=True):
        return t.view_as(t)


def _put(part, v):
    """Write a Value to a primal or tangent: without grad mode the history there was stays."""
    write(part, v if thread.state.grad else dispatch.keep_history(as_detached(v), peek(part), part))


def _zeros(v):
    """The tangent of what has none."""
    return record_op(_FILL, [as_detached(v)])[0]


def _sharing(t):
    """Another tensor that shows what `t` shows and shares its memory."""
    cell_of(t)
    out = _new(Tensor)
    copy_state(t, out, ("_tl_leaf", "_tl_hooks_dict"))
    return out


def _share(t, view):
    """Let `t` be read from the parts of a DualView."""
    cell = cell_of(view.source)
    t._tl_cell, t._tl_counter, t._tl_view, t._tl_at, t._tl_laid = cell, view.source._tl_counter, view, None, None
    if view.parts is None:
        view.show(t, [t._tl_v], view._values())
    _open().append(weakref.ref(t))
    return t


def _open():
    """Weak references to the dual tensors that share memory in the running level."""
    return thread.state.extra.setdefault("duals", [])


def make(level, source, tangent, made=True):
    """A dual tensor over two others; made: it is a view of the first."""
    cell_of(source)
    cell_of(tangent)
    view = DualView(level.key, source, tangent, made, () if source._tl_view is None else source._tl_view.chain)
    out = wrap(levels.move("join", level, view._values(), hidden=True))
    _share(out, view)
    out._tl_laid = source._tl_laid
    return out


def share(t, level):
    """Let a tensor, or the base of a view, be read from its primal and its tangent, which both have memory of their own, from now on.

    An argument of a reverse-mode level is read from those of the dual tensor whose memory it shows."""
    view = t._tl_view
    if type(view) is DualView:
        return t
    if view is not None and view.base is not None:
        return share(view.base, level)
    v = t._tl_value()
    if (v.leaf is not None and level.randomness != "jvp") or (view is not None and view.chain and levels.has(v, level)):
        return None  # a part that is no view of the dual tensor: others read the same memory
    source = next((lv.sources[id(t)] for lv in levels.running() if id(t) in lv.sources), None) if v.leaf is not None else None
    outer = None if source is None else share(source, level)
    if outer is not None and type(outer._tl_view) is DualView and outer._tl_view.level == level.key and outer is source:
        return _share(t, DualView(level.key, _sharing(outer._tl_view.source), outer._tl_view.tangent, False, outer._tl_view.chain, v))
    cell_of(t)
    p = _sharing(t)
    if levels.has(v, level):
        x = wrap(levels.move("tangent", level, [v], mode=GRAD))
        q = levels.move("primal", level, [v], mode=GRAD, hidden=True)
        _contents(p, q if levels.primal_needs(v, level.key) else as_detached(q))
    else:
        x = wrap(_zeros(v))
    cell_of(x)
    outer = levels.dual_level(p._tl_v) if levels.dual(p._tl_v) is not None else None
    if outer is not None:       # before anybody has another tensor over its memory: that is cut for all of them
        share(p, outer)
    own = v.needs and (v.leaf is not None or any(belonging.belongs(v, lv) for lv in belonging.inside(level)))
    return _share(t, DualView(level.key, p, x, False, () if view is None else view.chain, v if own else None))


def _contents(t, v):
    """Let `t` and its cell hold `v`, which is no write."""
    t._tl_v = v
    t._tl_cell.value = v if t._tl_view is None else levels.primal(t._tl_cell.value)
    t._tl_cell.n += 1
    t._tl_at = t._tl_cell.n
    t._tl_cell.written()
    mark_seen(v, t._tl_counter)


def unpacked(t, level):
    """(primal, tangent) of a dual tensor, which shares its memory with them."""
    if type(t._tl_view) is not DualView:
        share(t, level)
    view = t._tl_view
    if type(view) is DualView:
        t._tl_value()
        return aliased(view.primal(), _of(t, level)), view.tangent
    base = None if view is None else view.base
    if base is not None and type(base._tl_view) is DualView:
        own = view.under if type(view.under) is DualView else base._tl_view  # as the dual tensor was, if it was turned since
        links = view.chain[len(own.chain):] if view.under is own else view.chain
        return aliased(_through(own.primal(), links), _of(t, level)), _tangent_of(t, own, links)
    v = t._tl_value()
    return wrap(levels.move("primal", level, [v])), wrap(levels.move("tangent", level, [v]))


def _tangent_of(t, own, links):
    """The tangent of a view of a dual tensor, the same each time."""
    seen = own.views.get(id(t))
    return seen[2] if seen is not None and seen[1] is own.tangent else _hold(t, own, _through(own.tangent, links))


def _hold(t, own, tangent):
    key, views = id(t), own.views
    views[key] = weakref.ref(t, lambda _: views.pop(key, None)), own.tangent, tangent
    return tangent


def _share_written(t, level):
    """`share` before a first tangent is written: through a view that lies as its base does, both have the very same one from then on."""
    share(t, level)
    base = None if t._tl_view is None else t._tl_view.base
    if base is not None and type(base._tl_view) is DualView and t._tl_v.aval.shape == base._tl_v.aval.shape and t._tl_geometry() == base._tl_geometry():
        _hold(t, base._tl_view, base._tl_view.tangent)


def _of(t, level):
    """The Value of the primal of a dual tensor, whose history leads through that."""
    v = record_op(levels.MoveSpec("primal", level.key, hidden=True), [t._tl_value()])[0]
    return v if levels.primal_needs(t._tl_value(), level.key) else as_detached(v)


def aliased(p, v=None):
    """A primal for its user: a view; v: its Value, where that is not the memory's own."""
    return make_view(p, _ALIAS, (), record_op(_ALIAS, [v or p._tl_value()])[0], None)


def _through(t, links):
    """A tensor through view operators."""
    for link, numbers in links:
        outs = record_op(recorded(link, numbers), (t._tl_value(), *numbers))
        t = make_view(t, link, numbers, outs[link.output] if isinstance(link, PickSpec) else outs[0], None)
    return t


def shared(level, t):
    """(the tensor to write the primal to, the tangent or None) of a tensor in a level."""
    if not levels.has(t._tl_value(), level):
        return t, None
    p, x = unpacked(t, level)
    if type(t._tl_view) is not DualView or t._tl_v.leaf is not None:
        return p, x
    return t._tl_view.primal() if t._tl_view.made else t._tl_view.source, x


def written(t, now, before):
    """Whether a tensor that showed the Value `before`, and shows `now`, was written to: one that shares memory with its parts since shows another by that."""
    return now is not before and (type(t._tl_view) is not DualView or t._tl_view.written)


def end(key=None):
    """The level ends (that of forward_ad, or the one that types hold as `key`): its dual tensors are their primals from now on."""
    left = []
    for ref in thread.state.extra.pop("duals", ()):
        t = ref()
        if t is None or type(t._tl_view) is not DualView:
            continue
        if key is None or t._tl_view.level == key:
            _end(t, t._tl_value(), t._tl_view.level)
        else:
            left.append(ref)
    if left:
        thread.state.extra["duals"] = left


def _leave(t):
    """Let a dual tensor be its primal."""
    copy_state(t._tl_view.primal(), t, ("_tl_leaf", "_tl_hooks_dict"))


def _end(t, v, key):
    """Let a dual tensor be its primal, in the place of the graph that it has."""
    _leave(t)
    if v.leaf is not None:
        t._tl_set_value(as_leaf(as_detached(t._tl_v), v.leaf))
        v.leaf.gets_pairs()
    elif levels.primal_needs(v, key):
        t._tl_set_value(record_op(levels.MoveSpec("primal", key, hidden=True), [v], GRAD)[0])


def _here():
    return thread.state.extra["forward_ad"][1]


levels.FORWARD_AD.update(share=_share_written, detach=lambda t, level: unpacked(t, level)[0].detach(), leave=_leave, unpack=lambda t: unpacked(t, _here()))
