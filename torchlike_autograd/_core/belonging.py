"""What a Value in a reverse-mode transformation was computed from (layer 3): inputs of a level, or what is differentiated outside of it."""

from __future__ import annotations

from . import errors, levels, walls
from .behind import before
from .record import slot_table, thread

LOWERED = "lowered forward"  # in a thread's extra: the reverse-mode levels around a custom Function's forward, which runs outside of them


def inside(level):
    """The reverse-mode levels that run inside this one."""
    found = levels.running()
    return [lv for lv in found[found.index(level) + 1:] if lv.kind == "grad"]


def innermost(v):
    """The innermost reverse-mode level whose inputs a Value was computed from."""
    return next((lv for lv in reversed(levels.running()) if lv.kind == "grad" and belongs(v, lv)), None)


def requires_grad(v):
    """Whether a Value with levels requires grad for its user: not what a map or `jvp` holds, but for a reverse-mode level inside of that."""
    if v.needs:
        for level in reversed(levels.running()):
            if level.kind == "grad":
                if belongs(v, level):
                    return True
            elif levels.has(v, level) and level.randomness != levels.OLD and (level.kind == levels.MAP or level.randomness == "jvp"):
                return False
    return levels.requires_grad(v)


def mark():
    """Of the level that a pass which runs now is one of, see walls.py."""
    return next((lv.mark for lv in reversed(levels.running()) if lv.kind == "grad"), None)


def mark_at(tape, slot):
    """Of the innermost running level from whose inputs a place was computed; None where there is none."""
    return next((lv.mark for lv in reversed(levels.running()) if lv.kind == "grad" and _belongs(tape, slot, lv)), None)


def mark_of(leaf):
    """Of the running level that made a leaf; None where there is none."""
    return next((lv.mark for lv in levels.running() if lv.kind == "grad" and leaf in lv.leaves), None)


def wrapper(v):
    """The class by whose name torch refuses the memory of a Value that belongs to a running transformation; None where it belongs to none."""
    lowered = thread.state.extra.get(LOWERED, ())
    for level in reversed([lv for lv in levels.running() if lv not in lowered]):
        if belongs(v, level) if level.kind == "grad" else levels.has(v, level) and (level.kind == levels.MAP or level.randomness == "jvp"):
            return "BatchedTensorImpl" if level.kind == levels.MAP else "TensorWrapper"
    return None


def refuse_memory(v):
    """torch's NotImplementedError where a Value's memory is asked for inside of a transformation that it belongs to."""
    name = wrapper(v)
    if name is not None:
        raise NotImplementedError(f"Cannot access storage of {name}")


def refuse_pointer(v):
    """torch's RuntimeError where the address of such memory is asked for."""
    if wrapper(v) is not None:
        raise errors.no_memory()


def belongs(v, level):
    """Whether a Value was computed from the inputs of a reverse-mode level."""
    if not v.needs:
        return False
    return v.leaf in level.leaves if v.leaf is not None else _belongs(v.tape, v.slot, level)


def _belongs(tape, slot, level):
    seen, stack = {(tape, slot)}, [(tape, slot)]
    while stack:
        tape, slot = stack.pop()
        if (tape, slot) in level.aliases or _leaf_there(tape, slot) in level.leaves:
            return True
        found = [p for p in before(tape, slot) if p not in seen] if slot not in walls.on(tape, level.mark) else []
        seen.update(found)
        stack += found
    return False


def _leaf_there(tape, slot):
    if slot >= 0:
        return tape.leaves.get(slot)
    return tape.inputs[-slot - 1].leaf if tape.open else tape.edges[-slot - 1]


def reaches(values, but):
    """Whether the graph behind any of these Values leads to a leaf that is not in `but`, nor one of a transformation that has ended."""
    seen, stack = set(), []

    def visit(leaf, tape, slot):
        if leaf is not None:
            return leaf not in but and leaf not in levels.ENDED
        if (tape, slot) not in seen:
            seen.add((tape, slot))
            stack.append((tape, slot))
        return False

    for v in values:
        if v.needs and visit(v.leaf, v.tape, v.slot):
            return True
    while stack:
        tape, slot = stack.pop()
        if slot < 0:
            if tape.open:
                v = tape.inputs[-slot - 1]
                if v.needs and visit(v.leaf, v.tape, v.slot):
                    return True
            else:
                edge = tape.edges[-slot - 1]
                if edge is not None and visit(*((None, *edge) if type(edge) is tuple else (edge, None, 0))):
                    return True
            continue
        if slot in tape.leaves:
            if visit(tape.leaves[slot], None, 0):
                return True
            continue
        step, needs, _ = slot_table(tape.prefix)[slot]
        if not needs or step.kind not in ("op", "function"):
            continue
        own = [step.ins[i] for i in step.wanted] if step.kind == "op" else step.ins[: len(step.ins) - len(step.out_avals)]
        for s in own:
            if (s < 0 or slot_table(tape.prefix)[s][1]) and visit(None, tape, s):
                return True
    return False


def detached(v):
    """A Value as `detach_` leaves it inside of transformations that differentiate: for the innermost of them it has no history."""
    level = next(lv for lv in reversed(levels.running()) if lv.kind == "grad" or lv.randomness == "jvp")
    if level.kind == levels.DUAL:
        return levels.move("primal", level, [v]) if levels.has(v, level) else v
    return walls.ended([level], v) if v.needs else v


def within(values):
    """Whether nothing outside of the running reverse-mode transformations differentiates any of these."""
    leaves = [leaf for lv in levels.running() if lv.kind == "grad" for leaf in lv.leaves]
    return bool(leaves) and not reaches(values, leaves)
