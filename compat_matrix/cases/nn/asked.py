"""What PyTorch's own tests of modules lean on, seldom met elsewhere."""

from compat_matrix.cases.nn.script import script

script("nn.asked.names of one's own", """
names = '_forget _member _check_name _expect_none _set_tensor _check _pads _function _settings _weights _next _factor _times _checked'.split()
def own(base, *args):
    class Own(base):
        pass
    for name in names:
        setattr(Own, name, lambda self, *a: 'mine')
    return Own(*args)
for base, args, x in ((nn.Module, (), None), (nn.Conv2d, (1, 1, 2, 1, 1), torch.ones(1, 1, 2, 2)), (nn.LSTM, (2, 2), torch.ones(3, 2)), (nn.GRUCell, (2, 2), torch.ones(2)),
                      (nn.BatchNorm1d, (2,), torch.ones(3, 2)), (nn.Sequential, (nn.ReLU(),), torch.ones(2)), (nn.LazyConv1d, (1, 1), torch.ones(1, 1, 2))):
    m = own(base, *args)
    look('attributes', lambda: (setattr(m, 'w', nn.Parameter(torch.ones(1))), setattr(m, 'b', nn.Buffer(torch.ones(1))), setattr(m, 'l', nn.ReLU()), m.get_buffer('b')))
    look('called', lambda: m._check() if x is None else m(x))
class Gates(nn.Module):
    def __init__(self):
        super().__init__()
        for name in names:
            setattr(self, name, nn.Linear(1, 1))
look('layers', lambda: all(type(getattr(Gates(), name)) is nn.Linear for name in names))
look('extra', lambda: [n for n in dir(nn.Module()) if n in names])
""")

script("nn.asked.buffers by a register_buffer of one's own", """
told = []
class Old(nn.Module):
    def register_buffer(self, name, tensor):
        told.append(name)
        super().register_buffer(name, tensor)
class New(nn.Module):
    def register_buffer(self, name, tensor, persistent=True):
        told.append((name, persistent))
        super().register_buffer(name, tensor, persistent)
for kind in (Old, New):
    m = kind()
    look('buffer', lambda: setattr(m, 'b', nn.Buffer(torch.ones(1))))
    look('other', lambda: setattr(m, 'b', nn.Buffer(torch.zeros(1), persistent=False)))
    look('tensor', lambda: setattr(m, 'b', torch.ones(2)))
    look('none', lambda: setattr(m, 'b', None))
    look('number', lambda: setattr(m, 'b', 3))
    look('left', lambda: (m.b, m._non_persistent_buffers_set, told))
look('class as a module', lambda: nn.Module().add_module('q', nn.ReLU))
look('class as a buffer', lambda: nn.Module().register_buffer('q', nn.ReLU))
look('words as dropout', lambda: nn.RNN(3, 4, dropout='a'))
""")

script("nn.asked.converted to another layout", """
def sparse(t):
    return t.to_sparse() if t.ndim == 2 else t
m = nn.Linear(2, 2)
m.weight.grad = torch.ones(2, 2)
w, b, g = m.weight, m.bias, m.weight.grad
look('applied', lambda: m._apply(sparse))
look('layouts', lambda: (w.layout, m.weight.layout, g.layout, m.weight.grad.layout, m.bias is b, isinstance(m.weight, nn.Parameter), m.weight.requires_grad))
""")

script("nn.asked.spectral norm from before its version 1", """
import copy
U = torch.nn.utils
for shape in ((3, 5), (4, 2)):
    m = U.spectral_norm(nn.Linear(*shape))
    m(torch.ones(1, shape[0]))
    new = copy.deepcopy(m.state_dict())
    old = copy.deepcopy(new)
    del old._metadata['']['spectral_norm'], old['weight_v']
    old['weight'] = m.weight.detach().clone()
    fresh = U.spectral_norm(nn.Linear(*shape))
    look('loaded', lambda: (str(fresh.load_state_dict(old)), fresh.eval()(torch.ones(1, shape[0])).detach()))
    bare = copy.deepcopy(new)
    del bare._metadata['']['spectral_norm']
    look('no metadata', lambda: str(fresh.load_state_dict(bare)))
    for key in ('weight_orig', 'weight_u', 'weight'):
        less = copy.deepcopy(old)
        del less[key]
        look(key, lambda: fresh.load_state_dict(less, strict=False))
        look(key, lambda: fresh.load_state_dict(less))
""")

