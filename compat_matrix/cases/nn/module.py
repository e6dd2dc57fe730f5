"""The protocol of Module: attributes, registration, lookup, state dicts, hooks, conversion."""

from compat_matrix.cases.nn.script import script

script("nn.module.noinit param", """
class N(nn.Module):

    def __init__(s):
        pass
def sa(o, n, v):
    setattr(o, n, v)
look('noinit param', lambda: sa(N(), 'a', nn.Parameter(torch.ones(1))))
look('noinit mod', lambda: sa(N(), 'a', nn.Linear(1, 1)))
look('noinit buf', lambda: sa(N(), 'a', nn.Buffer(torch.ones(1))))
look('noinit plain', lambda: sa(N(), 'a', 3))
look('noinit regbuf', lambda: N().register_buffer('a', None))
look('noinit regpar', lambda: N().register_parameter('a', None))
look('noinit addmod', lambda: N().add_module('a', None))
look('noinit getattr', lambda: N().foo)
look('noinit call', lambda: N()(1))
look('noinit params', lambda: list(N().parameters()))
""")

script("nn.module.regpar nonleaf", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
def sa(o, n, v):
    setattr(o, n, v)
for f in ('register_buffer', 'register_parameter', 'add_module'):
    v = {'register_buffer': torch.ones(1), 'register_parameter': nn.Parameter(torch.ones(1)), 'add_module': nn.Identity()}[f]
    look(f + ' name', lambda: getattr(m, f)(3, v))
    look(f + ' dot', lambda: getattr(m, f)('a.b', v))
    look(f + ' empty', lambda: getattr(m, f)('', v))
    look(f + ' exists', lambda: getattr(m, f)('x', v))
    look(f + ' bad', lambda: getattr(m, f)('q', 3))
    look(f + ' none', lambda: getattr(M(), f)('q', None))
    look(f + ' tens', lambda: getattr(m, f)('q', torch.ones(1) * 1))
    look(f + ' forward', lambda: getattr(m, f)('forward', v))
look('regpar nonleaf', lambda: m.register_parameter('q', nn.Parameter(torch.ones(1)) * 2))
look('set param to tensor', lambda: sa(m, 'p', torch.ones(2)))
look('set param to 3', lambda: sa(m, 'p', 3))
look('set mod to 3', lambda: sa(m, 'l', 3))
look('set mod to tensor', lambda: sa(m, 'l', torch.ones(1)))
look('set buf to 3', lambda: sa(m, 'b', 3))
look('set buf to param', lambda: (sa(m, 'b', nn.Parameter(torch.ones(1))), list(m._parameters), list(m._buffers)))
""")

script("nn.module.set param to module", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
def sa(o, n, v):
    setattr(o, n, v)
m = M()
look('set param to module', lambda: (sa(m, 'p', nn.Identity()), list(m._parameters), list(m._modules)))
""")

script("nn.module.set param None", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
def sa(o, n, v):
    setattr(o, n, v)
m = M()
look('set param None', lambda: (sa(m, 'p', None), m._parameters.keys(), m.p))
look('set mod None', lambda: (sa(m, 'l', None), list(m.named_modules()), m))
look('set buf None', lambda: (sa(m, 'b', None), m._buffers))
""")

script("nn.module.getattr", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('getattr', lambda: m.foo)
look('delattr', lambda: m.__delattr__('foo'))
look('delp', lambda: (m.__delattr__('p'), m.__delattr__('b'), m.__delattr__('l'), m.__delattr__('x'), m))
look('forward', lambda: nn.Module()(1))
look('forward2', lambda: nn.Module().forward())
look('init args', lambda: nn.Module(1, a=2))
look('init args2', lambda: nn.Module(a=2))
look('init args3', lambda: nn.ReLU(1, 2, 3))
look('identity args', lambda: nn.Identity(1, 2, a=3))
""")

