"""Trees, functional calls, checkpoints, tests, compilers and other names beside tensors."""

from compat_matrix.cases.nn.script import script

script("everyday.others.pytree", """
import importlib
importlib.import_module(torch.__name__ + '.utils._pytree')
T = torch.utils._pytree
t = {'a': [1, (2, None)], 'b': {'c': 3}}
leaves, spec = T.tree_flatten(t)
look('flatten', lambda: (leaves, spec.num_leaves, spec.num_nodes, repr(spec)))
look('unflatten', lambda: (T.tree_unflatten([10, 20, None, 30], spec), T.tree_unflatten((1, 2, 3, 4), spec)))
look('wrong count', lambda: T.tree_unflatten([1], spec))
look('leaves', lambda: (T.tree_leaves(t), list(T.tree_iter(t)), T.tree_leaves(5), T.tree_leaves([]), T.tree_structure(t) == spec))
look('map', lambda: (T.tree_map(lambda x: x if x is None else x * 2, t), T.tree_map(lambda x, y: (x, y), [1, 2], [3, 4]), T.tree_map(len, ['ab', [1]], is_leaf=lambda x: isinstance(x, list) and x == [1])))
look('map_', lambda: T.tree_map_(lambda x: None, t) is t)
look('only', lambda: (T.tree_map_only(int, lambda x: -x, t), T.tree_map_only((int, str), str, [1, 'a', 2.0]), T.tree_map_only(lambda x: x == 1, str, [1, 2])))
look('all', lambda: (T.tree_all(bool, [1, 2]), T.tree_all(bool, [1, 0]), T.tree_any(bool, [0, 0]), T.tree_any(bool, [0, 1])))
look('paths', lambda: [(T.keystr(k), v) for k, v in T.tree_flatten_with_path(t)[0]])
look('paths', lambda: [(T.keystr(k), v) for k, v in T.tree_leaves_with_path([1, {'x': 2}])])
look('map with path', lambda: T.tree_map_with_path(lambda k, v: T.keystr(k), t))
look('sizes differ', lambda: T.tree_map(lambda x, y: x, [1, 2], [3]))
look('kinds differ', lambda: T.tree_map(lambda x, y: x, [1, 2], (3, 4)))
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b
T.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda c, _: Pair(*c), serialized_type_name=f'{torch.__name__}.test.Pair{id(Pair)}')
look('registered', lambda: (T.tree_leaves(Pair(1, [2])), vars(T.tree_map(lambda x: x + 1, Pair(1, 2)))))
look('twice', lambda: type(T.register_pytree_node).__name__)
import collections
N = collections.namedtuple('N', 'x y')
look('others', lambda: (T.tree_leaves(collections.OrderedDict(b=1, a=2)), T.tree_leaves(N(1, [2])), T.tree_map(str, N(1, 2))._asdict(), T.tree_leaves(collections.deque([1, 2])), T.tree_leaves({'b': 1, 'a': 2})))
N3, gm = collections.namedtuple('N3', 'a b')(1, 2), __import__('time').gmtime(0)
for f in (T.is_namedtuple, T.is_namedtuple_class, T.is_namedtuple_instance, T.is_structseq, T.is_structseq_class, T.is_structseq_instance):
    look('named', lambda: [f(v) for v in (N3, type(N3), (1, 2), tuple, gm, type(gm), 3)])
look('more', lambda: (T.key_get([1, {'a': 5}], T.tree_flatten_with_path([1, {'a': 5}])[0][1][0]), T.tree_all_only(int, bool, [1, 'a', 0]), T.tree_any_only(int, lambda x: x > 1, [1, 'zz', 2]), T.tree_is_leaf(3), T.tree_is_leaf([]), T.tree_is_leaf([1], is_leaf=lambda x: True)))
l = [1, 'a']
look('more', lambda: (T.tree_map_only_(int, lambda x: None, l) is l, T.treespec_pprint(T.tree_structure([1, {'a': 2}])), T.PyTreeSpec is T.TreeSpec))
look('types', lambda: [str(t) for t in (T.Context, T.DumpableContext, T.FlattenFn, T.UnflattenFn, T.ToDumpableContextFn, T.FromDumpableContextFn)])
s = T.tree_structure([1, [2, 3]])
look('forms', lambda: ([repr(c) for c in s.children()], repr(s.child(1)), s.flatten_up_to([1, [2, (3, 4)]]), s.unflatten([1, 2, 3]), s.num_children))
look('kinds', lambda: (T.PyTree is not None, isinstance(spec, T.TreeSpec), spec.is_leaf(), T.tree_structure(1).is_leaf()))
""")

