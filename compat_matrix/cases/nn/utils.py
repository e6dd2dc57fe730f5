"""torch.nn.utils."""

from compat_matrix.cases.nn.script import script

script("nn.utils.wn", """
U = nn.utils
m = nn.Linear(2, 3)
look('wn', lambda: (U.weight_norm(m), [n for n, _ in m.named_parameters()], m.weight_g.shape, m.weight, type(m.weight), m(torch.ones(1, 2)).shape, 'weight' in m.__dict__))
""")

script("nn.utils.wn twice", """
U = nn.utils
m = nn.Linear(2, 3)
look('wn twice', lambda: U.weight_norm(m))
look('rm', lambda: (U.remove_weight_norm(m), [n for n, _ in m.named_parameters()], m._forward_pre_hooks))
look('rm2', lambda: U.remove_weight_norm(m))
m = nn.Linear(2, 3)
look('wn none', lambda: (U.weight_norm(m, dim=None), m.weight_g.shape, m.weight))
m = nn.Linear(2, 3)
look('wn dim1', lambda: (U.weight_norm(m, dim=1), m.weight_g.shape))
look('wn bad', lambda: U.weight_norm(nn.Linear(1, 1), 'foo'))
look('wnbias', lambda: ((mm := U.weight_norm(nn.Linear(2, 2), 'bias')), mm.bias_g.shape))
""")

script("nn.utils.sn", """
U = nn.utils
m = nn.Linear(2, 3)
look('sn', lambda: (U.spectral_norm(m), [n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], m(torch.ones(1, 2)), m.weight, m.state_dict().keys(), m.state_dict()._metadata))
look('sn2', lambda: U.spectral_norm(m))
look('snr', lambda: (U.remove_spectral_norm(m), [n for n, _ in m.named_parameters()], m.weight))
look('snr2', lambda: U.remove_spectral_norm(m))
look('snbad', lambda: U.spectral_norm(nn.Linear(1, 1), n_power_iterations=0))
look('snbad2', lambda: U.spectral_norm(nn.Linear(2, 2), 'foo'))
""")

script("nn.utils.sneval", """
U = nn.utils
m = nn.Linear(2, 3)
U.spectral_norm(m)
m.eval()
look('sneval', lambda: m(torch.ones(1, 2)))
""")

script("nn.utils.pz wn", """
PZ = torch.nn.utils.parametrizations
m = nn.Linear(2, 3)
look('pz wn', lambda: (PZ.weight_norm(m), m, [n for n, _ in m.named_parameters()], m.weight, m.state_dict().keys()))
""")

script("nn.utils.pz sn", """
PZ = torch.nn.utils.parametrizations
m = nn.Linear(2, 3)
look('pz sn', lambda: (PZ.spectral_norm(m), m, [n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], m.weight))
""")

script("nn.utils.pz or", """
PZ = torch.nn.utils.parametrizations
m = nn.Linear(3, 3)
look('pz or', lambda: (PZ.orthogonal(m), m, [n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], m.weight @ m.weight.T))
""")

script("nn.utils.pz or cay", """
PZ = torch.nn.utils.parametrizations
m = nn.Linear(2, 3)
look('pz or cay', lambda: (PZ.orthogonal(m, orthogonal_map='cayley'), m.weight))
look('pz bad', lambda: PZ.orthogonal(nn.Linear(2, 3), orthogonal_map='foo'))
look('pz hh', lambda: PZ.orthogonal(nn.Linear(2, 3), orthogonal_map='householder').weight)
look('pzbad', lambda: PZ.orthogonal(nn.Linear(2, 3), 'bias'))
look('pz no', lambda: PZ.spectral_norm(nn.Linear(2, 2), 'foo'))
look('pz no', lambda: PZ.orthogonal(nn.Linear(2, 2), 'foo'))
look('pz no', lambda: PZ.weight_norm(nn.Linear(2, 2), 'foo'))
""")

