"""torch._functorch.config (layer 8): settings of a partitioner of traced programs, which is not here: they are remembered, and change nothing."""

from ..utils._config_module import install_config_module as _install

activation_memory_budget = 1.0
cse = donated_buffer = enable_autograd_cache = fake_tensor_allow_meta = treat_parameters_as_free_to_save = view_replay_for_aliased_outputs = True
debug_assert = debug_partitioner = functionalize_rng_ops = strict_autograd_cache = aggressive_recomputation = False
_install(__name__)