script("nn.asked.refused by losses and norms", """
x, w = torch.tensor([1., 2., 3.], requires_grad=True), torch.tensor([1., 2., 3.])
for f in (F.mse_loss, F.l1_loss, F.huber_loss):
    look('reduction', lambda: f(x, w, weight=w, reduction='x'))
    look('size first', lambda: f(x, w, weight=w[:2], reduction='x'))
    look('none', lambda: f(x, w, reduction='x'))
look('no classes', lambda: F.multilabel_soft_margin_loss(torch.tensor(1.), torch.tensor(1.)))
look('weights', lambda: nn.BCELoss(weight=w)(torch.rand(2, 4), torch.rand(2, 4)))
lp, tg = torch.randn(5, 2, 4).log_softmax(2), torch.ones(2, 2, dtype=torch.int)
for a, b in (([5, 5], torch.tensor([1, 2])), (torch.tensor([5, 5]), [1, 2]), (5, 2), ((5, 5), [1, 2]), (torch.tensor([5, 5]), torch.tensor([1, 2])), ([5., 5.], [1, 2])):
    look('lengths', lambda: F.ctc_loss(lp, tg, a, b))
for dtype in (torch.long, torch.bool, torch.complex64):
    for m in (nn.BatchNorm1d(3), nn.BatchNorm1d(3, affine=False).eval(), nn.InstanceNorm1d(3)):
        look('dtype', lambda: m(torch.ones(2, 3, 3).to(dtype)))
for cell in (nn.RNNCell(4, 5), nn.GRUCell(4, 5)):
    look('state of one', lambda: cell(torch.ones(3, 4), torch.ones(5)))
    look('batch of one', lambda: cell(torch.ones(4), torch.ones(1, 5)))
look('state of one', lambda: nn.LSTMCell(4, 5)(torch.ones(3, 4), (torch.ones(3, 5), torch.ones(5))))
with torch.device('meta'):
    norm = nn.BatchNorm2d(3)
look('meta', lambda: norm.load_state_dict({}, assign=True, strict=False))
look('tracked', lambda: (norm.num_batches_tracked, norm.running_mean.device))
""")

script("nn.asked.backward hooks without gradients", """
for register in ('register_full_backward_hook', 'register_full_backward_pre_hook'):
    m, told = nn.Linear(2, 2), []
    with torch.no_grad():
        for p in m.parameters():
            p.fill_(0.5)
    getattr(m, register)(lambda *a: told.append(len(a)))
    x = torch.ones(1, 2, requires_grad=True)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            look('called', lambda: m(x))
            look('in two', lambda: nn.Sequential(m, nn.ReLU())(x))
    look('with', lambda: (torch.autograd.grad(m(x).sum(), x), told))
""")

script("nn.asked.state dicts that are swapped in", """
import gc, weakref
class Broken(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.Tensor.module_load:
            return args[1]
        with torch._C.DisableTorchFunctionSubclass():
            out = func(*args, **(kwargs or {}))
        return cls(out) if func == torch.Tensor.detach else out
for swaps in (True, False):
    torch.__future__.set_swap_module_params_on_conversion(swaps)
    try:
        m = nn.Linear(2, 3, bias=False)
        look('broken', lambda: str(m.load_state_dict({'weight': Broken(torch.ones(3, 2))})))
        look('of nothing', lambda: m.load_state_dict({'weight': torch.ones(3, 2, device='meta')}))
        with torch.device('meta'):
            meta = nn.Linear(2, 3, bias=False)
        look('to nothing', lambda: (str(meta.load_state_dict({'weight': torch.ones(3, 2)})), meta.weight.device))
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
given = {k: v.clone() for k, v in m.state_dict().items()}
kept = weakref.ref(given['0.weight'])
gc.collect()
gc.disable()
m.load_state_dict(given)
del given
look('let go', lambda: kept() is None)
gc.enable()
""")

