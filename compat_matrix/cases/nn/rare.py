"""Parts of torch.nn that few programs use: lazy layers of every dimension, sequences, pruning methods, base classes."""

from compat_matrix.cases.nn.script import script

LAZY = {"LazyConv1d": ("3, 3", "2, 4, 7"), "LazyConv3d": ("3, 2", "2, 4, 3, 3, 3"), "LazyConvTranspose1d": ("3, 3", "2, 4, 7"), "LazyConvTranspose3d": ("3, 2", "2, 4, 3, 3, 3"),
        "LazyBatchNorm3d": ("", "2, 4, 2, 2, 2"), "LazyInstanceNorm2d": ("affine=True", "2, 4, 3, 3"), "LazyInstanceNorm3d": ("affine=True", "2, 4, 2, 2, 2"),
        "LazyConv2d": ("3, 2", "2, 4, 3, 3"), "LazyInstanceNorm1d": ("affine=True", "2, 4, 3")}

for name, (args, shape) in LAZY.items():
    script(f"nn.rare.{name}", f"""
m = nn.{name}({args})
look('before', lambda: (m, [nn.parameter.is_lazy(p) for p in m.parameters()], isinstance(m, nn.modules.lazy.LazyModuleMixin), m.has_uninitialized_params()))
look('kind', lambda: [isinstance(p, nn.parameter.UninitializedTensorMixin) for p in m.parameters()])
x = torch.randn({shape}, requires_grad=True)
look('called', lambda: m(x))
look('after', lambda: (m, type(m).__name__, [(n, p.shape) for n, p in m.named_parameters()], [n for n, b in m.named_buffers()], m.has_uninitialized_params()))
look('gradient', lambda: torch.autograd.grad((m(x) * m(x)).sum(), [x, *m.parameters()]))
look('shape', lambda: nn.{name}({args})(torch.ones(2)))
look('loaded', lambda: (l := nn.{name}({args}), l.load_state_dict(m.state_dict()), l)[2])
""")

script("nn.rare.sequences", """
R = nn.utils.rnn
a, b, c = torch.tensor([1., 2., 3.]), torch.tensor([4.]), torch.tensor([5., 6.])
look('pad', lambda: (R.pad_sequence([a, b, c]), R.pad_sequence([a, b], batch_first=True, padding_value=9.0), R.pad_sequence([a, c], True, padding_side='left')))
look('pad', lambda: R.pad_sequence([a, c], True, padding_side='x'))
look('pad', lambda: R.pad_sequence([]))
look('unpad', lambda: (R.unpad_sequence(R.pad_sequence([a, b, c]), torch.tensor([3, 1, 2])), R.unpad_sequence(R.pad_sequence([a, b], True), torch.tensor([3, 1]), batch_first=True)))
p = R.pack_sequence([a, c, b])
look('class', lambda: isinstance(p, R.PackedSequence))
look('pack', lambda: (p.data, p.batch_sizes, p.sorted_indices, p.unsorted_indices))
look('not sorted', lambda: R.pack_sequence([b, a]))
q = R.pack_sequence([b, a, c], enforce_sorted=False)
look('sorted', lambda: (q.data, q.batch_sizes, q.sorted_indices, q.unsorted_indices, R.unpack_sequence(q)))
look('unpack', lambda: R.unpack_sequence(p))
look('dtypes', lambda: [getattr(p, n)().data for n in ('byte', 'char', 'short', 'int', 'long', 'half', 'float', 'double')])
look('dtypes', lambda: (p.byte().data.dtype, p.char().data.dtype, p.short().data.dtype, p.int().data.dtype, p.long().data.dtype, p.half().data.dtype, p.float().data.dtype, p.float() is p))
look('each', lambda: (p.byte().data, p.char().data, p.short().data, p.int().data, p.long().data, p.half().data, p.float().data))
look('cuda', lambda: p.cuda())
look('pinned', lambda: p.pin_memory())
z = a.clone().requires_grad_()
look('gradient', lambda: torch.autograd.grad((R.pad_sequence([z, b * z[0]]) * torch.arange(6.).reshape(3, 2)).sum(), z))
look('gradient', lambda: torch.autograd.grad((R.pack_sequence([z, b]).data ** 2).sum(), z))
""")

