"""torch._inductor.config (layer 8): settings of a compiler that is not here (XLA compiles): they are remembered, and change nothing.

Those that programs set are here, with torch's values at the start; AttributeError for others.
"""

from ..utils._config_module import Settings as _Settings
from ..utils._config_module import install_config_module as _install

aggressive_fusion = b2b_gemm_pass = benchmark_kernel = conv_1x1_as_mm = coordinate_descent_check_all_directions = coordinate_descent_tuning = False
cpp_wrapper = debug = dce = deterministic = emulate_precision_casts = epilogue_fusion_first = fallback_random = force_disable_caches = False
force_fuse_int_mm_with_mul = force_layout_optimization = force_shape_pad = freezing = fx_wrapper = max_autotune = max_autotune_gemm = False
max_autotune_pointwise = memory_planning = nan_asserts = profile_bandwidth = reorder_for_compute_comm_overlap = use_fast_math = False
allow_buffer_reuse = epilogue_fusion = fx_graph_cache = inplace_buffers = layout_optimization = loop_ordering_after_fusion = pattern_matcher = True
permute_fusion = False
graph_partition = True
shape_padding = size_asserts = split_reductions = use_mixed_mm = True
fx_graph_remote_cache = post_grad_custom_post_pass = post_grad_custom_pre_pass = joint_custom_post_pass = joint_custom_pre_pass = None
compile_threads = 1
max_autotune_gemm_backends, mixed_mm_choice = "ATEN,TRITON,CPP", "heuristic"
cpp = _Settings(threads=-1, simdlen=None, enable_kernel_profile=False, weight_prepack=True)
triton = _Settings(cudagraphs=False, cudagraph_trees=True, cudagraph_skip_dynamic_graphs=False, unique_kernel_names=True, autotune_pointwise=True,
                   prefer_nd_tiling=False)
trace = _Settings(enabled=False, debug_dir=None, graph_diagram=False)
_install(__name__)