script("nn.asked.parametrizations on top of others", """
P = torch.nn.utils.parametrize
told = []
def made(forward, inverse=None):
    names = {'forward': forward}
    if inverse is not None:
        names['right_inverse'] = inverse
    return type('Made', (nn.Module,), names)()
same = lambda self, x: x
m = nn.Linear(3, 3)
look('device', lambda: P.register_parametrization(m, 'weight', made(same, lambda self, x: x.to('meta'))))
P.register_parametrization(m, 'weight', made(same))
for inverse in (lambda self, x: (x, x), lambda self, x: x.bool(), lambda self, x: x[:-1], lambda self, x: told.append(x.shape) or x):
    look('inverse', lambda: P.register_parametrization(m, 'weight', made(same, inverse)))
    look('so many', lambda: len(m.parametrizations.weight))
def refuse(self, x):
    raise NotImplementedError
look('none', lambda: P.register_parametrization(m, 'weight', made(same, refuse)))
look('unsafe', lambda: P.register_parametrization(m, 'weight', made(same, lambda self, x: 3), unsafe=True))
look('asked', lambda: told)
m = nn.Linear(3, 3)
m.q = nn.Parameter(torch.ones(2))
P.register_parametrization(m, 'q', made(lambda self, x, y: x + y, lambda self, z: (z, torch.ones_like(z))))
P.register_parametrization(m, 'weight', made(lambda self, x: x + 1))
other = nn.Linear(3, 3)
look('handed on', lambda: (P.transfer_parametrizations_and_params(m, other), list(other.state_dict()), other.q, torch.equal(m.weight, other.weight)))
look('one', lambda: list(P.transfer_parametrizations_and_params(m, nn.Linear(3, 3), 'q').state_dict()))
look('no such', lambda: P.transfer_parametrizations_and_params(m, nn.Linear(3, 3), 'nope'))
""")

script("nn.asked.sequences that cannot be packed", """
R = torch.nn.utils.rnn
x = torch.ones(5, 3, 2)
for given, lengths in ((torch.ones(0, 2), [1, 1]), (x, []), (x, [5, 0, 1]), (x, [5, 1, 0]), (x, [5, 1]), (x, [0, 5, 1]), (x, 5), (x, torch.tensor([[5, 1, 1]])),
                       (x, torch.tensor([5.0, 1, 1])), (torch.ones(0, 3, 2), [1, 1, 1]), (torch.ones(5, 3, 0), [5, 1, 1])):
    look('sorted', lambda: R.pack_padded_sequence(given, lengths).batch_sizes)
    look('not', lambda: R.pack_padded_sequence(given, lengths, enforce_sorted=False).batch_sizes)
""")

script("nn.asked.gradients of convolutions differentiated", """
for n, how in ((1, {}), (2, {'stride': 2, 'padding': 1}), (3, {'groups': 2})):
    f, G = getattr(F, f'conv{n}d'), nn.grad
    x, w = (torch.randn(s, dtype=torch.double, requires_grad=True) for s in ((2, 4) + (5,) * n, (2, 4 // how.get('groups', 1)) + (3,) * n))
    g = torch.randn(f(x, w, **how).shape, dtype=torch.double)
    a, b = getattr(G, f'conv{n}d_input')(x.shape, w, g, **how), getattr(G, f'conv{n}d_weight')(x, w.shape, g, **how)
    look('nodes', lambda: (a.grad_fn.name(), b.grad_fn.name()))
    look('second', lambda: [torch.autograd.grad((a * a).sum() + (b ** 3).sum(), p, retain_graph=True)[0].contiguous() for p in (x, w)])
    look('of none', lambda: getattr(G, f'conv{n}d_input')(x.shape, w.detach(), g, **how).requires_grad)
""")

script("nn.asked.truncated draws as they lie", """
for how in ({}, {'mean': 0.5, 'std': 2.0}, {'mean': 3.0}, {'std': -1}, {'a': 1.0, 'b': 5.0}):
    for name, made in (('turned', lambda: torch.ones(7, 5).t()), ('sliced', lambda: torch.ones(7, 8)[:, ::2]), ('parameter', lambda: nn.Parameter(torch.ones(3, 5)))):
        torch.manual_seed(3)
        look(name, lambda: nn.init.trunc_normal_(made(), **how).detach())
""")

