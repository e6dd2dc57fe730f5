"""torch.compiler (layer 8): everything is compiled as it is recorded; what asks for more gets its function back."""

from __future__ import annotations

import functools

from ._core import publish as _publish

__all__ = ["allow_in_graph", "assume_constant_result", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None, disable=False, recompile_limit=None,
            isolate_recompiles=False, shapes_spec=None):
    """`model` as it is: what it records runs as compiled programs already."""
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, name=name, disable=disable)
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    return model


def disable(fn=None, recursive=True, *, reason=None):
    """`fn` as it is."""
    return (lambda f: f) if fn is None else fn


def allow_in_graph(fn):
    """`fn` as it is, or a list of them: a mark for a tracer; AssertionError for what cannot be called."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(f) for f in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn):
    """`fn` as it is: a mark for a tracer."""
    return fn


disallow_in_graph = assume_constant_result


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    """A decorator that gives its function back: a mark for a tracer."""
    return assume_constant_result


def is_exporting() -> bool:
    """False."""
    return False


def cudagraph_mark_step_begin() -> None:
    """Nothing to mark."""


def is_compiling() -> bool:
    """False: no tracer runs a program's Python here."""
    return False


is_dynamo_compiling = is_compiling


def reset() -> None:
    """Nothing is kept that would have to go."""


__getattr__ = _publish.missing("torch.compiler")
