"""What the C module is told about the package (layer 6): its classes, whose slots it reads, and the general ways that it falls back on."""

from __future__ import annotations

import numpy as np

from .._ops.spec import Aval, Pullback, Spec
from .._tensor import Tensor
from . import donation, engine, errors, execute, guards, hot, nodes, plan, program, record, simple, storage
from .speed import native


def wire():
    """Set the C module up, where it is there."""
    if native is None:
        return
    Tensor.grad = native.Gradient(Tensor.__dict__["grad"])
    classes = {c.__name__: c for c in (Tensor, Aval, Spec, record.Value, record.Tape, record.Prefix, record.Step, plan.Stage, plan.Visit, Pullback, record.ThreadState,
                                       record.Counter, storage.Cell, storage.View, nodes.Leaf, nodes.Observed, program.Program, simple.Simple)}
    native.set_up(
        **classes, Array=np.ndarray, PLAIN=hot.PLAIN, REPLAY=storage.REPLAY, thread=record.thread, threads=record.threads, watched=nodes.Leaf.watched,
        stats=execute.stats, credits=execute._credit, serials=record.serials, ADD=engine._ADD, flush=execute.flush, value_at=engine.value_at, number_at=engine.number_at,
        immediate=record.IMMEDIATE, acquire=record.LOCK.acquire, release=record.LOCK.release, LEAF=record.LEAF, INPLACE=record.INPLACE, NOGRAD=record.NOGRAD,
        record_op=record.record_op_general, enter=record.Tape.enter, read=storage.read, follow=storage._follow, lead_nowhere=storage.lead_nowhere,
        view=hot.python_view, write=storage.python_write, numbers=execute._numbers, sent=execute._sent, device_array=execute._device_array, accumulate=engine.accumulate_any, note=guards.note,
        await_codes=guards.await_codes, spare=donation.spare, checked=engine._checked, retain=engine._retain, release_kept=engine.release_kept, second_time=errors.second_time)


__all__ = ["wire"]
