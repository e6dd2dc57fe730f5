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
