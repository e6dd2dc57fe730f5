"""Names of torch itself, of torch.backends, torch.compiler, torch.utils and torch.nn.parallel that few programs call."""

from compat_matrix.cases.nn.script import script

script("rare_names.autocast_settings", """
def dtype_of(get, put, dtype):
    before = get()
    return put(dtype), get(), put(before), get()
look('cpu', lambda: dtype_of(torch.get_autocast_cpu_dtype, torch.set_autocast_cpu_dtype, torch.float16))
look('ipu', lambda: dtype_of(torch.get_autocast_ipu_dtype, torch.set_autocast_ipu_dtype, torch.bfloat16))
look('xla', lambda: dtype_of(torch.get_autocast_xla_dtype, torch.set_autocast_xla_dtype, torch.float16))
look('gpu', lambda: dtype_of(torch.get_autocast_gpu_dtype, torch.set_autocast_gpu_dtype, torch.bfloat16))
def on(asked, put):
    return asked(), put(True), asked(), put(False), asked()
look('cpu', lambda: on(torch.is_autocast_cpu_enabled, torch.set_autocast_cpu_enabled))
look('ipu', lambda: on(torch.is_autocast_ipu_enabled, torch.set_autocast_ipu_enabled))
look('xla', lambda: on(torch.is_autocast_xla_enabled, torch.set_autocast_xla_enabled))
look('one', lambda: (torch.set_autocast_enabled(True), torch.is_autocast_enabled(), torch.set_autocast_enabled(False), torch.is_autocast_enabled()))
look('two', lambda: (torch.set_autocast_enabled('cpu', True), torch.is_autocast_enabled('cpu'), torch.mm(torch.eye(2), torch.eye(2)).dtype, torch.set_autocast_enabled(device_type='cpu', enabled=False)))
look('dtype', lambda: (torch.set_autocast_dtype('cpu', torch.float16), torch.get_autocast_dtype('cpu'), torch.set_autocast_dtype('cpu', torch.bfloat16)))
look('nested', lambda: (torch.autocast_increment_nesting(), torch.autocast_increment_nesting(), torch.autocast_decrement_nesting(), torch.autocast_decrement_nesting()))
look('wrong', lambda: torch.set_autocast_enabled(3))
look('wrong', lambda: torch.set_autocast_enabled('cpu', 3))
look('wrong', lambda: torch.set_autocast_enabled(1, True))
""")

script("rare_names.settings", """
look('flush', lambda: torch.set_flush_denormal(True))
look('flush', lambda: torch.set_flush_denormal(3))
look('flush', lambda: torch.set_flush_denormal())
look('flush', lambda: torch.set_flush_denormal(True, False))
for v in (0, -1, 'a', 2.5):
    look('threads', lambda: torch.set_num_interop_threads(v))
look('threads', lambda: torch.set_num_interop_threads())
look('path', lambda: torch.get_file_path('torch', 'x', 'y').endswith('/x/y'))
look('nothing', lambda: (torch.prepare_multiprocessing_environment('x'), torch.thread_safe_generator(), torch.random.thread_safe_generator()))
look('format', lambda: (torch.legacy_contiguous_format is torch.contiguous_format, torch.fft.Tensor is torch.Tensor))
look('tags', lambda: [(n, int(t), repr(t), t.name) for n, t in torch.Tag.__members__.items()])
look('range', lambda: (torch.sym_constrain_range(3, min=1, max=4), torch.sym_constrain_range(3), torch.sym_constrain_range_for_size(3, min=1, max=4)))
look('range', lambda: torch.sym_constrain_range(3, min=5, max=7))
look('range', lambda: torch.sym_constrain_range(3, min=5))
look('size', lambda: torch.sym_constrain_range_for_size(3, max=2))
look('size', lambda: torch.sym_constrain_range_for_size(-1))
look('off', lambda: (torch._C.DisableTorchFunction is torch.DisableTorchFunction, torch._C.DisableTorchFunctionSubclass is torch.DisableTorchFunctionSubclass))
""")

