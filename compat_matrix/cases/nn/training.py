"""Models from a seed through several steps: the numbers of PyTorch; copies, pickles, tied weights, gradients of gradients."""

from compat_matrix.cases.nn.script import script

STEPS = """
def steps(model, loss_of, n=4):
    out = []
    for _ in range(n):
        model.zero_grad()
        loss = loss_of(model)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    p.sub_(p.grad, alpha=0.1)
        out.append(loss.detach())
    return out, [p.detach() for p in model.parameters()]
"""

script("nn.training.perceptron", STEPS + """
x, y = torch.randn(8, 3), torch.randn(8, 2)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 5), nn.GELU(), nn.Linear(5, 2))
look('steps', lambda: steps(model, lambda m: nn.MSELoss()(m(x), y)))
torch.manual_seed(1)
other = nn.Sequential(nn.Linear(3, 5), nn.Softplus(), nn.Linear(5, 2)).double()
look('double', lambda: steps(other, lambda m: nn.L1Loss()(m(x.double()), y.double())))
""")

script("nn.training.classifier with dropout", STEPS + """
x, y = torch.randn(8, 3), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
look('steps', lambda: steps(model, lambda m: nn.CrossEntropyLoss(label_smoothing=0.1)(m(x), y)))
look('eval', lambda: model.eval()(x))
""")

script("nn.training.convolutions", STEPS + """
x, y = torch.randn(4, 1, 8, 8), torch.tensor([0, 1, 2, 0])
model = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(48, 3))
look('steps', lambda: steps(model, lambda m: nn.CrossEntropyLoss()(m(x), y)))
look('eval', lambda: model.eval()(x))
look('buffers', lambda: [b for b in model.buffers()])
""")

script("nn.training.transformer", STEPS + """
x, y = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True), 2)
mask = nn.Transformer.generate_square_subsequent_mask(5)
look('steps', lambda: steps(model, lambda m: ((m(x, mask=mask, is_causal=True) - y) ** 2).mean(), 2)[0])
look('eval', lambda: model.eval()(x, mask=mask))
""")

for kind in ("RNN", "LSTM", "GRU"):
    script(f"nn.training.{kind}", STEPS + f"""
x, y = torch.randint(0, 6, (7, 3)), torch.randn(7, 3, 8)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 4, padding_idx=0)
        self.layer = nn.{kind}(4, 4, num_layers=2, bidirectional=True, dropout=0.25)
    def forward(self, x):
        return self.layer(self.table(x))[0]
model = Net()
look('steps', lambda: steps(model, lambda m: ((m(x) - y) ** 2).mean(), 3))
packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 4), [2, 5, 3], enforce_sorted=False)
def packed_loss(m):
    out, last = m.layer(packed)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(out)
    return padded.square().mean() + (last if isinstance(last, torch.Tensor) else last[1]).sum()
look('packed', lambda: steps(model.eval(), packed_loss, 2))
look('packed last', lambda: [t.detach() for t in (lambda h: h if isinstance(h, tuple) else (h,))(model.layer(packed)[1])])
look('given state', lambda: nn.{kind}(4, 4)(torch.randn(2, 3, 4), (torch.randn(1, 3, 4),) * 2 if '{kind}' == 'LSTM' else torch.randn(1, 3, 4))[0])
look('no bias', lambda: nn.{kind}(4, 4, bias=False, batch_first=True)(torch.randn(3, 2, 4)))
look('unbatched', lambda: nn.{kind}(4, 4)(torch.randn(2, 4)))
look('double gradient', lambda: (lambda w: torch.autograd.grad(torch.autograd.grad(nn.{kind}(2, 2)(w)[0].square().sum(), w, create_graph=True)[0].square().sum(), w))(
    torch.randn(3, 1, 2, requires_grad=True)))
""")

script("nn.training.projected", """
x = torch.randn(4, 2, 3, requires_grad=True, dtype=torch.float64)
layer = nn.LSTM(3, 5, num_layers=2, proj_size=2, bidirectional=True, dtype=torch.float64)
look('result', lambda: layer(x))
look('gradients', lambda: torch.autograd.grad(layer(x)[0].square().sum(), [x, *layer.parameters()]))
cell = nn.LSTMCell(3, 4, dtype=torch.float64)
look('cell', lambda: cell(x[0]))
look('cell gradients', lambda: torch.autograd.grad(cell(x[0], cell(x[1]))[0].sum(), list(cell.parameters())))
look('gru cell', lambda: nn.GRUCell(3, 4, dtype=torch.float64)(x[0], torch.randn(2, 4).double()))
look('relu cell', lambda: nn.RNNCell(3, 4, nonlinearity='relu', dtype=torch.float64)(x[0]))
""")

