"""Hooks of modules and of all modules, registration rules, conversions."""

from compat_matrix.cases.nn.script import script

script("nn.hooks.np", """
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
note(list(vars(nn.Module()).items()))
m.register_buffer('np', torch.ones(1), persistent=False)
look('np', lambda: (m._non_persistent_buffers_set.copy(), sa(m, 'np', torch.zeros(1)), m._non_persistent_buffers_set.copy(), sa(m, 'np', nn.Buffer(torch.ones(1))), m._non_persistent_buffers_set.copy(), sa(m, 'b', nn.Buffer(torch.ones(1), persistent=False)), m._non_persistent_buffers_set.copy()))
look('np none', lambda: (sa(m, 'b', None), m._non_persistent_buffers_set.copy(), sa(m, 'b', torch.ones(1)), m._non_persistent_buffers_set.copy()))
look('buf over plain', lambda: (sa(m, 'x', nn.Buffer(torch.ones(1))), 'x' in m.__dict__))
look('buf over module', lambda: sa(m, 'l', nn.Buffer(torch.ones(1))))
look('buf over param', lambda: sa(m, 'p', nn.Buffer(torch.ones(1))))
look('mod over buf', lambda: (sa(m, 'b', nn.ReLU()), m._buffers.keys()))
look('plain tensor attr', lambda: (sa(m, 'tt', torch.ones(1)), 'tt' in m.__dict__))
""")

script("nn.hooks.regbuf twice", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('regbuf twice', lambda: m.register_buffer('b', torch.ones(1)))
look('regpar nonleaf', lambda: m.register_parameter('q', nn.Parameter(torch.ones(1)).mul(2).as_subclass(nn.Parameter)))
look('regpar tensor', lambda: m.register_parameter('q', torch.ones(1)))
look('regpar int', lambda: m.register_parameter('q', 1))
look('sdhook bad', lambda: (m.register_state_dict_post_hook(lambda *a: 3), m.state_dict()))
""")

script("nn.hooks.sdprehook", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('sdprehook', lambda: (m.register_state_dict_pre_hook(lambda *a: note('pre', a[1:])), m.state_dict(prefix='x.')))
""")

script("nn.hooks.sdhook", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('sdhook', lambda: (m._register_state_dict_hook(lambda mod, sd, pre, lm: {'r': 1}), m.state_dict()))
""")

script("nn.hooks.sdhook both", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('sdhook both', lambda: (m.register_state_dict_post_hook(lambda mod, sd, pre, lm: note(list(sd), pre, lm)), m.state_dict(prefix='k.').keys()))
""")

script("nn.hooks.loadpost bad", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('loadpost bad', lambda: (m.register_load_state_dict_post_hook(lambda mod, ik: 3), m.load_state_dict(m.state_dict())))
""")

script("nn.hooks.loadpost", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('loadpost', lambda: (m.register_load_state_dict_post_hook(lambda mod, ik: ik.missing_keys.clear() and None), m.load_state_dict({})))
""")

script("nn.hooks.loadpre", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('loadpre', lambda: (m.register_load_state_dict_pre_hook(lambda mod, sd, pre, lm, s, mk, uk, em: note(type(mod).__name__, list(sd), pre, lm, s, mk, uk, em)), m.load_state_dict(m.state_dict())))
""")

script("nn.hooks._loadpre", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('_loadpre', lambda: (m._register_load_state_dict_pre_hook(lambda sd, pre, lm, s, mk, uk, em: em.append('oops')), m.load_state_dict(m.state_dict())))
""")

script("nn.hooks.same hooks", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('same hooks', lambda: (m.register_state_dict_post_hook((f := (lambda *a: None))), m._register_state_dict_hook(f)))
look('same hooks2', lambda: (m._register_state_dict_hook((f := (lambda *a: None))), m.register_state_dict_post_hook(f)))
""")

script("nn.hooks.compile", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
look('compile', lambda: (m.compile(backend='eager'), m._compiled_call_impl is not None))
""")

script("nn.hooks.bh list out", """
class O(nn.Module):

    def __init__(s, f):
        super().__init__()
        s.f = f

    def forward(s, *a, **k):
        return s.f(*a, **k)
X = lambda: torch.ones(1, requires_grad=True)
def bh(f, *a):
    o = O(f)
    o.register_backward_hook(lambda m, gi, go: note('  bh', gi, go))
    return o(*a)
look('bh list out', lambda: bh(lambda x: [x * 2], X()))
look('bh input dict', lambda: bh(lambda x: x['a'] * 2, {'a': X()}))
look('bh outs diff', lambda: bh(lambda x: (x * 2, x * 3), X()))
look('bh outs same', lambda: bh(lambda x: (x * 2).chunk(1), X()))
look('bh mul2', lambda: bh(lambda x, y: x * y, X(), X()))
look('bh chained input', lambda: bh(lambda x: x.exp(), X() * 2))
look('bh param only', lambda: bh(lambda x: x * X(), torch.ones(1)))
look('bh int', lambda: bh(lambda x: 3, X()))
look('bh none', lambda: bh(lambda x: None, X()))
look('bh nog', lambda: bh(lambda x: x * 2, torch.ones(1)))
""")

