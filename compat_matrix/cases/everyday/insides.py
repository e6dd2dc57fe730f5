"""Names behind torch's public ones that libraries use: maps by hand, context managers, prefixes of trees, dtypes without tensors."""

from compat_matrix.cases.nn.script import script

script("everyday.insides.maps", """
from importlib import import_module
F, V = (import_module(torch.__name__ + n) for n in ('._C._functorch', '._functorch.vmap'))
x = torch.arange(6.).reshape(2, 3)
look('outside', lambda: F.get_unwrapped(x))
look('begin', lambda: F._vmap_increment_nesting(3, 'error'))
a = F._add_batch_dim(x, 1, 1)
look('inside', lambda: (a.shape, F.is_batchedtensor(a), F.maybe_get_level(a)))
y = a * 2 + 1
look('unwrapped', lambda: F.get_unwrapped(y).shape)
for d in (0, -1, 5):
    look('out', lambda: F._remove_batch_dim(y, 1, 3, d))
look('expanded', lambda: F._remove_batch_dim(torch.ones(2), 1, 3, 0))
look('second', lambda: F._vmap_increment_nesting(2, 'same'))
b = F._add_batch_dim(a, 0, 2)
look('two', lambda: (b.shape, F.maybe_get_level(b)))
z = F._remove_batch_dim(b * b, 2, 2, 0)
look('back', lambda: F._remove_batch_dim(F._remove_batch_dim(b, 2, 2, 0), 1, 3, 1))
look('end', lambda: F._vmap_decrement_nesting())
look('back', lambda: F._remove_batch_dim(z, 1, 3, 0))
look('end', lambda: F._vmap_decrement_nesting())
look('unknown', lambda: F._vmap_increment_nesting(3, 'x'))
with V.vmap_increment_nesting(2, 'error') as level:
    y = V._add_batch_dim(x, 0, level) * 2
    look('level', lambda: level)
    for d in (0, 1, None):
        look('result', lambda: V._maybe_remove_batch_dim('f', y, level, 2, d))
        look('number', lambda: V._maybe_remove_batch_dim('f', 3, level, 2, d))
w = torch.ones(3, requires_grad=True)
with V.vmap_increment_nesting(2, 'error') as level:
    out = V._remove_batch_dim((V._add_batch_dim(x, 0, level) * w).sum(), level, 2, 0)
out.pow(2).sum().backward()
look('gradient', lambda: (out, w.grad))
look('name', lambda: (V._get_name(len), V._broadcast_to_and_flatten(0, V.tree_flatten([1, 2])[1])))
""")

script("everyday.insides.contexts", """
from importlib import import_module
C = import_module(torch.__name__ + '.utils._contextlib')
seen = []
class Mode(C._DecoratorContextManager):

    def __init__(self, name):
        self.name = name

    def clone(self):
        seen.append('clone')
        return type(self)(self.name)

    def __enter__(self):
        seen.append(('in', self.name))

    def __exit__(self, *exc):
        seen.append(('out', self.name))
@Mode(3)
def f(x):
    'words'
    seen.append(x)
    return x
look('call', lambda: (f(1), f.__name__, f.__doc__, list(seen)))
seen.clear()
@Mode(4)
def g():
    try:
        got = yield 1
        seen.append(('got', got))
        yield 2
    finally:
        seen.append('end')
q = g()
look('generator', lambda: (next(q), q.send(5), q.close(), list(seen)))
seen.clear()
class Plain(C._NoParamDecoratorContextManager):

    def __enter__(self):
        seen.append('in')

    def __exit__(self, *exc):
        seen.append('out')
@Plain
def h():
    return 7
look('bare', lambda: (h(), type(Plain()).__name__, list(seen)))
seen.clear()
look('factory', lambda: (C.context_decorator(lambda: Mode(9), lambda: 3)(), list(seen)))
look('kinds', lambda: [issubclass(m, k) for m in (torch.no_grad, torch.enable_grad, torch.inference_mode, torch.set_grad_enabled, torch.autograd.forward_ad.dual_level)
                       for k in (C._DecoratorContextManager, C._NoParamDecoratorContextManager)])
look('nothing', lambda: C._DecoratorContextManager().__enter__())
look('both', lambda: C.context_decorator(torch.no_grad(), f))
""")

