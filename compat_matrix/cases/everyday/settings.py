"""Settings, questions about the build, arithmetic of sizes, limits of dtypes, generators."""

from compat_matrix.cases.nn.script import script

script("everyday.settings.deterministic", """
D = torch.set_deterministic_debug_mode
for v in (0, 1, 2, 'default', 'warn', 'error', 3, 'x', 1.5):
    look('mode', lambda: (D(v), torch.get_deterministic_debug_mode(), torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()))
D(0)
torch.use_deterministic_algorithms(True, warn_only=True)
look('told', lambda: torch.get_deterministic_debug_mode())
torch.use_deterministic_algorithms(False)
""")

script("everyday.settings.sizes", """
for f in (torch.sym_int, torch.sym_float, torch.sym_not, torch.sym_sqrt):
    for v in (3, 2.7, -2.7, True, 'a', 4):
        look('number', lambda: f(v))
for f in (torch.sym_max, torch.sym_min):
    for a in ((1, 2), (1, 2.5), (2., 1), (True, False), ('a', 1)):
        look('two', lambda: f(*a))
look('sum', lambda: (torch.sym_sum([1, 2, 3]), torch.sym_sum(1, 2), torch.sym_sum([1.5, 2])))
look('ite', lambda: (torch.sym_ite(True, 1, 2), torch.sym_ite(False, 1, 2)))
look('ite', lambda: torch.sym_ite(1, 1, 2))
look('ite', lambda: torch.sym_ite(True, 1, 2.))
look('fresh', lambda: torch.sym_fresh_size(3))
""")

script("everyday.settings.build", """
look('has', lambda: (torch.has_lapack, torch.has_mkl, torch.has_openmp, torch.has_spectral, torch.compiled_with_cxx11_abi(), torch.is_vulkan_available()))
look('device', lambda: (torch.get_device(torch.ones(2)), torch.get_device_module('cpu').__name__.split('.')[1], torch.get_device_module('cuda').__name__.split('.')[1], torch.get_device_module().__name__.split('.')[1]))
look('no device', lambda: torch.get_device_module('zz'))
look('no device', lambda: torch.get_device_module(3))
look('threads', lambda: (torch.init_num_threads(), torch.get_num_interop_threads() > 0))
look('autocast', lambda: (torch.is_autocast_cpu_enabled(), torch.is_autocast_ipu_enabled(), torch.is_autocast_xla_enabled(), torch.get_autocast_cpu_dtype(), torch.get_autocast_gpu_dtype(), torch.get_autocast_ipu_dtype(), torch.get_autocast_xla_dtype()))
look('cache', lambda: (torch.is_autocast_cache_enabled(), torch.set_autocast_cache_enabled(False), torch.is_autocast_cache_enabled(), torch.set_autocast_cache_enabled(True), torch.clear_autocast_cache()))
look('errors', lambda: [[c.__name__ for c in e.__mro__] for e in (torch.OutOfMemoryError, torch.AcceleratorError, torch.FatalError)])
look('abbr', lambda: [d.abbr for d in (torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.complex64, torch.uint8, torch.float16, torch.float64, torch.complex128, torch.int32, torch.int16, torch.int8,
                                      torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex32, torch.float8_e4m3fnuz)])
look('limits', lambda: [getattr(torch.finfo(torch.float32), n) for n in ('bits', 'dtype', 'eps', 'max', 'min', 'resolution', 'smallest_normal', 'tiny')])
look('integers', lambda: [getattr(torch.iinfo(torch.int16), n) for n in ('bits', 'dtype', 'max', 'min')])
look('on the class', lambda: [hasattr(torch.finfo, n) for n in ('bits', 'eps')])
f, i = torch.finfo(torch.float64), torch.iinfo(torch.uint8)
look('limits', lambda: (f.dtype, f.resolution, f.smallest_normal, f.tiny, i.dtype, i.bits))
look('copies', lambda: (torch.view_as_real_copy(torch.tensor([1 + 2j])), torch.view_as_complex_copy(torch.tensor([[1., 2.]]))))
g = torch.Generator()
look('generator', lambda: g.device)
for f in (lambda: g.get_offset(), lambda: g.set_offset(1), lambda: g.graphsafe_get_state()):
    look('offset', f)
""")
