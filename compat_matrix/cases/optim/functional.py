"""The algorithms as functions over lists of tensors, Muon, an optimizer on other parameters, averaged models, what optimizers and schedules say."""

from compat_matrix.cases.nn.script import script

ALGORITHMS = {  # name: (states after the step counts, options, options of a second form)
    "adadelta": ("square_avgs acc_deltas", "lr=0.5, rho=0.9, eps=1e-6, weight_decay=0.1, maximize=False", "lr=0.5, rho=0.9, eps=1e-6, weight_decay=0, maximize=True"),
    "adagrad": ("state_sums", "lr=0.5, weight_decay=0.1, lr_decay=0.2, eps=1e-6, maximize=False", "lr=0.5, weight_decay=0, lr_decay=0, eps=1e-6, maximize=True"),
    "adam": ("exp_avgs exp_avg_sqs max_exp_avg_sqs", "amsgrad=True, beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, eps=1e-6, maximize=False",
             "amsgrad=False, beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, eps=1e-6, maximize=True, decoupled_weight_decay=True"),
    "adamax": ("exp_avgs exp_infs", "eps=1e-6, beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1", "eps=1e-6, beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0, maximize=True"),
    "adamw": ("exp_avgs exp_avg_sqs max_exp_avg_sqs", "amsgrad=True, beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, eps=1e-6, maximize=False",
              "amsgrad=False, beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0, eps=1e-6, maximize=True"),
    "asgd": ("axs mus etas", "lambd=0.01, lr=0.1, t0=1, alpha=0.75, weight_decay=0.1", "lambd=0.01, lr=0.1, t0=1e6, alpha=0.75, weight_decay=0, maximize=True"),
    "nadam": ("exp_avgs exp_avg_sqs mu_products", "beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, momentum_decay=0.01, eps=1e-6",
              "beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, momentum_decay=0.01, eps=1e-6, decoupled_weight_decay=True, maximize=True"),
    "radam": ("exp_avgs exp_avg_sqs", "beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, eps=1e-6",
              "beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, eps=1e-6, decoupled_weight_decay=True, maximize=True"),
    "rmsprop": ("square_avgs grad_avgs momentum_buffer_list", "lr=0.1, alpha=0.9, eps=1e-6, weight_decay=0.1, momentum=0.5, centered=True",
                "lr=0.1, alpha=0.9, eps=1e-6, weight_decay=0, momentum=0, centered=False, maximize=True"),
    "rprop": ("prevs step_sizes", "step_size_min=1e-3, step_size_max=5, etaminus=0.5, etaplus=1.2", "step_size_min=1e-3, step_size_max=0.6, etaminus=0.5, etaplus=1.2, maximize=True"),
}
SCALAR = ("mus", "etas", "mu_products")
GET = """
import importlib
def get(path):
    module, _, name = path.rpartition('.')
    return getattr(importlib.import_module(module.replace('torch', torch.__name__, 1)), name)
"""
COMMON = GET + """
params = [torch.tensor([1.0, -2.0]), torch.tensor([[3.0, 0.5]])]
def grads():
    return [torch.tensor([0.5, 1.0]), torch.tensor([[-1.0, 2.0]])]
def zeros(scalar=False, value=0.0):
    return [torch.tensor(value) if scalar else torch.full_like(p, value) for p in params]
"""

for name, (states, first, second) in ALGORITHMS.items():
    makes = "\n".join(f"{s} = zeros({s in SCALAR}, {1.0 if s in ('mus', 'mu_products', 'state_sums', 'step_sizes') else 0.1 if s == 'etas' else 0.0})"
                      for s in states.split())
    calls = f"params, grads(), {', '.join(states.split())}, state_steps"
    script(f"optim.functional.{name}", f"""{COMMON}
f = get('torch.optim.{name}.{name}')
{makes}
state_steps = zeros(True)
for i, options in enumerate(('{first}', '{second}')):
    for _ in range(3):
        look(f'step {{i}}', lambda: eval(f'f({calls}, {{options}})'))
    look('values', lambda: (params, state_steps, {', '.join(states.split())}))
look('no tensor', lambda: eval(f'f({calls.replace("state_steps", "[1, 1]")}, {{options}})') if '{name}' != 'asgd' else None)
look('foreach', lambda: (eval(f'f({calls}, {{options}}, foreach=True)'), params))
look('foreach and differentiable', lambda: eval(f'f({calls}, {{options}}, foreach=True, differentiable=True)'))
if '{name}' not in ('adagrad',):
    look('capturable', lambda: eval(f'f({calls}, {{options}}, capturable=True)'))
params[0].requires_grad_()
with torch.no_grad():
    look('a leaf without grad mode', lambda: (eval(f'f({calls}, {{options}})'), params, params[0].is_leaf))
params = [torch.ones(2, requires_grad=True), torch.ones(1, 2)]
{makes}
state_steps = zeros(True)
look('a leaf', lambda: eval(f'f({calls}, {{options}})'))
""")

