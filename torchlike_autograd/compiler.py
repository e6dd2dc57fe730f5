"""torch.compiler (layer 8): everything is compiled as it is recorded; what asks for more gets its function back."""

from __future__ import annotations

import functools

from ._core import publish as _publish

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "get_default_backend", "is_compiling",
           "is_dynamo_compiling", "is_exporting", "list_backends", "load_cache_artifacts", "nested_compile_region", "reset", "save_cache_artifacts",
           "set_default_backend", "set_enable_guard_collectives", "set_stance", "skip_all_guards_unsafe", "skip_guard_on_globals_unsafe",
           "substitute_in_graph"]


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None, disable=False, recompile_limit=None,
            isolate_recompiles=False, shapes_spec=None):
    """A function as it is, a module in an `OptimizedModule`: what they record runs as compiled programs already."""
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, name=name, disable=disable)
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    _known(_backend[0] if backend is None else backend, mode)
    if dynamic is not None and type(dynamic) is not bool and not disable:
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    from ._dynamo.eval_frame import OptimizedModule
    from .nn.modules.module import Module

    return OptimizedModule(model) if isinstance(model, Module) and not disable else model


_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


def _known(backend, mode):
    """torch's errors for names that it does not know; other backends than "inductor" are handed their modes."""
    if backend == "inductor":
        if mode is not None and mode not in _MODES:
            raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    elif isinstance(backend, str) and backend not in _BACKENDS:
        from ._dynamo.exc import InvalidBackend

        raise InvalidBackend(backend)


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


_backend, _collectives = ["inductor"], [False]


def list_backends(exclude_tags=("debug", "experimental")) -> list:
    """The backends that a program may name; none is used, XLA compiles what is recorded."""
    return ["cudagraphs", "inductor", "openxla", "tvm"] if exclude_tags else [*_BACKENDS]


_BACKENDS = ("aot_eager", "aot_eager_decomp_partition", "aot_eager_decomp_partition_crossref", "aot_eager_decomp_partition_with_mode",
             "aot_eager_default_partitioner", "aot_ts", "cudagraphs", "dynamo_accuracy_minifier_backend", "dynamo_minifier_backend", "eager", "eager_debug",
             "eager_noexcept", "inductor", "invoke_subgraph", "non_leaf_compile_error_TESTING_ONLY", "openxla", "openxla_eval", "pre_dispatch_eager",
             "relu_accuracy_error_TESTING_ONLY", "relu_compile_error_TESTING_ONLY", "relu_runtime_error_TESTING_ONLY", "ts", "tvm")


def get_default_backend():
    """What `set_default_backend` was told, "inductor" at first."""
    return _backend[0]


def set_default_backend(backend) -> None:
    """Remembered; XLA compiles what is recorded."""
    _backend[0] = "inductor" if backend is None else backend


class set_stance:
    """A context or a decorator that says how a tracer goes about its work: there is none, nothing changes."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")

    def __call__(self, fn):
        return fn

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return None


def set_enable_guard_collectives(enabled):
    """Remembered; what it was before."""
    before, _collectives[0] = _collectives[0], enabled
    return before


def nested_compile_region(fn=None, *, options=None, max_reuse_entries=8, reuse_hash_fn=None):
    """`fn` as it is: a mark for a tracer."""
    return (lambda f: f) if fn is None else fn


def skip_all_guards_unsafe(guard_entries):
    """False for every entry: no check is kept."""
    return [False for _ in guard_entries]


def skip_guard_on_globals_unsafe(guard_entries):
    """False for every entry that is about a global name."""
    return [not entry.is_global for entry in guard_entries]


def save_cache_artifacts():
    """None: nothing is kept that could be saved (see JAX's own compilation cache)."""


def load_cache_artifacts(serialized_artifacts):
    """None: see `save_cache_artifacts`."""


__getattr__ = _publish.missing("torch.compiler")