script("nn.module.get_sub", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('get_sub', lambda: m.get_submodule('l.q'))
look('get_sub', lambda: m.get_submodule('x'))
look('get_sub', lambda: m.get_submodule(''))
look('get_sub', lambda: m.get_submodule('foo.q'))
look('get_sub p', lambda: m.get_submodule('p'))
look('gs', lambda: m.get_submodule('l..'))
look('get_par', lambda: m.get_parameter('l.q'))
look('get_par', lambda: m.get_parameter('b'))
look('get_par', lambda: m.get_parameter('l.weight'))
look('gp', lambda: m.get_parameter('zz.weight'))
look('get_buf', lambda: m.get_buffer('l.q'))
look('get_buf', lambda: m.get_buffer('p'))
look('get_buf', lambda: m.get_buffer('b'))
""")

script("nn.module.set_sub", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('set_sub', lambda: (m.set_submodule('l', nn.ReLU()), m))
look('set_sub', lambda: m.set_submodule('', nn.ReLU()))
look('set_sub', lambda: m.set_submodule('q.r', nn.ReLU()))
look('set_sub', lambda: m.set_submodule('q', nn.ReLU()))
look('set_sub', lambda: m.set_submodule('q2', nn.ReLU(), strict=True))
look('set_sub', lambda: m.set_submodule('l', 3))
look('ss', lambda: m.set_submodule('x', nn.ReLU()))
look('ss', lambda: m.set_submodule('x.y', nn.ReLU()))
""")

script("nn.module.load missing", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
sd = m.state_dict()
sd2 = dict(sd)
sd2['q'] = torch.ones(1)
sd2['l.foo'] = torch.ones(1)
sd2['z.foo'] = 3
look('load missing', lambda: m.load_state_dict({}))
look('load missing ns', lambda: m.load_state_dict({}, strict=False))
look('load unexpected', lambda: m.load_state_dict(sd2))
look('load unexpected ns', lambda: m.load_state_dict(sd2, strict=False))
look('load ok', lambda: m.load_state_dict(sd))
look('load ok str', lambda: str(m.load_state_dict(sd)))
""")

script("nn.module.load shapes", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
sd = m.state_dict()
sd3 = dict(sd)
sd3['p'] = torch.ones(3)
sd3['l.weight'] = torch.ones(4)
sd3['b'] = [1, 2]
look('load shapes', lambda: m.load_state_dict(sd3))
""")

script("nn.module.load shapes ns", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
sd = m.state_dict()
sd3 = dict(sd)
sd3['p'] = torch.ones(3)
sd3['l.weight'] = torch.ones(4)
sd3['b'] = [1, 2]
sd3['k'] = 1
look('load shapes ns', lambda: m.load_state_dict(sd3, strict=False))
look('load all', lambda: m.load_state_dict(sd3))
look('load type', lambda: m.load_state_dict([1]))
look('load type', lambda: m.load_state_dict(None))
""")

script("nn.module.load complex", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
sd = m.state_dict()
sd4 = dict(sd)
sd4['p'] = torch.ones(2).to(torch.complex64)
look('load complex', lambda: m.load_state_dict(sd4))
look('load int', lambda: m.load_state_dict({**sd, 'p': torch.ones(2).int()}))
look('load int assign', lambda: m.load_state_dict({**sd, 'p': torch.ones(2).int()}, assign=True))
look('load dbl assign', lambda: (m.load_state_dict({**sd, 'p': torch.ones(2).double()}, assign=True), m.p))
look('load sc', lambda: nn.Module.load_state_dict((P1 := type('P1', (nn.Module,), {})()), {}))
""")

script("nn.module.scalar from 1", """
class Sc(nn.Module):

    def __init__(s):
        super().__init__()
        s.s = nn.Parameter(torch.tensor(1.0))
look('scalar from 1', lambda: Sc().load_state_dict({'s': torch.ones(1)}))
look('scalar from 2', lambda: Sc().load_state_dict({'s': torch.ones(2)}))
look('1 from scalar', lambda: nn.ParameterList([torch.ones(1)]).load_state_dict({'0': torch.tensor(1.0)}))
""")