script("everyday.insides.prefixes", """
spread, form = torch.utils._pytree._broadcast_to_and_flatten, torch.utils._pytree.tree_structure
from collections import OrderedDict
for prefix, tree in ((0, [1, [2, 3]]), ([0, 1], [1, [2, 3]]), ((0, 1), [1, 2]), ([0], [1, 2]), ({'a': 1, 'b': 2}, {'b': 1, 'a': [2, 3]}), ({'a': 1}, {'b': 1}),
                     (None, (1, 2)), ([0, [1]], [1, 2]), (OrderedDict(a=1), {'a': 2}), ((), ())):
    look('spread', lambda: spread(prefix, form(tree)))
""")

script("everyday.insides.dtypes", """
import pickle
for n in ('qint8', 'quint8', 'qint32', 'quint4x2', 'quint2x4'):
    d = getattr(torch, n)
    look('dtype', lambda: (d, d.itemsize, d.is_floating_point, d.is_complex, d.to_real(), d.abbr, pickle.loads(pickle.dumps(d)) is d, d == torch.int8))
    look('sign', lambda: d.is_signed)
    look('complex', lambda: d.to_complex())
    look('promoted', lambda: torch.promote_types(d, torch.float32))
    look('alone', lambda: (torch.promote_types(d, d), torch.can_cast(d, torch.float32)))
    look('limits', lambda: torch.finfo(d))
    look('default', lambda: torch.set_default_dtype(d))
""")

