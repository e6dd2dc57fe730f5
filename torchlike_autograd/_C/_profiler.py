"""torch._C._profiler (layer 8): the settings of PyTorch's own profiler that programs hand to torch.profiler; nothing here goes by them."""

from .._core import publish as _publish

_NAMES = ("profiler_metrics", "profiler_measure_per_kernel", "verbose", "performance_events", "enable_cuda_sync_events", "adjust_profiler_step",
          "disable_external_correlation", "profile_all_threads", "capture_overload_names", "record_python_gc_info", "expose_kineto_event_metadata",
          "custom_profiler_config", "adjust_timestamps", "trace_only")


class _ExperimentalConfig:
    """Settings, of which two can be read; TypeError for one that PyTorch does not have."""

    def __init__(self, *args, **kwargs):
        given = dict(zip(_NAMES, args))
        wrong = [n for n in kwargs if n not in _NAMES or n in given]
        if len(args) > len(_NAMES) or wrong:
            raise TypeError(f"__init__(): incompatible constructor arguments: {wrong or args}")
        given.update(kwargs)
        self.custom_profiler_config, self.trace_only = given.get("custom_profiler_config", ""), given.get("trace_only", False)


__getattr__ = _publish.missing("torch._C._profiler")
