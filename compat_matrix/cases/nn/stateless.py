"""Modules called with other tensors, and parametrizations that are their own inverse."""

from compat_matrix.cases.nn.script import script

SETUP = """
class M(nn.Module):
    def __init__(s):
        super().__init__()
        s.l1 = nn.Linear(1, 1)
        s.register_buffer('buffer', torch.ones(1))
        s.foo = 0.0
    def forward(s, x):
        return s.l1(x) + s.buffer
x, W, B = torch.ones(1, 1), torch.tensor([[2.]]), torch.tensor([3.])
m = M()
call = torch.func.functional_call
"""

script("nn.stateless.what is refused", SETUP + """
for bad in ({'l1.weight': 3}, {'l2.weight': W}, {'foo': W}, {'': W}, {'.': W}, {'buffer': nn.Linear(1, 1)}, {'l1.weight': W, 'buffer': 2}, 3, [3]):
    look('refused', lambda: call(m, bad, x))
    look('untied', lambda: call(m, bad, x, tie_weights=False))
look('a name that is not there', lambda: (call(m, {'l1.foo': W}, x).shape, hasattr(m.l1, 'foo')))
look('strict', lambda: call(m, {'l1.weight': W, 'bad': W, 'a': W}, x, strict=True))
look('none', lambda: call(m, {'l1.bias': None, 'l1.weight': W}, x))
look('no module', lambda: call(3, {'l1.bias': B}, x))
note(m.l1.weight, m.l1.bias, m.buffer)
""")

script("nn.stateless.what the module replaces is written back", SETUP + """
class Buffer(nn.Module):
    def __init__(s, how):
        super().__init__()
        s.how = how
        s.register_buffer('b', torch.zeros(1))
    def forward(s, x):
        s.how(s)
        return x
def replaced(s): s.b = s.b + 1
def written(s): s.b.add_(1)
def gone(s): del s.b
def fails(s):
    s.b = s.b + 1
    raise ValueError('after')
for how in (replaced, written, gone, fails):
    for given in ({'b': torch.ones(1)}, ({'b': torch.ones(1)},)):
        e = Buffer(how)
        look(how.__name__, lambda: call(e, given, x))
        note(given, e.b)
class Own(nn.Module):
    def forward(s, x):
        s.t = s.t * 2
        return x
e, given = Own(), {'t': torch.ones(1, requires_grad=True)}
look('an attribute', lambda: call(e, given, x))
note(given['t'].grad_fn is not None, hasattr(e, 't'))
""")

script("nn.stateless.names of one tensor", SETUP + """
m.tied = m.l1.bias
m.register_buffer('again', m.buffer)
for tie in (True, False):
    for given in ({'tied': B}, {'tied': B, 'l1.bias': W[0]}, {'tied': B, 'l1.bias': B}, {'again': B, 'buffer': W[0]}, {'again': B}):
        look('given', lambda: call(m, given, x, tie_weights=tie))
    look('strict', lambda: call(m, {'tied': B, 'again': B, 'l1.weight': W}, x, tie_weights=tie, strict=True))
""")

script("nn.utils.pz orthogonal without trivialization", """
P, O = nn.utils.parametrize, nn.utils.parametrizations.orthogonal
for shape in ((3, 5), (5, 3), (4, 4)):
    for kind in ('householder', 'cayley', 'matrix_exp'):
        l = nn.Linear(*shape).double()
        look(kind, lambda: O(l, orthogonal_map=kind, use_trivialization=False).weight)
        w = nn.init.orthogonal_(torch.empty(l.weight.shape).double())
        look('set', lambda: setattr(l, 'weight', w))
        look('is', lambda: l.weight)
""")

script("nn.utils.pz left with another dtype", """
P = nn.utils.parametrize
class D(nn.Module):
    def forward(s, x):
        return x.double()
l = nn.Linear(2, 2)
P.register_parametrization(l, 'bias', D(), unsafe=True)
look('left', lambda: P.remove_parametrizations(l, 'bias'))
look('still', lambda: (l.bias, P.is_parametrized(l)))
with P.cached():
    note(l.bias is l.bias, P._cache_enabled, len(P._cache))
note(l.bias is l.bias, P._cache_enabled, len(P._cache))
""")