script("nn.hooks.f list", """
class O(nn.Module):

    def __init__(s, f):
        super().__init__()
        s.f = f

    def forward(s, *a, **k):
        return s.f(*a, **k)
X = lambda: torch.ones(1, requires_grad=True)
def fb(f, *a, **k):
    o = O(f)
    o.register_full_backward_hook(lambda m, gi, go: note('  fbh', gi, go))
    r = o(*a, **k)
    return r
look('f list', lambda: fb(lambda x: [x * 2], X()))
look('f none', lambda: fb(lambda x: None, X()))
look('f tuple mixed', lambda: ((r := fb(lambda x: (x * 2, 3), X())), r[0].sum().backward()))
look('f kw', lambda: fb(lambda x=None: x * 2, x=X()).backward())
look('f param only', lambda: fb(lambda x: x * X(), torch.ones(1)).backward())
look('f nothing', lambda: fb(lambda: X() * 2).backward())
look('f two outs one used', lambda: fb(lambda x: (x * 2, x * 3), X())[0].backward())
look('f noninput list', lambda: fb(lambda x: x[0] * 2, [X()]).backward())
look('f int out', lambda: fb(lambda x: torch.ones(1).long(), X()))
look('f twice', lambda: ((r := fb(lambda x: x * 2, X())), r.backward(retain_graph=True), r.backward()))
look('f args mixed', lambda: fb(lambda a, x, b: x * a, 2, X(), 's').backward())
look('f nt', lambda: fb(lambda x: __import__('collections').namedtuple('P', 'a b')(x * 2, x * 3), X()))
look('f ret input', lambda: fb(lambda x: x, X()).grad_fn)
""")

script("nn.hooks.pre", """
class O(nn.Module):

    def __init__(s, f):
        super().__init__()
        s.f = f

    def forward(s, *a, **k):
        return s.f(*a, **k)
X = lambda: torch.ones(1, requires_grad=True)
def pre(f, *a):
    o = O(f)
    o.register_full_backward_pre_hook(lambda m, go: (note('  pre', go), (go[0] * 3,))[1])
    o.register_full_backward_hook(lambda m, gi, go: (note('  fbh', gi, go), (gi[0] * 10,))[1])
    return o(*a)
look('pre', lambda: ((x := X()), pre(lambda x: x * 2, x).backward(), x.grad))
""")

script("nn.hooks.some_inputs", """
class O(nn.Module):

    def forward(s, x, target, scale):
        return (x[target] * scale).sum()

def replaced(hook):
    o, x = O(), torch.ones(3, requires_grad=True)
    o.register_full_backward_hook(hook)
    o(x, torch.tensor([0, 2]), torch.tensor(2.0)).backward()
    return x.grad
look('none', lambda: replaced(lambda m, gi, go: note(gi, go)))
look('same', lambda: replaced(lambda m, gi, go: gi))
look('times', lambda: replaced(lambda m, gi, go: tuple(g * 3 for g in gi)))
look('first', lambda: replaced(lambda m, gi, go: (gi[0] * 3, None, None)))
look('gone', lambda: replaced(lambda m, gi, go: (None, None, None)))
""")

script("nn.hooks.multi", """
class O(nn.Module):

    def __init__(s, f):
        super().__init__()
        s.f = f

    def forward(s, *a, **k):
        return s.f(*a, **k)
X = lambda: torch.ones(1, requires_grad=True)
def multi():
    o = O(lambda x: x * 2)
    for i in range(3):
        o.register_full_backward_hook(lambda m, gi, go, i=i: note('  h', i, gi), prepend=i == 2)
        o.register_full_backward_pre_hook(lambda m, go, i=i: note('  p', i), prepend=i == 2)
        o.register_forward_hook(lambda m, a, r, i=i: note('  f', i, r), prepend=i == 2)
        o.register_forward_pre_hook(lambda m, a, i=i: note('  fp', i, a), prepend=i == 2)
    o.register_forward_hook(lambda m, a, k, r: (note(a, k), r * 5)[1], with_kwargs=True)
    o.register_forward_hook(lambda m, a, r: note('last', r))
    x = X()
    o(x).backward()
    return x.grad
look('multi', multi)
""")

