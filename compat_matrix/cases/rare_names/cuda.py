"""Every name of torch.cuda on a machine without a CUDA device."""

from compat_matrix.cases.nn.script import script

script("rare_names.cuda.types", """
T = ('BFloat16Tensor', 'BoolTensor', 'ByteTensor', 'CharTensor', 'DoubleTensor', 'FloatTensor', 'HalfTensor', 'IntTensor', 'LongTensor', 'ShortTensor')
for n in T:
    t = getattr(torch.cuda, n)
    look(n, lambda: (t.dtype, t.is_cuda, t.is_sparse, t.layout, t.__name__, t.__module__, isinstance(torch.ones(1), t), isinstance(3, t)))
    look(n, lambda: t(2))
look('class', lambda: (issubclass(torch.cuda.FloatTensor, torch.Tensor), torch.FloatTensor.layout, torch.FloatTensor.is_cuda))
look('type', lambda: torch.ones(1).type(torch.cuda.FloatTensor))
look('type', lambda: torch.ones(1).type('torch.cuda.LongTensor'))
look('default', lambda: torch.set_default_tensor_type(torch.cuda.FloatTensor))
look('default', lambda: torch.set_default_tensor_type('torch.cuda.DoubleTensor'))
look('dtype', lambda: torch.get_default_dtype())
""")

script("rare_names.cuda.streams", """
C = torch.cuda
look('stream', lambda: C.Stream())
look('event', lambda: C.Event(enable_timing=True))
look('external', lambda: C.ExternalStream(0, torch.device('cuda', 0)))
look('context', lambda: (C.StreamContext(None).stream, C.stream(None).__enter__(), C.stream(None).__exit__(None, None, None)))
with C.stream(None):
    look('inside', lambda: torch.ones(1) + 1)
look('set', lambda: C.set_stream(None))
look('current', lambda: C.current_stream())
look('default', lambda: C.default_stream())
look('from', lambda: C.get_stream_from_external(0))
look('same', lambda: (C.streams.Stream is C.Stream, C.streams.Event is C.Event, issubclass(C.ExternalStream, C.Stream)))
look('graph', lambda: C.CUDAGraph())
look('graph', lambda: C.graph(None))
look('graph', lambda: C.make_graphed_callables(torch.sin, (torch.ones(1),)))
look('graph', lambda: C.graph_pool_handle())
look('graph', lambda: C.is_current_stream_capturing())
look('graphs', lambda: (C.graphs.CUDAGraph is C.CUDAGraph, C.graphs.graph is C.graph, sorted(C.graphs.__all__)))
""")

script("rare_names.cuda.devices", """
C = torch.cuda
look('device', lambda: (C.device(0).idx, C.device('cuda:1').idx, C.device(None).idx, C.device(torch.device('cuda', 2)).idx))
look('cpu', lambda: C.device('cpu'))
look('enter', lambda: C.device(0).__enter__())
look('enter', lambda: C.device(None).__enter__())
with C.device(-1):
    look('inside', lambda: torch.ones(1))
with C.device_of(torch.ones(1)) as d:
    look('of', lambda: (d, C.device_of(torch.ones(1)).idx, issubclass(C.device_of, C.device)))
look('set', lambda: C.set_device(-1))
look('set', lambda: C.set_device(0))
look('set', lambda: C.set_device('cpu'))
look('properties', lambda: C.get_device_properties(0))
look('name', lambda: C.get_device_name())
look('capability', lambda: C.get_device_capability())
look('peer', lambda: C.can_device_access_peer(0, 1))
look('questions', lambda: (C.is_bf16_supported(), C.is_bf16_supported(including_emulation=False), C.is_tf32_supported(), C.get_arch_list(), C.get_gencode_flags(), C.default_generators, C.has_half, C.has_magma))
look('sync', lambda: C.get_sync_debug_mode())
look('sync', lambda: C.set_sync_debug_mode('warn'))
look('handle', lambda: C.current_blas_handle())
look('handle', lambda: C.current_solver_handle())
look('cudart', lambda: C.cudart())
look('errors', lambda: (C.cudaStatus.SUCCESS, C.cudaStatus.ERROR_NOT_READY, [c.__name__ for c in C.CudaError.__mro__], [c.__name__ for c in C.DeferredCudaCallError.__mro__]))
look('error', lambda: C.CudaError(1))
look('error', lambda: C.check_error(1))
for n in ('clock_rate', 'device_memory_used', 'memory_usage', 'power_draw', 'temperature', 'utilization'):
    look(n, lambda: getattr(torch.cuda, n)())
look('processes', lambda: C.list_gpu_processes())
look('nccl', lambda: (C.nccl.is_available([torch.ones(1)]), sorted(C.nccl.__all__)))
look('nccl', lambda: C.nccl.version())
look('profiler', lambda: C.profiler.start())
look('profiler', lambda: C.profiler.stop())
look('profiler', lambda: C.profiler.profile().__enter__())
""")

script("rare_names.cuda.memory", """
C = torch.cuda
M = C.memory
look('same', lambda: [getattr(M, n) is getattr(C, n) for n in ('memory_stats', 'empty_cache', 'mem_get_info', 'MemPool')])
look('all', lambda: sorted(M.__all__))
look('numbers', lambda: (C.memory_allocated(), C.max_memory_allocated(), C.memory_reserved(), C.max_memory_reserved(), C.memory_cached(), C.max_memory_cached()))
look('stats', lambda: (C.memory_stats(), C.memory_stats_as_nested_dict(), C.host_memory_stats(), C.host_memory_stats_as_nested_dict(), C.empty_cache()))
for n in ('reset_accumulated_host_memory_stats', 'reset_accumulated_memory_stats', 'reset_max_memory_allocated', 'reset_max_memory_cached', 'reset_peak_host_memory_stats',
          'reset_peak_memory_stats', 'memory_snapshot', 'memory_summary', 'get_allocator_backend', 'get_per_process_memory_fraction', 'mem_get_info', 'caching_allocator_enable', 'ipc_collect', 'init', 'MemPool'):
    look(n, lambda: getattr(torch.cuda, n)())
look('fraction', lambda: C.set_per_process_memory_fraction(0.5))
look('alloc', lambda: C.caching_allocator_alloc(4))
look('delete', lambda: C.caching_allocator_delete(4))
look('disabled', lambda: C.caching_allocator_disabled().__enter__())
look('change', lambda: C.change_current_allocator(None))
look('plugged', lambda: C.CUDAPluggableAllocator('no such file', 'b', 'c'))
look('pool', lambda: C.use_mem_pool(None).__enter__())
""")

script("rare_names.cuda.numbers", """
C = torch.cuda
torch.manual_seed(3)
look('seeds', lambda: (C.manual_seed(1), C.manual_seed_all(1), C.seed(), C.seed_all(), C.get_rng_state_all(), C.set_rng_state_all([]), C.set_rng_state(torch.zeros(1))))
look('state', lambda: C.get_rng_state())
look('seed', lambda: C.initial_seed())
look('same', lambda: (C.random.get_rng_state is C.get_rng_state, sorted(C.random.__all__)))
look('numbers', lambda: torch.rand(3))
""")