script("everyday.insides.members", """
from importlib import import_module
M = import_module(torch.__name__ + '.nn.utils._named_member_accessor')
m=nn.Sequential(nn.Linear(2,2),nn.BatchNorm1d(2))
l=m[0]
w=torch.zeros(2,2)
look('members', lambda: M.set_tensor(l,'weight',w))
look('members', lambda: (l.weight is w, list(l._parameters), list(l.__dict__).count('weight')))
l=nn.Linear(2,2)
w0=l.weight
look('members', lambda: M.swap_tensor(l,'weight',w) is w0)
look('members', lambda: (l.weight is w, type(l._parameters['weight']).__name__))
look('members', lambda: M.swap_tensor(l,'weight',w0) is w)
look('members', lambda: M.swap_tensor(l,'nope',w))
look('members', lambda: (M.swap_tensor(l,'nope',w,allow_missing=True) is M._MISSING))
look('members', lambda: l.nope is w)
look('members', lambda: M.swap_tensor(l,'nope',None,allow_missing=True))
look('members', lambda: hasattr(l,'nope'))
look('members', lambda: M.swap_tensor(l,'a.b',w))
look('members', lambda: M.swap_tensor(l,'',w))
look('members', lambda: M.swap_tensor(3,'weight',w))
look('members', lambda: M.swap_tensor(l,'weight',3))
look('members', lambda: M.swap_tensor(l,'forward',w))
look('members', lambda: M.swap_tensor(l,'in_features',w))
b=nn.BatchNorm1d(2)
look('members', lambda: M.swap_tensor(b,'running_mean',torch.ones(2)))
look('members', lambda: b.running_mean)
look('members', lambda: M.swap_tensor(b,'running_mean',M._MISSING))
look('members', lambda: 'running_mean' in b._buffers)
look('members', lambda: str(M.swap_submodule(m,'0',nn.ReLU())))
look('members', lambda: str(m))
look('members', lambda: M.swap_submodule(m,'9',nn.ReLU()))
look('members', lambda: M.swap_submodule(m,'0',3))
look('members', lambda: M.swap_submodule(m,'a.b',nn.ReLU()))
look('members', lambda: M.swap_submodule(3,'a',nn.ReLU()))
look('members', lambda: M.swap_submodule(m,'',nn.ReLU()))
m=nn.Sequential(nn.Linear(2,2),nn.BatchNorm1d(2))
a=M.NamedMemberAccessor(m)
look('members', lambda: str(a.get_submodule('0')))
look('members', lambda: a.get_submodule('7'))
look('members', lambda: a.get_tensor('0.bias').shape)
look('members', lambda: a.get_tensor('0.zz'))
look('members', lambda: a.get_tensor('zz'))
look('members', lambda: a.get_tensor('0.in_features'))
look('members', lambda: a.set_tensor('0.bias',torch.ones(2)))
look('members', lambda: (m[0].bias,))
look('members', lambda: a.swap_tensor('0.bias',torch.zeros(2)))
look('members', lambda: a.set_tensors(['0.weight','0.bias'],[w,w[0]]))
look('members', lambda: a.get_tensors(['0.weight','0.bias']))
look('members', lambda: a.set_tensors(['0.weight'],[w,w]))
look('members', lambda: a.swap_tensors(['0.weight'],[w]))
look('members', lambda: a.swap_tensors(['0.weight'],[w,w]))
look('members', lambda: a.set_tensors_dict({'0.weight':w+1}))
look('members', lambda: a.swap_tensors_dict({'0.weight':w,'0.bias':w[0]}))
look('members', lambda: a.swap_tensors_dict({'0.weight':w,'0.q':w}))
look('members', lambda: m[0].weight)
look('members', lambda: [list(a.swap_tensors_dict({'0.q':w},allow_missing=True)[0]), len(m[0].__dict__)])
look('members', lambda: a.del_tensor('0.weight'))
look('members', lambda: hasattr(m[0],'weight'))
look('members', lambda: a.del_tensor('0.weight'))
look('members', lambda: a.del_tensors(['0.bias']))
look('members', lambda: a.check_keys(['0.weight','x']))
look('members', lambda: [n for n,_ in a.named_parameters()])
look('members', lambda: [n for n,_ in a.named_buffers()])
look('members', lambda: [n for n,_ in a.named_tensors()])
look('members', lambda: [n for n,_ in a.named_tensors(remove_duplicate=False)])
look('members', lambda: [n for n,_ in a.named_modules()])
""")

script("everyday.insides.streams", """
s = torch.Stream('cpu')
e = torch.Event('cpu')
def w():
    with s as q:
        return q is s
for n in ('device','device_index','device_type','stream_id','is_capturing','native_handle'):
    look(n, lambda: (n,getattr(s,n) if n not in ('is_capturing',) else s.is_capturing()))
for n in ('query','record_event','synchronize'):
    look(n, lambda: (n,getattr(s,n)()))
look('value', lambda: s.wait_event(e))
look('value', lambda: s.wait_stream(torch.Stream('cpu')))
look('value', lambda: s==torch.Stream('cpu'))
look('value', lambda: hash(s)==hash(torch.Stream('cpu')))
look('with', w)
for n in ('device','event_id'):
    look(n, lambda: (n,getattr(e,n)))
for n in ('query','record','wait','synchronize'):
    look(n, lambda: (n,getattr(e,n)()))
look('value', lambda: e.elapsed_time(torch.Event('cpu')))
look('value', lambda: e.record(s))
look('value', lambda: repr(torch.Event('cpu',enable_timing=True)))
look('value', lambda: repr(torch.Event(device='cpu',blocking=True,interprocess=False)))
look('value', lambda: e.query())
look('value', lambda: repr(torch.Stream('cpu',priority=1)))
look('value', lambda: repr(torch.Stream(device='cpu:0')))
look('value', lambda: repr(torch.Stream('zz')))
look('value', lambda: torch.Stream()==3)
look('value', lambda: torch.Stream()!=torch.Stream("meta"))
""")