script("rare_names.version", """
T = torch.torch_version.TorchVersion
look('kind', lambda: ([c.__name__ for c in type(torch.__version__).__mro__], torch.__version__.split('+')[0], repr(T('2.13.0'))))
look('own', lambda: (torch.__version__ >= (2, 0), torch.__version__ > '1.13', torch.__version__ < (3,), torch.__version__ >= '2.10'))
pairs = [('2.13.0+cpu', '2.13.0'), ('2.13.0', (2, 13)), ('2.13.0', (2, 13, 0, 1)), ('2.13.0', '2.13'), ('2.13.0', 'abc'), ('2.13.0', (2, 'a')), ('2.0.0.dev1', '2.0'), ('2.0.0rc1', '2.0'),
         ('2.1.0a0+git1', (2, 1)), ('2.13.0', [2, 0]), ('2.0.post1', '2.0'), ('1.10', '1.9'), ('2.13.0', None), ('x', 'y'), ('1!1.0', '2.0'), ('2.0rc1', '2.0rc2'), ('2.0a1.dev1', '2.0a1'), ('2.0+a.1', '2.0+a.b')]
for a, b in pairs:
    look('pair', lambda: (T(a) == b, T(a) != b))
    look('pair', lambda: (T(a) > b, T(a) < b, T(a) >= b, T(a) <= b))
look('hash', lambda: (hash(T('2.13.0')) == hash('2.13.0'), T('2.13.0')[:4], T('2.13.0').split('.'), '2.10' < T('2.13.0')))
look('number', lambda: T('2.13.0') > 3)
""")

script("rare_names.backends", """
B = torch.backends
look('cpu', lambda: B.cpu.get_cpu_capability() in ('AVX512', 'AVX2', 'DEFAULT', 'NO AVX'))
look('mha', lambda: (B.mha.get_fastpath_enabled(), B.mha.set_fastpath_enabled(False), B.mha.get_fastpath_enabled(), B.mha.set_fastpath_enabled(True)))
look('absent', lambda: (B.kleidiai.is_available(), B.cusparselt.is_available(), B.cusparselt.version(), B.cusparselt.get_max_alg_id()))
look('nnpack', lambda: (B.nnpack.set_flags(False), B.nnpack.set_flags(True)))
with B.nnpack.flags(enabled=False):
    look('inside', lambda: B.nnpack.set_flags(False))
look('after', lambda: B.nnpack.set_flags(True))
X = torch.xpu
look('xpu', lambda: (X.is_available(), X.is_initialized(), X.is_bf16_supported(), X.device_count(), X.get_arch_list(), X.empty_cache(), X.manual_seed(1), X.manual_seed_all(1), X.seed(), X.seed_all(), X.memory_stats(), X.memory_allocated(), X.max_memory_allocated(), X.memory_reserved(), X.max_memory_reserved()))
for n in ('init', 'current_device', 'synchronize', 'get_rng_state', 'initial_seed'):
    look(n, lambda: getattr(X, n)())
look('set', lambda: X.set_device(0))
look('mtia', lambda: (torch.mtia.is_available(), torch.mtia.is_initialized(), torch.mtia.device_count()))
for n in ('current_device', 'synchronize', 'empty_cache'):
    look(n, lambda: getattr(torch.mtia, n)())
""")

script("rare_names.compiler", """
C = torch.compiler
look('backends', lambda: (C.list_backends(), C.get_default_backend(), C.set_default_backend('eager'), C.get_default_backend(), C.set_default_backend(None), C.get_default_backend()))
with C.set_stance('force_eager') as s:
    look('stance', lambda: (s, torch.ones(1) + 1))
@C.set_stance('force_eager')
def f(x):
    return x + 1
look('stance', lambda: (f(1), f.__name__))
look('stance', lambda: C.set_stance('force_eager', force_backend='eager'))
look('collectives', lambda: (C.set_enable_guard_collectives(True), C.set_enable_guard_collectives(False)))
look('region', lambda: (C.nested_compile_region(lambda x: x + 1)(torch.ones(1)), C.nested_compile_region()(lambda x: x + 1)(torch.ones(1))))
look('guards', lambda: (C.skip_all_guards_unsafe([1, 2]), C.skip_guard_on_globals_unsafe([])))
look('cache', lambda: (C.save_cache_artifacts(), C.load_cache_artifacts(b'')))
look('reset', lambda: C.reset())
look('marks', lambda: C.substitute_in_graph(abs)(lambda x, /: x)(2))
""")