script("optim.functional.sgd", f"""{COMMON}
f = get('torch.optim.sgd.sgd')
buffers = [None, None]
O = dict(weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.5, nesterov=False, maximize=False)
for _ in range(3):
    look('step', lambda: (f(params, grads(), buffers, **O), params, buffers))
buffers[1] = None
look('half', lambda: (f(params, grads(), buffers, **{{**O, 'dampening': 0, 'nesterov': True, 'maximize': True}}), params, buffers))
look('plain', lambda: (f(params, grads(), [None, None], **{{**O, 'momentum': 0}}), params))
look('foreach', lambda: (f(params, grads(), buffers, foreach=True, **O), params))
look('scaled', lambda: f(params, grads(), buffers, grad_scale=torch.ones(1), **O))
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 1
look('recorded', lambda: (f([y], [x * 2], [None], **{{**O, 'momentum': 0}}), y, torch.autograd.grad(y.sum(), x)))
look('a leaf', lambda: f([x], [torch.ones(2)], [None], **O))
""")

script("optim.functional.adam recorded", GET + """
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
p = x * 1
m, v, s = torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64), torch.zeros((), dtype=torch.float64)
O = dict(amsgrad=False, beta1=0.8, beta2=0.9, lr=0.1, weight_decay=0.1, eps=1e-6, maximize=False)
get('torch.optim.adam.adam')([p], [x * x], [m], [v], [], [s], differentiable=True, **O)
look('value', lambda: (p, m, v, s))
look('gradient', lambda: torch.autograd.grad((p * p).sum() + m.sum(), x))
look('scaled', lambda: get('torch.optim.adam.adam')([p], [x * x], [m], [v], [], [s], grad_scale=torch.ones(1), **O))
""")

script("optim.functional.Muon", """
Muon = torch.optim.Muon
P = lambda *s: nn.Parameter(torch.arange(1., 1 + torch.Size(s).numel()).reshape(s))
look('repr', lambda: repr(Muon([P(2, 2)])))
look('defaults', lambda: Muon([P(2, 2)]).defaults)
for kw in (dict(lr=-1), dict(weight_decay=-1), dict(momentum=-1), dict(adjust_lr_fn='x'), dict(lr=torch.ones(2)), dict(lr=torch.ones(1)), dict(eps=-1)):
    look('options', lambda: repr(Muon([P(2, 2)], **kw)))
look('dims', lambda: Muon([P(2)]))
look('dims', lambda: Muon([P(2, 2, 2)]))
def run(kw, shape=(2, 3), n=2):
    p = nn.Parameter(torch.randn(shape))
    m = Muon([p], **kw)
    for i in range(n):
        p.grad = torch.randn(shape)
        m.step()
    return p.detach(), m.state_dict()['state']
for kw in (dict(lr=1., ns_steps=0), dict(lr=1.), dict(lr=1., nesterov=False), dict(lr=1., adjust_lr_fn='match_rms_adamw'), dict(lr=torch.tensor(0.5), adjust_lr_fn='original')):
    for shape in ((2, 3), (5, 2)):
        look('run', lambda: run(kw, shape))
look('coefficients', lambda: run(dict(ns_coefficients=(1, 2))))
c = nn.Parameter(torch.ones(2, 2, dtype=torch.complex64))
c.grad = torch.ones_like(c)
look('complex', lambda: Muon([c]).step())
d = nn.Parameter(torch.ones(2, 2, dtype=torch.float64))
d.grad = torch.ones_like(d)
look('float64', lambda: (Muon([d], lr=1.).step(), d))
""")

script("optim.functional.swap", """
swap = torch.optim.swap_in_optimizer_params_and_state
p, q = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))
o = torch.optim.Adam([{'params': [p]}, {'params': [q], 'lr': .5}])
def use(sp, sd, f=lambda: None):
    with swap(o, sp, sd) as v:
        return v, f()
look('no state', lambda: use({'a': torch.ones(2), 'b': torch.ones(3)}, o.state_dict()))
p.grad, q.grad = torch.ones(2), torch.ones(3)
o.step()
a, b = torch.zeros(2, requires_grad=True), torch.zeros(3, requires_grad=True)
sd = o.state_dict()
sd['state'] = {k: {n: t.clone() for n, t in s.items()} for k, s in sd['state'].items()}
sd['param_groups'][0]['lr'] = 7.
look('fewer', lambda: use({'a': a}, sd))
look('more', lambda: use({'a': a, 'b': b, 'c': a}, sd))
look('groups', lambda: use({'a': a, 'b': b}, {'state': {}, 'param_groups': sd['param_groups'][:1]}))
look('no groups', lambda: use({'a': a, 'b': b}, {'state': {}}))
def inside():
    a.grad, b.grad = torch.ones(2) * 3, torch.ones(3)
    o.step()
    return o.param_groups[0]['params'][0] is a, o.param_groups[0]['lr']
look('inside', lambda: use({'a': a, 'b': b}, sd, inside))
look('after', lambda: (a, b, p, q, sd['state'][0], o.state[p], o.param_groups[0]['lr'], o.param_groups[0]['params'][0] is p))
look('fails', lambda: use({'a': a, 'b': b}, sd, lambda: 1 / 0))
look('restored', lambda: o.param_groups[0]['params'][0] is p)
""")