script("nn.utils.reg", """
def sa(o, n, v):
    setattr(o, n, v)
P = torch.nn.utils.parametrize
class Sym(nn.Module):

    def forward(s, x):
        return x.triu() + x.triu(1).transpose(-1, -2)
m = nn.Linear(2, 2)
look('reg', lambda: P.register_parametrization(m, 'weight', Sym()))
look('type', lambda: (type(m).__name__, type(m).__mro__[1].__name__, m.parametrizations, m.weight, P.is_parametrized(m), P.is_parametrized(m, 'weight'), P.is_parametrized(m, 'bias'), P.type_before_parametrizations(m), [n for n, _ in m.named_parameters()], list(m._parameters)))
look('set', lambda: sa(m, 'weight', torch.ones(2, 2)))
""")

script("nn.utils.chain", """
P = torch.nn.utils.parametrize
m = nn.Linear(2, 2)
class Ex(nn.Module):

    def forward(s, x):
        return x.exp()

    def right_inverse(s, y):
        return y.log()
look('chain', lambda: (P.register_parametrization(m, 'weight', Ex()), m.weight.shape))
""")

script("nn.utils.setinv", """
def sa(o, n, v):
    setattr(o, n, v)
P = torch.nn.utils.parametrize
class Ex(nn.Module):

    def forward(s, x):
        return x.exp()

    def right_inverse(s, y):
        return y.log()
m2 = nn.Linear(2, 2)
P.register_parametrization(m2, 'weight', Ex())
look('setinv', lambda: (sa(m2, 'weight', torch.full((2, 2), 2.0)), m2.weight, m2.parametrizations.weight.original))
""")

script("nn.utils.setinv 2", """
def sa(o, n, v):
    setattr(o, n, v)
m = nn.Linear(2, 2)
m2 = nn.Linear(2, 2)
look('setinv', lambda: (sa(m2, 'weight', torch.full((2, 2), 2.0)), m2.weight, m2.parametrizations.weight.original))
look('setbad', lambda: sa(m, 'weight', torch.ones(2, 2)))
""")

script("nn.utils.cached", """
P = torch.nn.utils.parametrize
m = nn.Linear(2, 2)
m2 = nn.Linear(2, 2)
with P.cached():
    look('cached', lambda: m2.weight is m2.weight)
look('notcached', lambda: m2.weight is m2.weight)
look('rm', lambda: (P.remove_parametrizations(m2, 'weight'), type(m2), m2.weight, [n for n, _ in m2.named_parameters()], m2.weight.is_leaf))
look('rm bad', lambda: P.remove_parametrizations(m2, 'weight'))
look('rm orig', lambda: P.remove_parametrizations(m, 'weight', leave_parametrized=False))
""")

script("nn.utils.rmo", """
P = torch.nn.utils.parametrize
class Sym(nn.Module):

    def forward(s, x):
        return x.triu() + x.triu(1).transpose(-1, -2)
m = nn.Linear(2, 2)
P.register_parametrization(m, 'weight', Sym())
look('rmo', lambda: (P.remove_parametrizations(m, 'weight', leave_parametrized=False), m.weight))
""")

script("nn.utils.bad name", """
P = torch.nn.utils.parametrize
class Sym(nn.Module):

    def forward(s, x):
        return x.triu() + x.triu(1).transpose(-1, -2)
m = nn.Linear(2, 2)
look('bad name', lambda: P.register_parametrization(m, 'foo', Sym()))
look('bad shape', lambda: P.register_parametrization(m, 'weight', nn.Flatten(0)))
look('bad dtype', lambda: P.register_parametrization(m, 'weight', type('D', (nn.Module,), {'forward': lambda s, x: x.double()})()))
look('bad type', lambda: P.register_parametrization(m, 'weight', type('D', (nn.Module,), {'forward': lambda s, x: 3})()))
look('unsafe', lambda: (P.register_parametrization(m, 'weight', type('D', (nn.Module,), {'forward': lambda s, x: x.double()})(), unsafe=True), m.weight.dtype))
look('badmod', lambda: P.register_parametrization(m, 'bias', 3))
""")

