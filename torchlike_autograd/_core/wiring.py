"""What the C module is told about the package (layer 6): its classes, whose slots it reads, and the general ways that it falls back on."""

from __future__ import annotations

import numpy as np

from .._ops.spec import NUMBERS, Aval, Form, Pullback, Spec
from .._tensor import Tensor
from . import arrivals, chains, donation, engine, errors, execute, guards, hooks, hot, laying, links, nodes, plan, program, record, simple, storage, worth
from .backward import number_at, value_at
from .speed import native
from .stages import Stage, Visit


def wire():
    """Set the C module up, where it is there."""
    if native is None:
        return
    Tensor.grad = native.Gradient(Tensor.__dict__["grad"])
    known = (Tensor, Aval, Spec, Form, Pullback, record.Value, record.Tape, record.Prefix, record.Step, record.ThreadState, record.Counter, Stage, Visit,
             storage.Cell, storage.View, nodes.Leaf, nodes.Observed, program.Program, simple.Simple)
    native.set_up(
        **{c.__name__: c for c in known}, Array=np.ndarray, PLAIN=hot.PLAIN, REPLAY=storage.REPLAY, ADD=engine._ADD,
        thread=record.thread, threads=record.threads, acquire=record.LOCK.acquire, release=record.LOCK.release, serials=record.serials,
        number_avals=tuple(NUMBERS[k] for k in "fibc"), record_limit=record.LIMIT, made_nodes=record.ROOT_NODES,
        immediate=record.IMMEDIATE, watched=nodes.Leaf.watched, stats=execute.stats, credits=worth.credit,
        LEAF=record.LEAF, INPLACE=record.INPLACE, NOGRAD=record.NOGRAD,
        record_op=record.record_op_general, enter=record.Tape.enter, flush=execute.flush, numbers=execute._numbers, sent=execute._sent,
        device_array=execute._device_array, spare=donation.spare, note=guards.note, await_codes=guards.await_codes,
        read=storage.read, follow=storage.follow, lead_nowhere=storage.lead_nowhere, view=hot.python_view, links=chains.links, write=storage.python_write,
        value_at=value_at, number_at=number_at, accumulate=arrivals.accumulate_any, release_kept=program.release_kept, edges_lead=links.leading,
        checked=hooks.checked, call_on_host=execute.call_on_host, pull_on_host=execute.pull_on_host, number_of=plan.number_of, add_arrays=plan.add_arrays,
        retain=hooks.retain, second_time=errors.second_time, lay=laying.lay)


__all__ = ["wire"]