script("rare_names.control", """
x = torch.tensor([1., 2.], requires_grad=True)
for p in (True, False, 3, 0):
    look('plain', lambda: torch.cond(p, torch.sin, torch.cos, (torch.ones(2),)))
look('nothing', lambda: (torch.cond(False, lambda: 3, lambda: 4), torch.cond(True, lambda: 3, lambda: 4)))
for p in (torch.tensor(True), torch.tensor([False]), torch.tensor(1.)):
    y = torch.cond(p, lambda x: x.sin() * 2, lambda x: x.cos() * 3, (x,))
    look('tensor', lambda: (y.detach(), torch.autograd.grad(y.sum(), x)))
look('wrong', lambda: torch.cond(x, torch.sin, torch.cos, (x,)))
look('wrong', lambda: torch.cond(True, 3, torch.cos, (x,)))
look('loop', lambda: torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), torch.ones(2))))
i, y = torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * x), (torch.tensor(0), x))
look('loop', lambda: (i, y.detach(), torch.autograd.grad(y.sum(), x)))
look('loop', lambda: torch.while_loop(3, lambda i: (i + 1,), (0,)))
look('numbers', lambda: torch.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,)))
""")

script("rare_names.parallel", """
P = torch.nn.parallel
look('scatter', lambda: (P.scatter(3, [0]), P.scatter([3, 4], [0, 1]), P.scatter({'a': (1, 2)}, [0, 1]), P.scatter((), [0])))
look('scatter', lambda: P.scatter(torch.ones(4, 2), [0]))
look('gather', lambda: P.gather([torch.ones(4, 2)], 0))
look('gather', lambda: P.gather([{'a': None}, {'a': None}], 0))
look('gather', lambda: P.gather([{'a': None}, {}], 0))
look('gather', lambda: P.gather([3, 4], 'cpu'))
look('replicate', lambda: (P.replicate(nn.ReLU(), [0]), P.replicate(nn.Linear(2, 2), [])))
look('replicate', lambda: P.replicate(nn.Linear(2, 2), [0]))
look('apply', lambda: P.parallel_apply([nn.Identity()], [torch.ones(2)]))
look('apply', lambda: P.parallel_apply([nn.Identity()], []))
look('apply', lambda: P.parallel_apply([], []))
look('data parallel', lambda: (nn.DataParallel(nn.Linear(2, 2)).replicate(nn.ReLU(), [0])))
look('data parallel', lambda: nn.DataParallel(nn.Linear(2, 2)).gather([3], 0))
look('data parallel', lambda: nn.DataParallel(nn.Linear(2, 2)).scatter((3,), {}, [0]))
look('data parallel', lambda: nn.DataParallel(nn.Linear(2, 2)).parallel_apply([nn.Identity()], [torch.ones(1)], [{}]))
look('distributed', lambda: P.DistributedDataParallel(nn.Linear(2, 2)))
""")

script("rare_names.attention_kernels", """
A = torch.nn.attention
S = A.SDPBackend
look('members', lambda: [(n, int(b), b.name, b.value, repr(b)) for n, b in S.__members__.items()])
look('kinds', lambda: (S(0) == S.MATH, S.MATH == S.FLASH_ATTENTION, S.MATH in (S.MATH,), hash(S.MATH) == hash(S(0))))
q = torch.ones(1, 1, 2, 4)
for b in (S.MATH, [S.MATH, S.FLASH_ATTENTION], []):
    with A.sdpa_kernel(b) as found:
        look('inside', lambda: (F.scaled_dot_product_attention(q, q, q), found) if b else found)
with A.sdpa_kernel(S.MATH, set_priority=True):
    look('priority', lambda: F.scaled_dot_product_attention(q, q, q))
@A.sdpa_kernel(S.MATH)
def f():
    return F.scaled_dot_product_attention(q, q, q)
look('decorator', lambda: f())
look('wrong', lambda: A.sdpa_kernel(3).__enter__())
look('flash', lambda: (A.list_flash_attention_impls(), A.current_flash_attention_impl(), A.restore_flash_attention_impl(), A.WARN_FOR_UNFUSED_KERNELS))
look('flash', lambda: A.activate_flash_attention_impl('FA4'))
look('flash', lambda: A.activate_flash_attention_impl('x'))
""")