script("nn.utils.buf", """
P = torch.nn.utils.parametrize
class Ex(nn.Module):

    def forward(s, x):
        return x.exp()

    def right_inverse(s, y):
        return y.log()
m = nn.Linear(2, 2)
look('buf', lambda: (m.register_buffer('b2', torch.ones(2)), P.register_parametrization(m, 'b2', Ex()), m.b2, [n for n, _ in m.named_buffers()]))
look('deepcopy', lambda: __import__('copy').deepcopy(m))
look('pickle', lambda: __import__('pickle').dumps(m))
look('sd', lambda: m.state_dict().keys())
look('transfer', lambda: ((n := nn.Linear(2, 2)), P.transfer_parametrizations_and_params(m, n), n))
""")

script("nn.utils.l1", """
PR = torch.nn.utils.prune
m = nn.Linear(3, 2)
m.weight.data = torch.tensor([[1.0, -2, 3], [-0.5, 0.1, 0.2]])
look('l1', lambda: (PR.l1_unstructured(m, 'weight', 2), m.weight, m.weight_mask, m.weight_orig, [n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], PR.is_pruned(m)))
look('again', lambda: (PR.l1_unstructured(m, 'weight', 0.5), m.weight))
torch.manual_seed(0)
look('rand', lambda: (PR.random_unstructured(m, 'bias', 1), m.bias_mask))
look('rm', lambda: (PR.remove(m, 'weight'), m.weight, [n for n, _ in m.named_parameters()]))
look('rm2', lambda: PR.remove(m, 'weight'))
m = nn.Linear(3, 2)
m.weight.data = torch.tensor([[1.0, -2, 3], [-0.5, 0.1, 0.2]])
look('ln', lambda: (PR.ln_structured(m, 'weight', 1, 2, 0), m.weight))
look('ln1', lambda: (PR.ln_structured(m, 'weight', 1, float('inf'), 1), m.weight))
torch.manual_seed(0)
m = nn.Linear(3, 2)
look('rs', lambda: (PR.random_structured(m, 'weight', 1, 1), m.weight_mask))
look('custom', lambda: (PR.custom_from_mask(m, 'bias', torch.tensor([1, 0])), m.bias))
look('id', lambda: PR.identity(nn.Linear(1, 1), 'weight').weight_mask)
a, b = (nn.Linear(2, 1), nn.Linear(1, 2))
look('glob', lambda: (PR.global_unstructured([(a, 'weight'), (b, 'weight')], PR.L1Unstructured, amount=2), int(a.weight_mask.sum() + b.weight_mask.sum())))
look('amt', lambda: PR.l1_unstructured(nn.Linear(1, 1), 'weight', 5))
look('amt', lambda: PR.l1_unstructured(nn.Linear(1, 1), 'weight', 1.5))
look('amt', lambda: PR.l1_unstructured(nn.Linear(1, 1), 'weight', 'x'))
look('amt', lambda: PR.l1_unstructured(nn.Linear(1, 1), 'weight', -1))
look('dim', lambda: PR.ln_structured(nn.Linear(1, 1), 'weight', 1, 2, 5))
look('dim1', lambda: PR.ln_structured(nn.Linear(1, 1), 'bias', 1, 2, 0))
look('globbad', lambda: PR.global_unstructured([(a, 'weight')], PR.LnStructured, amount=1))
look('globbad2', lambda: PR.global_unstructured(3, PR.L1Unstructured, amount=1))
look('nopr', lambda: PR.is_pruned(nn.Linear(1, 1)))
look('globbad3', lambda: PR.global_unstructured([(a,)], PR.L1Unstructured, amount=1))
""")