script("nn.rare.pruning", """
P = nn.utils.prune
m = nn.Linear(3, 2)
look('identity', lambda: (P.Identity.apply(m, 'bias'), [n for n, _ in m.named_buffers()], [n for n, _ in m.named_parameters()], m.bias is m.bias_orig)[1:])
m = nn.Linear(3, 2)
look('custom', lambda: (P.CustomFromMask.apply(m, 'weight', mask=torch.tensor([[1, 0, 1], [0, 1, 1]])), m.weight, m.weight_mask, m.weight_orig)[1:])
look('container', lambda: (P.RandomUnstructured.apply(m, 'weight', amount=1), type(list(m._forward_pre_hooks.values())[0]).__name__, m.weight_mask.sum())[1:])
c = list(m._forward_pre_hooks.values())[0]
look('in it', lambda: (isinstance(c, P.PruningContainer), len(c), [type(x).__name__ for x in c], c[0]._tensor_name))
look('add', lambda: c.add_pruning_method(3))
look('add', lambda: P.PruningContainer(3))
m = nn.Linear(4, 4)
look('structured', lambda: (P.RandomStructured.apply(m, 'weight', amount=0.5, dim=1), m.weight_mask)[1:])
look('amount', lambda: P.RandomUnstructured(1.5))
look('amount', lambda: P.RandomStructured(-1))
class Mine(P.BasePruningMethod):
    PRUNING_TYPE = 'unstructured'
    def compute_mask(self, t, default_mask):
        return default_mask * (t.abs() > 0.2)
look('mine', lambda: (x := torch.tensor([0.1, 0.3]), Mine().prune(x)))
n = nn.Linear(3, 2)
look('mine', lambda: (Mine.apply(n, 'weight'), n.weight, n.weight_mask, n(torch.ones(3)))[1:])
look('abstract', lambda: P.BasePruningMethod())
o = P.Identity()
look('apply_mask', lambda: o.apply_mask(n))
""")

script("nn.rare.bases", """
import importlib
M = nn.Module()
look('extra_repr', lambda: (nn.Module.extra_repr(M), nn.ParameterList([nn.Parameter(torch.ones(2)), torch.ones(1)]).extra_repr(), nn.ParameterDict({'a': nn.Parameter(torch.ones(2)), 'b': 3}).extra_repr()))
s = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
look('forward', lambda: (s.forward(torch.ones(1, 2)), nn.Sequential().forward(torch.ones(1))))
class Cell(nn.RNNCellBase):
    pass
c = Cell(2, 3, True, 2)
look('cell', lambda: (c, [(n, p.shape) for n, p in c.named_parameters()], c.extra_repr(), isinstance(nn.LSTMCell(1, 2), nn.RNNCellBase)))
look('cell', lambda: nn.RNNCellBase(2, 3, False, 4).bias_ih)
seen = []
h = nn.modules.module.register_module_backward_hook(lambda m, gi, go: seen.append((type(m).__name__, [g is None for g in gi], [g.shape for g in go])))
x = torch.ones(1, 2, requires_grad=True)
l = nn.Linear(2, 1)
l(x).sum().backward()
h.remove()
l(x).sum().backward()
look('hook', lambda: seen)
look('two kinds', lambda: (h1 := nn.modules.module.register_module_backward_hook(lambda *a: None), h1.remove(), h2 := nn.modules.module.register_module_full_backward_hook(lambda *a: None), h2.remove())[1])
look('parallel', lambda: nn.parallel.data_parallel(l, torch.ones(2, 2), device_ids=[]))
look('formats', lambda: (nn.utils.convert_conv2d_weight_memory_format(nn.Conv2d(2, 3, 2), torch.channels_last).weight.shape, nn.utils.convert_conv3d_weight_memory_format(nn.Conv3d(1, 1, 1), torch.channels_last_3d).weight.shape))
P = nn.utils.parametrize
class Twice(nn.Module):
    def forward(self, x):
        return 2 * x
    def right_inverse(self, x):
        return x / 2
l = nn.Linear(2, 1)
P.register_parametrization(l, 'weight', Twice())
look('list', lambda: (isinstance(l.parametrizations.weight, P.ParametrizationList), len(l.parametrizations.weight), l.parametrizations.weight(), l.parametrizations.weight.original, l.parametrizations.weight.is_tensor))
look('inverse', lambda: (l.parametrizations.weight.right_inverse(torch.ones(1, 2)), l.weight))
look('made', lambda: P.ParametrizationList([Twice()], nn.Parameter(torch.ones(2)))())
""")