script("everyday.others.func", """
l = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
p = {k: v.detach() * 0 + 1 for k, v in l.named_parameters()}
x = torch.tensor([[1., 2.], [3., 5.]])
look('call', lambda: (torch.func.functional_call(l, p, (x,)), l[0].weight.shape))
look('buffers', lambda: (b := {'1.running_mean': torch.zeros(2)}, torch.func.functional_call(l, (p, b), x), b))
look('keywords', lambda: torch.func.functional_call(nn.Linear(2, 1), {'weight': torch.ones(1, 2), 'bias': torch.zeros(1)}, (), {'input': x}))
look('unknown', lambda: torch.func.functional_call(l, {'nope': x}, (x,)))
look('strict', lambda: torch.func.functional_call(l, {'0.weight': p['0.weight']}, (x,), strict=True))
look('kind', lambda: torch.func.functional_call(l, 3, (x,)))
look('same key', lambda: torch.func.functional_call(l, (p, p), (x,)))
w = {k: v.clone().requires_grad_() for k, v in p.items()}
look('gradient', lambda: torch.autograd.grad((torch.func.functional_call(l, w, (x,)) * x).sum(), list(w.values())))
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(1))
        self.b = self.a
    def forward(self, x):
        return x * self.a + self.b
look('tied', lambda: (torch.func.functional_call(Tied(), {'a': torch.zeros(1)}, x), torch.func.functional_call(Tied(), {'a': torch.zeros(1)}, x, tie_weights=False)))
models = [nn.Linear(2, 1) for _ in range(3)]
params, buffers = torch.func.stack_module_state(models)
look('stacked', lambda: ({k: (v.shape, v.requires_grad, v.is_leaf) for k, v in params.items()}, buffers))
look('vmap', lambda: torch.func.vmap(lambda p, b, x: torch.func.functional_call(models[0], (p, b), (x,)), (0, 0, None))(params, buffers, x))
look('none', lambda: torch.func.stack_module_state([]))
look('modes differ', lambda: torch.func.stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).eval()]))
look('types differ', lambda: torch.func.stack_module_state([nn.Linear(1, 1), nn.ReLU()]))
""")

script("everyday.others.checkpoint", """
import importlib
importlib.import_module(torch.__name__ + '.utils.checkpoint')
C = torch.utils.checkpoint
x = torch.tensor([1., 2.], requires_grad=True)
look('function', lambda: torch.autograd.grad(C.CheckpointFunction.apply(lambda a: a * a, True, x).sum(), x))
def backward():
    y = torch.tensor([1., 2.], requires_grad=True)
    C.CheckpointFunction.apply(lambda a: a * a, True, y).sum().backward()
    return y.grad
look('backward', backward)
look('validity', lambda: C.check_backward_validity([torch.ones(1)]))
look('validity', lambda: C.check_backward_validity([x, 3]))
look('contexts', lambda: [type(c).__name__ for c in C.noop_context_fn()])
look('policies', lambda: [(p.name, p.value) for p in C.CheckpointPolicy])
look('selective', lambda: C.SelectiveCheckpointContext(is_recompute=True).is_recompute)
look('states', lambda: C.set_device_states([], [], device_type='cpu'))
def save_sums(ctx, op, *args, **kwargs):
    return C.CheckpointPolicy.MUST_SAVE if op == torch.ops.aten.sum.default else C.CheckpointPolicy.PREFER_RECOMPUTE
look('selective checkpoint', lambda: torch.autograd.grad(C.checkpoint(lambda a: (a * a).sum() * a, x, use_reentrant=False, context_fn=lambda: C.create_selective_checkpoint_contexts(save_sums)).sum(), x))
look('wrong policy', lambda: C.create_selective_checkpoint_contexts(3))
""")