script("nn.asked.arguments refused when made", """
for make in (lambda: nn.LSTM(2, 3, bias=1), lambda: nn.GRU(2, 3, batch_first=None), lambda: nn.RNN(2, 3, dropout=0.5, bias='a'), lambda: nn.HuberLoss(delta=1j),
             lambda: nn.LinearCrossEntropyLoss(3, 2, weight=torch.ones(3)), lambda: nn.LinearCrossEntropyLoss(3, 2, label_smoothing=2.0),
             lambda: nn.utils.weight_norm(nn.LazyLinear(3)), lambda: nn.utils.spectral_norm(nn.LazyLinear(3)), lambda: F.dropout(torch.ones(3), float('nan')),
             lambda: F.avg_pool2d(torch.ones(1, 1, 1, 4, 4), 2)):
    look('made', make)
for n, size in ((2, (2, 0, 6, 6)), (2, (3, 0, 6)), (2, (1, 1, 1, 4, 4)), (3, (2, 0, 3, 4, 5)), (3, (2, 2, 0, 4, 5))):
    look('fractional', lambda: getattr(F, f'fractional_max_pool{n}d')(torch.ones(size), 2, output_size=1))
look('samples', lambda: F.fractional_max_pool2d(torch.ones(1, 2, 7, 7, dtype=torch.int64), 2, output_size=3, _random_samples=torch.rand(1, 2, 2)))
torch.manual_seed(1)
look('a tensor for p', lambda: (F.dropout(torch.ones(8), torch.tensor(0.4)), F.alpha_dropout(torch.ones(8), torch.tensor(0.4), True)))
p = nn.Parameter(torch.ones(2, 2))
p.sum().backward()
look('steps', lambda: torch.optim.Muon([p], ns_steps=100).step())
""")

script("nn.asked.masks without data", """
for train in (True, False):
    m = nn.MultiheadAttention(8, 2, batch_first=True, device='meta').train(train)
    x = torch.ones(3, 4, 8, device='meta')
    look('mask', lambda: [tuple(t.shape) for t in m(x, x, x, attn_mask=torch.zeros(4, 4, dtype=torch.bool, device='meta'))])
    look('keys', lambda: [tuple(t.shape) for t in m(x, x, x, key_padding_mask=torch.zeros(3, 4, dtype=torch.bool, device='meta'))])
""")

script("nn.asked.kernels of attention", """
SDPBackend, sdpa_kernel = nn.attention.SDPBackend, nn.attention.sdpa_kernel
def attended(kernels, second=False, **how):
    torch.manual_seed(2)
    x = torch.randn(1, 2, 3, 4, requires_grad=True)
    with sdpa_kernel(kernels):
        o = F.scaled_dot_product_attention(x, x, x, **how)
    g, = torch.autograd.grad(o.pow(2).sum(), x, create_graph=second)
    return o.grad_fn.name(), g.contiguous(), second and torch.autograd.grad(g.pow(2).sum(), x)[0].contiguous()
for kernels in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
    look('one', lambda: attended(kernels))
    look('second', lambda: attended(kernels, True))
    look('causal', lambda: attended(kernels, is_causal=True))
    look('dropout', lambda: attended(kernels, dropout_p=1.0) if kernels is not SDPBackend.FLASH_ATTENTION else None)
    look('mask', lambda: attended(kernels, attn_mask=torch.ones(3, 3).tril().bool()))
""")

script("nn.asked.statistics of another dtype", """
x = torch.arange(24.0).reshape(2, 3, 4) ** 1.5
for own, other in ((torch.double, torch.float), (torch.float, torch.double), (torch.double, torch.half)):
    for train in (True, False):
        mean, var = torch.full((3,), 0.5, dtype=other), torch.full((3,), 2.0, dtype=other)
        look('instances', lambda: (F.instance_norm(x.to(own), mean, var, use_input_stats=train), mean.dtype, var.dtype, (mean * 100).round(), (var * 100).round()))
        look('batches', lambda: F.batch_norm(x.to(own), mean, var, training=train))
""")
