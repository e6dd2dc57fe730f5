"""torch._dynamo.config (layer 8): settings of a tracer of Python, which is not here: they are remembered, and change nothing.

Those that programs set are here, with torch's values at the start; AttributeError for others.
"""

from ..utils._config_module import install_config_module as _install

accumulated_cache_size_limit = accumulated_recompile_limit = 256
cache_size_limit = recompile_limit = 8
assume_static_by_default = automatic_dynamic_shapes = guard_nn_modules = dynamic_shapes = force_parameter_static_shapes = True
capture_func_transforms = inline_inbuilt_nn_modules = optimize_ddp = report_guard_failures = trace_numpy = True
allow_rnn = allow_unspec_int_on_nn_module = capture_dynamic_output_shape_ops = capture_scalar_outputs = compiled_autograd = disable = False
error_on_recompile = fail_on_cache_limit_hit = fail_on_recompile_limit_hit = specialize_float = specialize_int = suppress_errors = verbose = False
enable_compiler_collectives = skip_fsdp_hooks = only_allow_pt2_compliant_ops = False
log_file_name = repro_after = None
repro_level = 2
_install(__name__)