script("everyday.others.testing", """
look('assert_allclose', lambda: torch.testing.assert_allclose(torch.ones(2), torch.ones(2) + 1e-9))
look('differs', lambda: torch.testing.assert_allclose(torch.ones(2), torch.zeros(2)))
m = torch.testing.make_tensor
look('made', lambda: (m((2, 3), dtype=torch.float32, device='cpu').shape, m(3, dtype=torch.int64, device='cpu', low=0, high=5), m((2,), dtype=torch.bool, device='cpu').dtype, m(2, 2, dtype=torch.float64, device='cpu', requires_grad=True).requires_grad))
look('values', lambda: (m((4,), dtype=torch.float32, device='cpu', low=-1, high=1), m((3,), dtype=torch.complex64, device='cpu'), m((4,), dtype=torch.float32, device='cpu', exclude_zero=True)))
look('noncontiguous', lambda: m((2, 3), dtype=torch.float32, device='cpu', noncontiguous=True).is_contiguous())
look('bounds', lambda: m((2,), dtype=torch.float32, device='cpu', low=3, high=1))
look('bounds', lambda: m((2,), dtype=torch.float32, device='cpu', low=float('nan')))
look('dtype', lambda: m((2,), dtype=torch.float32, device='cpu', requires_grad=3).requires_grad)
look('integers with grad', lambda: m((2,), dtype=torch.int64, device='cpu', requires_grad=True))
""")

script("everyday.others.wrapped", """
O = torch.overrides
class Mine:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, [t.__name__ for t in types], len(args), sorted(kwargs or {})
@O.wrap_torch_function(lambda a, b=None: (a, b))
def f(a, b=None):
    "doc"
    return a
look('wrapped', lambda: (f(1), f(Mine()), f(1, b=Mine()), f.__name__, f.__doc__))
look('dlpack', lambda: (type(torch.to_dlpack(torch.ones(2))).__name__, torch.from_dlpack(torch.ones(2)), torch.utils.dlpack.DLDeviceType.kDLCPU))
look('typing', lambda: torch.types.FileLike is not None)
look('future', lambda: (u := torch.futures.Future(), u.done(), u.set_result(3), u.value(), u.done(), u.wait(), u.then(lambda v: v.value() + 1).wait()))
look('twice', lambda: (u := torch.futures.Future(), u.set_result(1), u.set_result(2)))
""")

script("everyday.others.compiled", """
C = torch.compiler
C.cudagraph_mark_step_begin()
look('outside', lambda: (C.is_compiling(), C.is_exporting(), C.is_dynamo_compiling(), C.cudagraph_mark_step_begin()))
f = lambda x: x * 2
look('marked', lambda: (C.allow_in_graph(f) is f, C.assume_constant_result(f) is f, C.allow_in_graph([f])[0] is f, C.disable(f)(torch.ones(1))))
look('not callable', lambda: C.allow_in_graph(3))
look('compiled', lambda: C.compile(lambda x: x * 2 + 1, backend='eager')(torch.ones(2)))
look('as decorator', lambda: C.compile(backend='eager')(lambda x: x - 1)(torch.ones(2)))
x = torch.ones(2, requires_grad=True)
look('gradient', lambda: torch.autograd.grad(torch.compile(lambda a: (a * a).sum(), backend='eager')(x), x))
class F(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type='cpu')
    def forward(ctx, a):
        seen.append(torch.is_autocast_enabled('cpu'))
        return a * 2
    @staticmethod
    @torch.amp.custom_bwd(device_type='cpu')
    def backward(ctx, g):
        seen.append(torch.is_autocast_enabled('cpu'))
        return g * 2
seen = []
look('outside autocast', lambda: (F.apply(x), torch.autograd.grad(F.apply(x).sum(), x), seen))
look('device', lambda: torch.amp.custom_fwd(lambda ctx: None, device_type=3))
""")

script("everyday.others.no cuda", """
U = torch.cuda
for name, args in (('default_stream', ()), ('get_device_properties', (0,)), ('get_rng_state', ()), ('initial_seed', ()), ('is_bf16_supported', ()), ('max_memory_allocated', ()), ('memory_reserved', ()),
                   ('seed', ()), ('seed_all', ()), ('set_rng_state_all', ([],))):
    look(name, lambda: getattr(torch.cuda, name)(*args))
import tempfile
d = torch.hub.get_dir()
look('hub', lambda: (torch.hub.set_dir('/nowhere/here'), torch.hub.get_dir()))
torch.hub.set_dir(d)
""")