script("nn.utils.fc", """
m = nn.Linear(2, 1)
f = torch.nn.utils.stateless.functional_call
look('fc', lambda: f(m, {'weight': torch.ones(1, 2), 'bias': torch.zeros(1)}, torch.ones(1, 2)))
look('fcp', lambda: f(m, {'weight': torch.ones(1, 2)}, (torch.ones(1, 2),)).shape)
look('fc strict', lambda: f(m, {'weight': torch.ones(1, 2)}, torch.ones(1, 2), strict=True))
look('fc bad', lambda: f(m, {'foo': torch.ones(1, 2)}, torch.ones(1, 2)))
look('fc bad strict', lambda: f(m, {'foo': torch.ones(1, 2)}, torch.ones(1, 2), strict=True))
look('kept', lambda: type(m.weight).__name__)
""")

script("nn.utils.clip", """
U = nn.utils
m = nn.Linear(2, 1)
def par(*g):
    out = []
    for x in g:
        p = nn.Parameter(torch.zeros(len(x)))
        p.grad = torch.tensor(x)
        out.append(p)
    return out
p = par([3.0, 4.0], [0.0, 12.0])
look('clip', lambda: (U.clip_grad_norm_(p, 6.5), [x.grad for x in p]))
p = par([3.0, 4.0])
look('inf', lambda: (U.clip_grad_norm_(p, 1.0, float('inf')), p[0].grad))
look('l1', lambda: U.clip_grad_norm_(p, 100.0, 1))
look('nan', lambda: U.clip_grad_norm_(par([float('nan')]), 1.0, error_if_nonfinite=True))
look('val', lambda: (U.clip_grad_value_(p, 0.5), p[0].grad))
look('none', lambda: U.clip_grad_norm_([nn.Parameter(torch.ones(1))], 1.0))
look('empty', lambda: U.clip_grad_norm_([], 1.0))
look('gen', lambda: U.clip_grad_norm_((x for x in []), 1.0))
look('old', lambda: U.clip_grad_norm(p, 1.0))
look('single', lambda: U.clip_grad_norm_(p[0], 1.0))
look('tot', lambda: U.get_total_norm([torch.ones(4)]))
look('totinf', lambda: U.get_total_norm(torch.ones(4), float('inf')))
look('cw', lambda: (U.clip_grads_with_norm_(p, 1.0, torch.tensor(2.0)), p[0].grad))
look('vec', lambda: U.parameters_to_vector(nn.Linear(1, 2).parameters()).shape)
m = nn.Linear(1, 2)
look('v2p', lambda: (U.vector_to_parameters(torch.arange(4.0), m.parameters()), m.weight, m.bias))
look('v2pbad', lambda: U.vector_to_parameters([1], m.parameters()))
look('skip', lambda: U.skip_init(nn.Linear, 2, 3).weight.shape)
look('skipbad', lambda: U.skip_init(nn.ReLU))
look('skipbad', lambda: U.skip_init(int))
look('0n', lambda: U.clip_grad_norm_(p, 1.0, 0))
look('v2pshort', lambda: U.vector_to_parameters(torch.ones(2), m.parameters()))
""")

script("nn.utils.module tracker", """
from importlib import import_module
seen, tracker = [], import_module(f"{torch.__name__}.utils.module_tracker").ModuleTracker()
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.act = nn.Linear(2, 2), nn.Tanh()
    def forward(self, x):
        seen.append(("forward", sorted(tracker.parents), tracker.is_bw))
        return self.act(self.linear(x))
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.ModuleList([Inner(), Inner()]), nn.Linear(2, 1)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
            x.register_hook(lambda g: seen.append(("backward", sorted(tracker.parents), tracker.is_bw)))
        return self.head(x)
net, x = Outer(), torch.ones(3, 2, requires_grad=True)
with tracker as t:
    look('itself', lambda: t is tracker)
    net(x).sum().backward()
    look('after', lambda: (seen[:], sorted(t.parents), t.is_bw))
    net(x.detach()).sum().backward()
    look('data', lambda: (seen[4:], sorted(t.parents)))
net(x)
look('outside', lambda: (len(seen), seen[-1], sorted(t.parents)))
""")