script("nn.module.to int", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('to int', lambda: m.to(torch.int32))
look('to3', lambda: m.to(3.5))
look('to complex', lambda: M().to(torch.complex64).p)
look('to str', lambda: m.to('cuda'))
look('to tensor', lambda: M().to(torch.ones(1).double()).p)
look('to kw', lambda: M().to(dtype=torch.float64).b)
look('to dev dt', lambda: M().to('cpu', torch.float16).b)
look('cuda', lambda: m.cuda())
look('type', lambda: M().type(torch.float64).b)
look('type s', lambda: M().type('torch.DoubleTensor').b)
look('to nb', lambda: M().to('cpu', non_blocking=True))
look('to mf', lambda: M().to(memory_format=torch.channels_last))
look('to empty', lambda: M().to_empty(device='cpu').p.shape)
look('to_empty', lambda: M().to_empty())
look('to()', lambda: M().to())
""")

script("nn.module.train", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('train', lambda: m.train(3))
look('train', lambda: m.train('x'))
look('train', lambda: m.train(None))
look('zero_grad', lambda: m.zero_grad(set_to_none=False))
look('state_dict pos', lambda: m.state_dict(collections.OrderedDict(), 'pre.'))
look('state_dict3', lambda: m.state_dict(collections.OrderedDict(), 'pre.', True))
look('state_dict4', lambda: m.state_dict(1, 2, 3, 4))
look('meta', lambda: m.state_dict(prefix='a.')._metadata)
look('type', lambda: type(m.state_dict()))
look('dir', lambda: [n for n in dir(m) if not n.startswith('_')])
look('dir2', lambda: [n for n in dir(nn.ModuleList([nn.ReLU()])) if n[0] != '_' or n[0].isdigit()][:4])
look('vars', lambda: list(vars(nn.Module())))
look('vars', lambda: vars(nn.Module()))
look('apply', lambda: m.apply(lambda k: note(type(k).__name__)) is m)
""")

script("nn.module.get_extra", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('get_extra', lambda: m.get_extra_state())
look('set_extra', lambda: m.set_extra_state(1))
""")

script("nn.module.extra", """
class Ex(nn.Module):

    def get_extra_state(s):
        return {'a': 1}

    def set_extra_state(s, x):
        s.y = x
look('extra', lambda: (Ex().state_dict(), Ex().load_state_dict({'_extra_state': 3})))
look('extra', lambda: Ex().load_state_dict({}))
""")

script("nn.module.extra2", """
class Ex2(nn.Module):

    def get_extra_state(s):
        return 1
look('extra2', lambda: Ex2().load_state_dict({'_extra_state': 3}))
""")

script("nn.module.extra3", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
sd = m.state_dict()
look('extra3', lambda: M().load_state_dict({**sd, '_extra_state': 3}))
look('hook prepend', lambda: m.register_forward_hook(3))
look('both', lambda: (m.register_backward_hook(lambda *a: None), m.register_full_backward_hook(lambda *a: None)))
""")

script("nn.module.both2", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('both2', lambda: (m.register_full_backward_hook(lambda *a: None), m.register_backward_hook(lambda *a: None)))
""")

script("nn.module.namedpar", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('namedpar', lambda: [n for n, _ in m.named_parameters('pre')])
look('nb', lambda: [n for n, _ in m.named_buffers('pre')])
look('nm', lambda: [n for n, _ in m.named_modules(prefix='pre')])
look('fph bad', lambda: (m.register_forward_pre_hook(lambda mod, a, k: 3, with_kwargs=True), m.l, m(1)))
""")

script("nn.module.fph bad", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('fph bad', lambda: f(torch.ones(1)))
""")

script("nn.module.fph bad 2", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('fph bad', lambda: f(torch.ones(1)))
""")

script("nn.module.fph 3", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('fph 3', lambda: f(torch.ones(1)))
""")

script("nn.module.fbh bad", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('fbh bad', lambda: f(torch.ones(1, requires_grad=True)).sum().backward())
""")

script("nn.module.fbh", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('fbh', lambda: f(torch.ones(1, requires_grad=True)).sum().backward())
look('fbh nograd', lambda: f(torch.ones(1)))
look('fbh inplace', lambda: f(torch.ones(1, requires_grad=True)).mul_(2))
look('fbh fn', lambda: f(torch.ones(1, requires_grad=True)).grad_fn.name())
look('fbh nograd fn', lambda: f(torch.ones(1), nn.Parameter(torch.ones(1))).sum().backward())
""")

script("nn.module.fbph bad", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('fbph bad', lambda: f(torch.ones(1, requires_grad=True)).sum().backward())
""")