script("rare_names.swap_tensors", """
a, b = torch.ones(2), torch.zeros(3, requires_grad=True)
a.note = 1
torch.utils.swap_tensors(a, b)
look('leaf', lambda: (a.detach(), a.requires_grad, b, hasattr(a, 'note'), b.note))
(a * 2).sum().backward()
look('grad', lambda: (a.grad, b.grad))
x = torch.ones(2, requires_grad=True)
y, z = x * 2, torch.zeros(3)
torch.utils.swap_tensors(y, z)
look('node', lambda: (y, z.detach(), z.grad_fn.name()))
z.sum().backward()
look('grad', lambda: x.grad)
class P(torch.Tensor):
    pass
p, q = torch.ones(2).as_subclass(P), torch.zeros(2)
torch.utils.swap_tensors(p, q)
look('classes', lambda: (type(p).__name__, type(q).__name__))
w, v = nn.Parameter(torch.ones(2)), nn.Parameter(torch.zeros(3))
(w * 3).sum().backward()
torch.utils.swap_tensors(w, v)
look('parameters', lambda: (w.detach(), v.detach(), w.grad, v.grad))
m = nn.Linear(2, 1)
torch.utils.swap_tensors(m.weight, nn.Parameter(torch.ones(1, 2)))
m(torch.ones(1, 2)).sum().backward()
look('module', lambda: (m.weight.detach(), m.weight.grad))
look('wrong', lambda: torch.utils.swap_tensors(3, a))
class C:
    pass
torch.utils.set_module(C, 'abc')
look('module name', lambda: C.__module__)
look('module name', lambda: torch.utils.set_module(C, 3))
""")

script("rare_names.pytree_text", """
T = torch.utils._pytree
N = collections.namedtuple('N', 'x')
for t in (1, [1, (2, 3)], {'a': 1, 'b': (1,)}, collections.OrderedDict(a=1), collections.deque([1], maxlen=3), None, {1: 2}, collections.defaultdict(list, a=1)):
    s = T.tree_structure(t)
    look('text', lambda: (T.treespec_dumps(s), T.treespec_loads(T.treespec_dumps(s)) == s))
look('named', lambda: T.treespec_dumps(T.tree_structure(3), protocol=3))
look('wrong', lambda: T.treespec_dumps(3))
look('wrong', lambda: T.treespec_loads('[2, 3]'))
look('wrong', lambda: T.treespec_loads('3'))
class Own:
    def __init__(self, a, n):
        self.a, self.n = a, n
T.register_pytree_node(Own, lambda o: ([o.a], o.n), lambda c, n: Own(c[0], n), serialized_type_name='own.kind', to_dumpable_context=lambda n: f'n{n}', from_dumpable_context=lambda t: int(t[1:]))
s = T.tree_structure(Own(1, 4))
look('own', lambda: (T.treespec_dumps(s), T.treespec_loads(T.treespec_dumps(s)) == s, T.tree_unflatten([5], T.treespec_loads(T.treespec_dumps(s))).n))
look('leaf', lambda: (repr(T.LeafSpec()), T.LeafSpec() == T.tree_structure(1), T.LeafSpec().num_leaves))
""")

script("rare_names.functions", """
look('bag', lambda: torch.embedding_bag(torch.eye(3), torch.tensor([0, 1, 2]), torch.tensor([0, 2])))
w = torch.eye(3, requires_grad=True)
for mode in (0, 1, 2):
    r = torch.embedding_bag(w, torch.tensor([0, 1, 1]), torch.tensor([0, 1]), mode=mode)
    look('mode', lambda: (*[t.detach() for t in r], torch.autograd.grad(r[0].sum(), w)))
look('weights', lambda: torch.embedding_bag(torch.eye(3), torch.tensor([0, 1]), torch.tensor([0]), False, 0, False, torch.tensor([2., 3.]))[0])
look('ldl', lambda: torch.linalg.ldl_factor(input=torch.eye(2)))
look('ldl', lambda: torch.linalg.ldl_factor(A=torch.eye(2)))
look('round', lambda: torch.special.round(torch.tensor([1.25, -0.35]), decimals=1))
""")

script("rare_names.torchscript", """
def quiet(f):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return f()
look('fork', lambda: quiet(lambda: torch.jit.wait(torch.jit.fork(torch.sin, torch.ones(1)))))
class M(nn.Module):
    def forward(self, x):
        return x * 3
m = M().eval()
look('module', lambda: quiet(lambda: torch.jit.trace(m, torch.ones(1))(torch.ones(2))))
look('module', lambda: quiet(lambda: torch.jit.trace_module(m, {'forward': torch.ones(1)})(torch.ones(2))))
look('frozen', lambda: quiet(lambda: torch.jit.freeze(torch.jit.trace(m, torch.ones(1)))(torch.ones(2))))
look('inference', lambda: quiet(lambda: torch.jit.optimize_for_inference(torch.jit.trace(m, torch.ones(1)))(torch.ones(2))))
""")