script("nn.hooks.glob", r"""
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
class O(nn.Module):

    def __init__(s, f):
        super().__init__()
        s.f = f

    def forward(s, *a, **k):
        return s.f(*a, **k)
X = lambda: torch.ones(1, requires_grad=True)
def glob():
    hs = [mm.register_module_forward_pre_hook(lambda m, a: note('  gpre', type(m).__name__)), mm.register_module_forward_hook(lambda m, a, r: note('  gfwd', type(m).__name__)), mm.register_module_full_backward_hook(lambda m, gi, go: note('  gbw', type(m).__name__)), mm.register_module_full_backward_pre_hook(lambda m, go: note('  gbwp')), mm.register_module_parameter_registration_hook(lambda m, n, p: note('  gparam', n)), mm.register_module_buffer_registration_hook(lambda m, n, p: note('  gbuf', n)), mm.register_module_module_registration_hook(lambda m, n, p: note('  gmod', n))]
    hh = mm.register_module_forward_hook(lambda m, a, k, r: note('  gk', k), with_kwargs=True)
    o = M()
    q = O(lambda x, y=1: x * 2)
    q.register_forward_hook(lambda *a: note('  own'))
    q.register_forward_pre_hook(lambda *a: note('  ownpre'))
    q.register_full_backward_hook(lambda *a: note('  ownb'))
    q(X(), y=3).backward()
    for h in hs:
        h.remove()
    hh.remove()
look('glob', glob)
look('glob both', lambda: ((h := mm.register_module_backward_hook(lambda *a: None)), mm.register_module_full_backward_hook(lambda *a: None)))
look('addindent', lambda: mm._addindent('a\nb\nc', 2))
""")

script("nn.hooks.rep", r"""
class Ext(nn.Module):

    def extra_repr(s):
        return 'a=1\nb=2'
class Ext2(Ext):

    def __init__(s):
        super().__init__()
        s.c = nn.ReLU()
class Ext3(Ext2):

    def extra_repr(s):
        return 'one'
look('rep', lambda: Ext())
look('rep2', lambda: Ext2())
look('rep3', lambda: (Ext3(),))
""")

script("nn.hooks.rep4", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
class R(M):

    def _get_name(s):
        return 'Other'
look('rep4', lambda: R())
look('pick', lambda: __import__('pickle').loads(__import__('pickle').dumps(nn.Linear(1, 1))))
""")

script("nn.hooks.to copy", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
m = M()
def grads():
    m = nn.Linear(1, 1)
    m(torch.ones(1, 1)).sum().backward()
    g = m.weight.grad
    m.double()
    return (m.weight.grad, m.weight.grad is g)
look('to copy', lambda: ((m := nn.Linear(1, 1)), (w := m.weight), m.double(), m.weight is w, m.weight.is_leaf))
look('grads to', grads)
look('reqgrad', lambda: ((m := nn.Linear(1, 1)), m.requires_grad_(False), m.weight.requires_grad))
look('hook handle', lambda: ((h := M().register_forward_hook(note)), h.id >= 0, h.remove(), h.remove()))
look('dir', lambda: 'p' in dir(M()) and 'b' in dir(M()) and ('l' in dir(M())))
look('call_super', lambda: type('K', (nn.Module,), {'call_super_init': True})(3))
look('call_super no', lambda: type('K', (nn.Module,), {})(3))
look('call_super no', lambda: type('K', (nn.Module,), {})(3, 4))
""")

script("nn.hooks.csi", """
class A1:

    def __init__(s, q=0):
        s.q = q
class K1(nn.Module, A1):
    call_super_init = True
look('csi', lambda: K1(q=3).q)
""")

script("nn.hooks.half", """
class M(nn.Module):

    def __init__(s):
        super().__init__()
        s.l = nn.Linear(2, 2)
        s.p = nn.Parameter(torch.ones(2))
        s.register_buffer('b', torch.zeros(2))
        s.x = 3
look('half', lambda: M().half().p.dtype)
look('bf', lambda: M().bfloat16().b.dtype)
look('type int', lambda: M().type(torch.int32))
look('buffers int', lambda: ((b := nn.BatchNorm1d(2)), b.double().num_batches_tracked.dtype, b.half().running_mean.dtype))
look('to c64 buf', lambda: M().to(torch.complex128).b.dtype)
look('ipu', lambda: M().ipu())
look('xpu', lambda: M().xpu())
look('mtia', lambda: M().mtia())
look('cuda0', lambda: M().cuda(0))
""")

script("nn.hooks.shared", """
SH = (lambda l: nn.ModuleList([l, l]))(nn.Linear(1, 1))
look('shared', lambda: ([n for n, _ in SH.named_parameters()], [n for n, _ in SH.named_parameters(remove_duplicate=False)], [n for n, _ in SH.named_modules(remove_duplicate=False)], list(SH.modules(remove_duplicate=False)), SH.state_dict().keys(), list(SH.children()), list(SH.named_children())))
look('load nonstrict submodule missing', lambda: nn.Sequential(nn.Linear(1, 1)).load_state_dict({'0.weight': torch.ones(1, 1)}, strict=False))
look('version', lambda: nn.BatchNorm1d(2).state_dict()._metadata)
look('bn old', lambda: nn.BatchNorm1d(2).load_state_dict({k: v for k, v in nn.BatchNorm1d(2).state_dict().items() if 'num' not in k}))
""")