script("nn.module.fbph tensor", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('fbph tensor', lambda: ((x := torch.ones(1, requires_grad=True)), f(x).sum().backward(), x.grad))
""")

script("nn.module.bh", """
class Fw(nn.Module):

    def forward(s, x, y=1):
        return x * y
f = Fw()
look('bh', lambda: f(torch.ones(1, requires_grad=True)).sum().backward())
""")

script("nn.module.bh tuple", """
class Ten(nn.Module):

    def forward(s, x):
        return (x * 2, 3)
f = Ten()
f.register_backward_hook(lambda mod, gi, go: note('bh', gi, go))
look('bh tuple', lambda: f(torch.ones(1, requires_grad=True))[0].sum().backward())
""")

script("nn.module.bh dict", """
class Ten(nn.Module):

    def forward(s, x):
        return {'a': (x * 2).exp()}
f = Ten()
f.register_backward_hook(lambda mod, gi, go: note('bh', gi, go))
look('bh dict', lambda: f(torch.ones(1, requires_grad=True))['a'].sum().backward())
""")

script("nn.module.fbh dict", """
class Ten(nn.Module):

    def forward(s, x):
        return {'a': (x * 2).exp()}
f = Ten()
f.register_full_backward_hook(lambda mod, gi, go: note('fbh', gi, go))
look('fbh dict', lambda: f(torch.ones(1, requires_grad=True))['a'].sum().backward())
""")

script("nn.module.bh two", """
class Two(nn.Module):

    def forward(s, x):
        return (x * 2).exp()
f = Two()
f.register_backward_hook(lambda mod, gi, go: note('bh', gi, go))
look('bh two', lambda: f(torch.ones(1, requires_grad=True)).sum().backward())
""")

script("nn.module.always", """
class Bad(nn.Module):

    def forward(s, x):
        raise ValueError('bad')
f = Bad()
look('always', lambda: f(1))
""")

script("nn.module.always2", """
class Bad(nn.Module):

    def forward(s, x):
        raise ValueError('bad')
f = Bad()
look('always2', lambda: f(1))
""")

script("nn.module.compile", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
def sa(o, n, v):
    setattr(o, n, v)
m = M()
look('compile', lambda: m.compile)
look('Param repr', lambda: repr(nn.Parameter(torch.ones(2))))
look('buf repr', lambda: repr(nn.Buffer(torch.ones(2))))
look('buf type', lambda: (type(nn.Buffer(torch.ones(2))), nn.Buffer(torch.ones(2)).persistent, isinstance(nn.Buffer(torch.ones(2)), nn.Buffer), isinstance(torch.ones(2), nn.Buffer), isinstance(torch.ones(2), nn.Parameter)))
look('buf', lambda: nn.Buffer())
look('par', lambda: nn.Parameter())
look('bufp', lambda: nn.Buffer(torch.ones(1), persistent=False).__dict__)
look('par tens sub', lambda: isinstance(nn.Parameter(nn.Buffer(torch.ones(2))), nn.Buffer))
look('par int', lambda: nn.Parameter(torch.ones(2).int()))
look('par list', lambda: nn.Parameter([1.0]))
look('setbuf', lambda: (sa(m, 'nb', nn.Buffer(torch.ones(1), persistent=False)), m._buffers, m._non_persistent_buffers_set))
look('setbuf2', lambda: (sa(m, 'nb', torch.ones(1)), m._buffers, m._non_persistent_buffers_set, sa(m, 'nb', nn.Buffer(torch.ones(1))), m._non_persistent_buffers_set))
""")

script("nn.module.metaclass", """
import abc, typing
class A(abc.ABC, nn.Module):
    @abc.abstractmethod
    def forward(self, x): ...
class B(A):
    def forward(self, x):
        return x + 1
class Meta(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.by = cls.__name__
        return made
class C(nn.Linear, metaclass=Meta):
    pass
T = typing.TypeVar('T')
class D(nn.Module, typing.Generic[T]):
    pass
look('metaclass', lambda: type(nn.Module).__name__)
look('abstract', lambda: A())
look('concrete', lambda: B()(torch.ones(1)))
look('own metaclass', lambda: C(1, 1).by)
look('generic', lambda: str(D[int]()))
look('shown', lambda: [str(type(m)) for m in (nn.Linear(1, 1), nn.ReLU(), nn.Sequential())])
""")