script("nn.training.tied weights", STEPS + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.out = nn.Linear(3, 5, bias=False)
        self.out.weight = self.table.weight
    def forward(self, x):
        return self.out(self.table(x))
model, x = Net(), torch.tensor([0, 3, 3, 1])
look('names', lambda: [n for n, _ in model.named_parameters()])
look('all names', lambda: list(model.state_dict()))
look('steps', lambda: steps(model, lambda m: nn.CrossEntropyLoss()(m(x), x)))
look('same', lambda: model.out.weight is model.table.weight)
look('after conversion', lambda: (model.double(), model.out.weight is model.table.weight)[1])
look('stateless', lambda: nn.utils.stateless._functional_call(model, {'table.weight': torch.ones(5, 3).double()}, x))
""")

script("nn.training.copies", """
import copy, pickle
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
model(torch.ones(1, 2)).sum().backward()
twin = copy.deepcopy(model)
look('equal', lambda: [torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters())])
look('other', lambda: [a is b for a, b in zip(model.parameters(), twin.parameters())])
look('gradients', lambda: [p.grad for p in twin.parameters()])
with torch.no_grad():
    twin[0].weight.fill_(1.0)
look('apart', lambda: torch.equal(model[0].weight, twin[0].weight))
again = pickle.loads(pickle.dumps(model))
look('pickled', lambda: (again, again(torch.ones(1, 2)), again[0].weight.requires_grad, again[0].weight.is_leaf, type(again[0].weight)))
shallow = copy.copy(model)
look('shallow', lambda: shallow[0].weight is model[0].weight)
look('loaded', lambda: (twin.load_state_dict(model.state_dict()), torch.equal(model[0].weight, twin[0].weight)))
state = model.state_dict()
with torch.no_grad():
    model[0].weight.add_(1.0)
look('state follows', lambda: torch.equal(state['0.weight'], model[0].weight))
look('keep_vars', lambda: model.state_dict(keep_vars=True)['0.weight'] is model[0].weight)
look('versions', lambda: (model[0].weight._version > 0, model[0].weight.is_leaf, model[0].weight.grad_fn))
""")

script("nn.training.frozen parts", STEPS + """
x, y = torch.randn(8, 3), torch.randn(8, 1)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
model[0].requires_grad_(False)
look('steps', lambda: steps(model, lambda m: nn.HuberLoss()(m(x), y)))
look('gradients', lambda: [p.grad for p in model.parameters()])
look('thawed', lambda: steps(model.requires_grad_(True), lambda m: nn.SmoothL1Loss()(m(x), y)))
""")

script("nn.training.clipped and normed", STEPS + """
x, y = torch.randn(8, 3), torch.randn(8, 1)
model = nn.Linear(3, 1)
nn.utils.parametrizations.weight_norm(model)
def loss_of(m):
    loss = ((m(x) - y) ** 2).sum()
    return loss
look('weight norm', lambda: steps(model, loss_of))
other = nn.utils.spectral_norm(nn.Linear(3, 3))
look('spectral norm', lambda: steps(other, lambda m: m(x).square().sum(), 3))
third = nn.Linear(3, 1)
loss_of(third).backward()
look('clipped', lambda: (nn.utils.clip_grad_norm_(third.parameters(), 1.0), [p.grad for p in third.parameters()]))
""")

script("nn.training.hooks", """
seen = []
model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1)))
for name, module in model.named_modules():
    module.register_forward_hook(lambda m, a, r, name=name: seen.append(('forward', name, tuple(r.shape))))
    module.register_full_backward_hook(lambda m, gi, go, name=name: seen.append(('backward', name, [None if g is None else tuple(g.shape) for g in gi])))
x = torch.randn(3, 2, requires_grad=True)
look('run', lambda: (model(x).sum().backward(), x.grad)[1])
look('order', lambda: list(seen))
first = nn.Linear(2, 2)
first.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
look('changed', lambda: torch.autograd.grad(first(x).sum(), x))
first.register_forward_pre_hook(lambda m, a: (a[0] * 3,))
look('changed before', lambda: torch.autograd.grad(first(x).sum(), x))
""")
