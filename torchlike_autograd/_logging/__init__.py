"""torch._logging (layer 7): levels of the loggers of this package, under torch's names; `TORCH_LOGS` sets them as well.

Only "autograd" has something to say here (autograd/_logged.py).  Loggers of parts that are not there take a level and stay silent; asking for the intermediate
products of torch's compiler raises NotImplementedError.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
import warnings

__all__ = ["LazyString", "getArtifactLogger", "set_logs", "warning_once"]

_LOGS = {"dynamo": "torch._dynamo", "aot": "torch._functorch", "autograd": "torch.autograd", "dynamic": "torch.fx.experimental.symbolic_shapes",
         "inductor": "torch._inductor", "distributed": "torch.distributed", "c10d": "torch.distributed.distributed_c10d",
         "ddp": "torch.nn.parallel.distributed", "fsdp": "torch.distributed.fsdp", "dtensor": "torch.distributed.tensor", "onnx": "torch.onnx",
         "export": "torch.export"}
_ARTIFACTS = frozenset((
    "bytecode", "aot_graphs", "aot_joint_graph", "ddp_graphs", "graph", "graph_code", "graph_code_verbose", "graph_breaks", "side_effects", "graph_sizes",
    "guards", "recompiles", "recompiles_verbose", "trace_source", "trace_call", "trace_bytecode", "output_code", "kernel_code", "schedule", "perf_hints",
    "pre_grad_graphs", "post_grad_graphs", "ir_pre_fusion", "ir_post_fusion", "onnx_diagnostics", "fusion", "overlap", "cudagraphs", "sym_node",
    "compiled_autograd", "compiled_autograd_verbose", "cudagraph_static_inputs", "benchmarking", "autotuning", "incremental", "graph_region_expansion",
    "inductor_metrics", "hierarchical_compile", "compute_dependencies", "caching"))
_LEVELS = (50, 40, 30, 20, 10, 0)
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_set: set = set()  # names of loggers of modules that `set_logs` gave a level


class _Formatter(logging.Formatter):
    """Torch's lines: level, date, time, thread, place, message."""

    def format(self, record):
        """One line of it for each line of the message."""
        path = os.path.abspath(record.pathname)
        place = f"torch/{path[len(_ROOT):]}" if path.startswith(_ROOT) else path
        letter = {"DEBUG": "V"}.get(record.levelname, record.levelname[:1])
        when = f"{self.formatTime(record, '%m%d %H:%M:%S')}.{int(record.msecs):03d}000"
        head = f"{letter}{when} {record.thread if record.thread is None else threading.get_native_id()} {place}:{record.lineno}]"
        return "\n".join(f"{head} {line}" for line in record.getMessage().split("\n"))


def _handled(logger):
    """A logger that writes to standard error, and its parents do not."""
    if not any(isinstance(h.formatter, _Formatter) for h in logger.handlers):
        handler = logging.StreamHandler(sys.stderr)
        handler.setLevel(logging.DEBUG)
        handler.setFormatter(_Formatter())
        logger.addHandler(handler)
        logger.propagate = False
    return logger


def set_logs(*, all=None, modules=None, **settings):
    """Levels by the names of logs (`autograd=logging.DEBUG`) and of modules; what is not named goes back to its default.

    TypeError for a name that torch has not, ValueError for a level that is none, NotImplementedError for an artifact of torch's compiler.
    """
    for name, value in settings.items():
        if name in _ARTIFACTS:
            if value:
                raise NotImplementedError(f"torch._logging.set_logs({name}=True): there is no such product here")
        elif name not in _LOGS:
            raise TypeError(f"set_logs() got an unexpected keyword argument '{name}'")
    wanted = {n: settings.get(n) if settings.get(n) is not None else all for n in _LOGS}
    for name, value in (*wanted.items(), *(modules or {}).items()):
        if value is not None and value not in _LEVELS:
            raise ValueError(f"Unrecognized log level for log {name}: {value}, valid level values are: {','.join(map(str, _LEVELS))}")
    _reset()
    for name, value in wanted.items():
        if value is not None:
            logging.getLogger(_LOGS[name]).setLevel(value)
    for name, value in (modules or {}).items():
        _set.add(name)
        _handled(logging.getLogger(name)).setLevel(value)


def _reset():
    for name in (*_LOGS.values(), *_set):
        logging.getLogger(name).setLevel(logging.NOTSET)
    _set.clear()
    _handled(logging.getLogger("torch")).setLevel(logging.WARNING)


def _init_logs(log_file_name=None):
    """The loggers, and the levels that the variable TORCH_LOGS names: "+autograd" for all it says, "-autograd" for errors only."""
    _reset()
    for name in _LOGS.values():
        _handled(logging.getLogger(name))
    for part in filter(None, (p.strip() for p in os.environ.get("TORCH_LOGS", "").split(","))):
        name = _LOGS.get(part.lstrip("+-"))
        if name is not None:
            logging.getLogger(name).setLevel(logging.DEBUG if part[0] == "+" else logging.ERROR if part[0] == "-" else logging.INFO)
    if log_file_name is not None:
        handler = logging.FileHandler(log_file_name)
        handler.setFormatter(_Formatter())
        for name in _LOGS.values():
            logging.getLogger(name).addHandler(handler)


def getArtifactLogger(module_qname, artifact_name):
    """The logger of a kind of message of a module.  ValueError for a kind that is not known."""
    if artifact_name not in _ARTIFACTS and artifact_name not in ("not_implemented", "autograd", "perf_hints"):
        raise ValueError(f"Artifact name: {artifact_name!r} not registered,please call register_artifact({artifact_name!r}) in torch._logging.registrations.")
    return logging.getLogger(f"{module_qname}.__{artifact_name}")


class LazyString:
    """A text that is made when somebody reads it."""

    def __init__(self, func, *args, **kwargs):
        self.func, self.args, self.kwargs = func, args, kwargs

    def __str__(self):
        return self.func(*self.args, **self.kwargs)


@functools.lru_cache(None)
def warning_once(logger_obj, *args, **kwargs):
    """A warning of a logger, the first time."""
    logger_obj.warning(*args, **kwargs)


def hide_warnings(filter_fn=lambda *args, **kwargs: True):
    """A decorator: warnings for which filter_fn is true are not shown while the function runs."""

    def decorate(fn):
        @functools.wraps(fn)
        def quiet(*args, **kwargs):
            with warnings.catch_warnings():
                show = warnings.showwarning
                warnings.showwarning = lambda *a, **k: None if filter_fn(*a, **k) else show(*a, **k)
                return fn(*args, **kwargs)

        return quiet

    return decorate


_init_logs()