script("optim.functional.hooks", GET + """
O = torch.optim.Optimizer
look('types', lambda: [getattr(t, '__origin__').__name__ for t in (O.OptimizerPreHook, O.OptimizerPostHook)])
seen = []
h1 = get('torch.optim.optimizer.register_optimizer_step_pre_hook')(lambda o, args, kw: seen.append(('pre', type(o).__name__, len(args), sorted(kw))))
h2 = get('torch.optim.optimizer.register_optimizer_step_post_hook')(lambda o, args, kw: seen.append(('post', type(o).__name__, len(args), sorted(kw))))
p = nn.Parameter(torch.ones(2))
p.grad = torch.ones(2)
torch.optim.SGD([p], lr=0.5).step()
torch.optim.Adam([p], lr=0.5).step(closure=None)
h1.remove()
torch.optim.SGD([p], lr=0.5).step()
h2.remove()
torch.optim.SGD([p], lr=0.5).step()
look('seen', lambda: seen)
class Mine:
    _optimizer_step_pre_hooks, _optimizer_step_post_hooks = {}, {}
    def _optimizer_step_code(self):
        seen.append('code')
    def step(self, n):
        seen.append(n)
        return n + 1
look('profile_hook_step', lambda: (O.profile_hook_step(Mine.step)(Mine(), 3), seen[-2:], O.profile_hook_step(Mine.step).__name__))
""")

script("optim.functional.schedules", """
S = torch.optim.lr_scheduler
p = nn.Parameter(torch.ones(2))
o = torch.optim.SGD([{'params': [p]}, {'params': [nn.Parameter(torch.ones(1))], 'lr': 0.3}], lr=0.1)
s = S.StepLR(o, 2, 0.5)
look('first', lambda: (s.get_last_lr(), s.base_lrs, s.last_epoch))
for _ in range(3):
    o.step()
    s.step()
    look('later', lambda: s.get_last_lr())
look('get_lr', lambda: s.get_lr())
class Half(S.LRScheduler):
    def get_lr(self):
        return [g['lr'] / 2 for g in self.optimizer.param_groups]
h = Half(o)
h.step()
look('mine', lambda: (h.get_last_lr(), h.state_dict()))
look('base', lambda: S.LRScheduler(o))
""")

script("optim.functional.averaged", """
U = torch.optim.swa_utils
m = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
with torch.no_grad():
    for q in m.parameters():
        q.fill_(1.0)
a = U.AveragedModel(m)
look('start', lambda: (a.n_averaged, [n for n, _ in a.named_parameters()], [n for n, _ in a.named_buffers()]))
def update(v):
    with torch.no_grad():
        for q in m.parameters():
            q.fill_(v)
    a.update_parameters(m)
for v in (2.0, 4.0, 9.0):
    update(v)
look('mean', lambda: (a.n_averaged, [q.detach() for q in a.parameters()]))
look('called', lambda: a.eval()(torch.ones(3, 2)))
data = [torch.tensor([[1., 2.], [3., 5.]]), (torch.tensor([[0., 1.], [2., 2.]]), 3)]
m.train()
look('update_bn', lambda: (U.update_bn(data, m), m[1].running_mean, m[1].running_var, m[1].num_batches_tracked, m.training, m[1].momentum))
look('nothing to update', lambda: U.update_bn(data, nn.Linear(2, 1)))
for f in (U.get_ema_avg_fn(0.5), U.get_swa_avg_fn()):
    look('fn', lambda: f(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0]), torch.tensor(3)))
for f in (U.get_ema_multi_avg_fn(0.5), U.get_swa_multi_avg_fn()):
    l = [torch.tensor([1.0, 2.0]), torch.tensor([7.0])]
    look('multi', lambda: (f(l, [torch.tensor([3.0, 5.0]), torch.tensor([1.0])], torch.tensor(3)), l))
look('bad decay', lambda: U.get_ema_avg_fn(1.5))
look('bad decay', lambda: U.get_ema_multi_avg_fn(-0.5))
look('both', lambda: U.AveragedModel(m, avg_fn=1, multi_avg_fn=2))
e = U.AveragedModel(m, multi_avg_fn=U.get_ema_multi_avg_fn(0.9), use_buffers=True)
e.update_parameters(m)
update(1.0)
e.update_parameters(m)
look('ema', lambda: e.state_dict())
o = torch.optim.SGD(m.parameters(), lr=1.0)
w = U.SWALR(o, swa_lr=0.1, anneal_epochs=3, anneal_strategy='cos')
lrs = []
for _ in range(5):
    o.step()
    w.step()
    lrs += w.get_last_lr()
look('SWALR', lambda: lrs)
w = U.SWALR(torch.optim.SGD(m.parameters(), lr=1.0), swa_lr=0.1, anneal_epochs=2, anneal_strategy='linear')
look('linear', lambda: [(w.step(), w.get_last_lr())[1] for _ in range(3)])
look('bad', lambda: U.SWALR(o, 0.1, anneal_strategy='x'))
look('bad', lambda: U.SWALR(o, 0.1, anneal_epochs=-1))
look('bad', lambda: U.SWALR(o, [0.1, 0.2]))
""")
