"""What a running backward pass tells about itself (layer 6): its number, which nodes it will run and in which order, callbacks at its end.

All of it is found by walking `next_functions` when somebody asks; the engine keeps nothing for it but the roots.
"""

from __future__ import annotations

import heapq
import itertools
import sys

from .nodes import AccumulateGrad, Leaf, Node, accumulate_node, node_at
from .record import thread


def current():
    """The innermost pass of this thread, or None."""
    return thread.state.extra.get("pass")


def task_id() -> int:
    """The number of the current pass; -1 outside of one."""
    p = current()
    return -1 if p is None else p.number


def whole() -> bool:
    """Whether the passes that run are for all leaves, so that a piece may start a pass of its own for those inside it."""
    p = current()
    return p is None or not p.partial


def keep_graph() -> bool:
    """Whether the current pass keeps saved values."""
    p = current()
    return True if p is None else bool(p.keep_graph)


_DEEPEST, _FRAMES = 1500, 30  # 46,000 frames: they fit into the 8 MB of a thread, so that a backward pass without end is a RecursionError


def more_room(p, outer):
    """Let a pass inside a pass have frames of its own, where torch gives it a thread; returns the limit to put back, None where it stays."""
    p.depth = outer.depth + 1
    p.partial |= outer.partial
    if p.depth % 8 or p.depth > _DEEPEST:
        return None
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 8 * _FRAMES)
    return limit


put_back_room = sys.setrecursionlimit


class Engine:
    """`Variable._execution_engine`."""

    def queue_callback(self, callback):
        """Call `callback()` when the current pass has ended."""
        p = current()
        if p is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        p.callbacks.append(callback)

    def is_checkpoint_valid(self):
        """Whether a reentrant checkpoint may run its part of a pass now."""
        return whole()


def _node(place):
    return accumulate_node(place) if isinstance(place, Leaf) else node_at(*place)[0]


def _key(node):
    return node._tl_leaf if isinstance(node, AccumulateGrad) else (node._tl_tape, node._tl_first)


def _reached(p):
    """({key: node}, {key: keys of its next nodes}) below the roots of a pass."""
    nodes, below = {}, {}
    stack = [n for n in (_node(place) for place, _ in p.begun) if n is not None]
    while stack:
        node = stack.pop()
        key = _key(node)
        if key in nodes:
            continue
        nodes[key] = node
        following = [n for n, _ in node.next_functions if n is not None]
        below[key] = [_key(n) for n in following]
        stack += following
    return nodes, below


def _needed(p):
    """(nodes, below, keys that run): with targets, those from which a target is reached; a target's own node only where `.grad` is filled."""
    nodes, below = _reached(p)
    if p.targets is None:
        return nodes, below, set(nodes)
    targets = {_key(n) for n in (_node(place) for place in p.targets) if n is not None}
    above = {}
    for key, following in below.items():
        for k in following:
            above.setdefault(k, []).append(key)
    found, stack = set(), list(targets)
    while stack:
        for k in above.get(stack.pop(), ()):
            if k not in found:
                found.add(k)
                stack.append(k)
    return nodes, below, found | targets if p.accumulate else found


def will_execute(node) -> bool:
    """Whether the current pass runs `node`, or captures what would reach it."""
    p = current()
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    if p is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    key = _key(node)
    nodes, _, run = _needed(p)
    if key not in nodes or (len(p.begun) == 1 and key == _key(_node(p.begun[0][0]))):  # torch counts a single root as no part of the graph
        return False
    captured = p.targets is not None and not p.accumulate and key in {_key(n) for n in map(_node, p.targets) if n is not None}
    if captured and isinstance(node, AccumulateGrad):
        raise RuntimeError("A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is currently not supported.")
    return key in run or captured


def node_now():
    """The node that runs, None outside of a pass."""
    p = current()
    if p is None or p.now == ():
        return None
    if p.now is None:
        raise NotImplementedError("_current_autograd_node: asked by a hook of a tensor whose node runs as part of a compiled stage")
    return _node(p.now)


def execution_order():
    """The nodes of the current pass in the order in which they run."""
    p = current()
    if p is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    if thread.state.extra.get("multithreading", True):
        raise RuntimeError("get_current_graph_task_execution_order expects the current backward to be executed with multithreading disabled, e.g. by "
                           "running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n...     torch.autograd.grad(...)\n")
    nodes, below, run = _needed(p)
    if p.targets is not None:  # also those that only capture
        run = run | ({_key(n) for n in map(_node, p.targets) if n is not None} & nodes.keys())
    waits = dict.fromkeys(run, 0)
    for key in run:
        for k in below[key]:
            if k in waits:
                waits[k] += 1
    turn = itertools.count()
    ready = [(-nodes[k]._sequence_nr(), next(turn), k) for k in run if not waits[k]]
    heapq.heapify(ready)
    out = []
    while ready:
        _, _, key = heapq.heappop(ready)
        out.append(nodes[key])
        for k in below[key]:
            if k in waits:
                waits[k] -= 1
                if not waits[k]:
                    heapq.heappush(ready, (-nodes[k]._sequence_nr(), next(turn), k))
    return out


__all__ = ["Engine", "current", "execution_order", "keep_graph", "more_room", "node_now", "put_back_room", "task_id", "whole", "will_execute"]
