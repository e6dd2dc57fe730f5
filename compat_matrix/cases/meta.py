"""Tensors without data: device "meta"."""

import copy
import io
import pickle
import warnings

from compat_matrix.case import attempt, case


def told(torch, x):
    """What there is to know of a tensor without data."""
    if isinstance(x, torch.Tensor):
        return [list(x.shape), str(x.dtype), str(x.device), x.requires_grad, None if x.grad_fn is None else x.grad_fn.name()]
    if isinstance(x, dict):
        return {k: told(torch, v) for k, v in x.items()}
    return [told(torch, i) for i in x] if isinstance(x, (list, tuple)) else x


def names(torch):
    """What expressions may use."""
    return {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "io": io, "m": lambda *s, **k: torch.empty(*s, device="meta", **k),
            "c": lambda *s: torch.ones(*s), "i": lambda *v: torch.tensor(v), "mi": lambda *s: torch.zeros(*s, dtype=torch.int64, device="meta")}


def tried(torch, expressions):
    """Each expression's value, or its error."""
    for text in expressions:
        yield text, attempt(lambda text=text: told(torch, eval(text, names(torch))))


@case("meta.factories")
def _(torch):
    yield from tried(torch, (
        "m(2, 3)", "m(())", "m(2, dtype=torch.int8)", "torch.zeros(2, device='meta')", "torch.ones((2, 1), device='meta', requires_grad=True)",
        "torch.full((2,), 3, device='meta')", "torch.full((2,), 3., device='meta')", "torch.arange(5, device='meta')", "torch.eye(2, device='meta')",
        "torch.linspace(0, 1, 3, device='meta')", "torch.tensor([1., 2.], device='meta')", "torch.tensor(True, device='meta')",
        "torch.as_tensor(c(2), device='meta')", "torch.rand(2, device='meta')", "torch.randn(2, device='meta', dtype=torch.float16)",
        "torch.randint(0, 5, (2,), device='meta')", "torch.randperm(4, device='meta')", "torch.normal(0., 1., (2,), device='meta')",
        "torch.zeros_like(m(2))", "torch.zeros_like(m(2), device='cpu')", "torch.empty_like(c(2), device='meta')", "torch.randn_like(m(2))",
        "torch.rand_like(m(3, 2).t())", "m(2).new_zeros(3)", "m(2).new_tensor([1., 2.])", "c(2).new_zeros(3, device='meta')", "torch.tril_indices(3, 3, device='meta')",
        "torch.empty(2, device='meta:1')", "torch.empty(10**6, 10**6, device='meta')", "torch.scalar_tensor(2., device='meta')",
        "torch.empty_strided((2, 2), (1, 2), device='meta').stride()", "torch.tensor(m(2))", "c(2).to('meta')", "m(2).to('meta', torch.float16)",
        "m(2).double()", "m(2).to(torch.float64)", "nn.Linear(2, 3, device='meta').weight"))


@case("meta.asked")
def _(torch):
    yield from tried(torch, (
        "m(2).is_meta", "c(2).is_meta", "m(2).is_cpu", "m(2).device == torch.device('meta')", "m(2).get_device()", "m(2).type()", "m(2).nbytes", "m(2).data_ptr()",
        "m(3, 2).t().stride()", "m(2).is_contiguous()", "len(m(3))", "repr(m(2, 3))", "repr(m(()))", "repr(m(2, requires_grad=True))", "repr(m(2, dtype=torch.int32))",
        "repr(m(2, requires_grad=True) * 2)", "f'{m(2)}'", "f'{m(())}'", "repr(nn.Parameter(m(2)))", "repr(m(3).untyped_storage())", "m(3).untyped_storage().nbytes()",
        "str(m(3).untyped_storage().device)", "m(2)._version", "m(2).data", "m(2).numel()", "m(2).element_size()", "[len(x) for x in m(2, 3)]"))


@case("meta.values_refused")
def _(torch):
    yield from tried(torch, (
        "m(1).item()", "m(2).item()", "m(()).item()", "m(2).tolist()", "m(()).tolist()", "m(2).numpy()", "m(2).numpy(force=True)", "m(2).__array__()", "bool(m(1))",
        "bool(m(2))", "int(m(1))", "float(m(1))", "complex(m(1))", "f'{m(()):.2f}'", "1.0 in m(3)", "m(2).to('cpu')", "m(2).cpu()", "m(2).to(c(2))",
        "m(2).to('cpu', torch.float64)", "m(2).type('torch.FloatTensor')", "c(2).copy_(m(2))", "m(3).nonzero()", "torch.argwhere(m(2, 3))", "m(3)[m(3) > 0]",
        "m(3).unique()", "m(3).unique_consecutive()", "torch.equal(m(2), m(2))", "torch.allclose(m(2), m(2))", "m(3).masked_select(m(3) > 0)",
        "m(3).repeat_interleave(mi(3))", "torch.bincount(mi(3))", "F.one_hot(mi(3))", "torch.is_nonzero(m(1))", "torch.full((2,), m(()))", "torch.arange(m(()))",
        "range(mi(()))", "[1, 2][mi(())]", "torch.tensor([m(()), m(())])", "torch.utils.dlpack.to_dlpack(m(2))", "m(3).share_memory_()", "m(3).pin_memory()",
        "1 if m(()) > 0 else 2", "nn.Linear(2, 3, device='meta').to('cpu')", "nn.Linear(2, 3, device='meta').cpu()", "m(3).sum().item()"))


@case("meta.operators")
def _(torch):
    yield from tried(torch, (
        "m(2) + m(2)", "m(2) * 2", "m(2, 3) + m(3)", "m(2, dtype=torch.int32) + 1.5", "m(2, dtype=torch.int32) + m(2, dtype=torch.float16)", "m(2) == m(2)",
        "m(2) + c(())", "c(()) + m(2)", "m(2) + torch.tensor(2., dtype=torch.float64)", "m(2, 3) @ m(3, 4)", "torch.einsum('ij,jk->ik', m(2, 3), m(3, 4))",
        "m(3).max()", "m(3, 2).max(1)", "m(3, 2).sort()", "m(3, 2).topk(1)", "torch.linalg.det(m(3, 3))", "torch.linalg.eigh(m(3, 3))", "torch.fft.fft(m(3))",
        "F.softmax(m(3), 0)", "F.cross_entropy(m(3, 4), mi(3))", "F.scaled_dot_product_attention(m(1, 2, 3, 4), m(1, 2, 3, 4), m(1, 2, 3, 4))",
        "F.layer_norm(m(2, 3), (3,))", "F.batch_norm(m(2, 3), m(3), m(3), training=True)", "F.max_pool2d(m(1, 1, 4, 4), 2)", "F.conv2d(m(1, 1, 3, 3), m(1, 1, 2, 2))",
        "F.interpolate(m(1, 1, 4, 4), scale_factor=2)", "F.embedding(i(1), m(3, 2))", "F.embedding(mi(1), m(3, 2))", "m(3)[i(0, 1)]", "m(3)[c(3) > 0]",
        "m(3).index_select(0, i(0))", "m(3).gather(0, i(0))", "m(3).take(i(0))", "m(3).masked_fill(m(3) > 0, 0)", "m(3).where(m(3) > 0, m(3))", "m(4).split(2)",
        "m(3).unbind()", "m(2, 3).t()[1:, ::2]", "m(4, 6).as_strided((2, 2), (1, 3), 2)", "m(2, 3).view(6)", "m(2, 3).expand(4, 2, 3)", "torch.cat([m(2), m(3)])",
        "m(3).cumsum(0)", "torch.isnan(m(3)).any()", "torch.complex(m(2), m(2))", "F.one_hot(mi(3), 4)", "F.dropout(m(3))", "torch.bernoulli(m(3))",
        "torch.multinomial(m(3), 2)", "torch.cdist(m(2, 3), m(4, 3))", "torch.histc(m(3))", "torch.vmap(lambda x: x * 2)(m(2, 3))",
        "torch.func.grad(lambda x: (x ** 2).sum())(m(3))", "torch.func.jacrev(torch.sin)(m(3))", "F.gumbel_softmax(m(3))", "torch.testing.assert_close(m(2), m(2))",
        "nn.MultiheadAttention(4, 2, device='meta')(m(2, 1, 4), m(2, 1, 4), m(2, 1, 4))[0].shape", "nn.LSTM(2, 3, device='meta')(m(4, 1, 2))[0].shape",
        "nn.TransformerEncoderLayer(4, 2, 8, device='meta')(m(2, 1, 4))", "nn.utils.parameters_to_vector([m(3), m(2)])"))


@case("meta.mixed")
def _(torch):
    yield from tried(torch, (
        "m(2) + c(2)", "c(2) + m(2)", "c(2) * m(1)", "c(2) + m(())", "m(2) == c(2)", "torch.cat([m(2), c(2)])", "torch.stack([c(2), m(2)])",
        "torch.where(m(2) > 0, c(2), c(2))", "torch.where(c(2) > 0, m(2), m(2))", "m(2).masked_fill(c(2) > 0, 0)", "m(2) @ c(2)", "m(2, 2) @ c(2, 2)",
        "F.linear(m(2, 2), c(2, 2))", "F.linear(m(2, 2), m(2, 2), c(2))", "F.linear(c(2, 2), m(2, 2), m(2))", "torch.addmm(m(2), c(2, 2), m(2, 2))",
        "F.conv2d(m(1, 1, 3, 3), c(1, 1, 2, 2))", "F.layer_norm(m(2, 2), (2,), c(2))", "torch.outer(m(2), c(2))", "torch.einsum('i,j->ij', m(2), c(2))",
        "torch.add(m(2), m(2), out=c(2))", "torch.add(c(2), c(2), out=m(2))", "torch.add(m(2), m(2), out=m(2))", "m(2).copy_(c(2))", "m(3).copy_(c(2))",
        "m(2).set_(c(2))", "setattr(c(2), 'data', m(2))", "setattr(m(2), 'data', c(2))", "setattr(c(3).requires_grad_(), 'grad', m(3))",
        "setattr(m(3, requires_grad=True), 'grad', c(3))", "m(3, requires_grad=True).backward(c(3))", "(c(3).requires_grad_() * 2).backward(m(3))"))


@case("meta.backward")
def _(torch):
    nn = torch.nn

    w, x = torch.empty(3, 2, device="meta", requires_grad=True), torch.empty(4, 3, device="meta")
    y = (x @ w).relu().sum()
    y.backward()
    yield "gradient", told(torch, [y, w.grad])
    g, = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
    yield "second", told(torch, [g, torch.autograd.grad(g.sum(), w)[0]])
    seen = []
    z = w * 2
    z.register_hook(lambda g: seen.append(told(torch, g)))
    z.mean().backward()
    yield "hook", seen
    one = torch.empty(1, device="meta", requires_grad=True)
    (one * 2).backward()
    yield "one element", told(torch, one.grad)
    with torch.autograd.forward_ad.dual_level():
        d = torch.autograd.forward_ad.make_dual(x, x).sin()
        yield "tangent", told(torch, torch.autograd.forward_ad.unpack_dual(d).tangent)
    def into_data(f):
        x, number = torch.ones(3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
        error = attempt(lambda: f(x, number).sum().backward())
        return [error, x.grad is None, number.grad is None, attempt(lambda: (x * 2).sum().item())]

    yield "moved", into_data(lambda x, number: x.to("meta"))
    yield "moved and more", into_data(lambda x, number: x.to("meta").mul(2).exp())
    yield "number", into_data(lambda x, number: torch.empty(3, device="meta", requires_grad=True) * number)
    yield "no gradient", into_data(lambda x, number: torch.empty(3, device="meta", requires_grad=True) * number.detach())
    for name, make in (("sgd", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)), ("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)):
        layer = nn.Sequential(nn.Linear(3, 2, device="meta"), nn.LayerNorm(2, device="meta"))
        opt = make(layer.parameters())
        layer(x).sum().backward()
        opt.step()
        opt.zero_grad()
        yield name, told(torch, list(layer.parameters()))


@case("meta.in_place")
def _(torch):
    a = torch.empty(3, device="meta")
    a.add_(1).mul_(torch.empty(3, device="meta"))
    a[0] = 5
    a.zero_()
    a.fill_(3)
    a[1:].copy_(torch.ones(2))
    yield "written", told(torch, a), a._version
    b = torch.empty(4, 6, device="meta")
    v = b.t()[1:]
    v.mul_(2)
    yield "view", v._base is b, b._version, list(v.stride()), v.storage_offset()
    yield from tried(torch, ("m(3).normal_()", "m(3).uniform_(2, 1)", "m(3).bernoulli_()", "m(3).random_(5)", "m(3).exponential_()", "m(3).resize_(5)",
                             "m(3).index_put_((mi(1),), m(1))", "m(3).scatter_(0, mi(1), m(1))", "m(3).requires_grad_()", "m(3, requires_grad=True).add_(1)"))


@case("meta.generator_untouched")
def _(torch):
    nn = torch.nn

    torch.manual_seed(0)
    m = torch.empty(3, 3, device="meta")
    m.normal_()
    torch.randn(3, device="meta")
    nn.Linear(3, 3, device="meta")
    nn.functional.dropout(m)
    torch.bernoulli(m)
    torch.multinomial(m, 2)
    torch.randperm(5, device="meta")
    nn.utils.skip_init(nn.Linear, 3, 3)
    for f in ("kaiming_uniform_", "xavier_normal_", "orthogonal_", "trunc_normal_", "zeros_", "eye_", "normal_"):
        yield f, told(torch, getattr(nn.init, f)(m))
    yield "sparse", told(torch, nn.init.sparse_(m, 0.1))
    yield "dirac", told(torch, nn.init.dirac_(torch.empty(3, 3, 3, device="meta")))
    yield "next", torch.rand(3)


@case("meta.default_device")
def _(torch):
    nn = torch.nn

    with torch.device("meta"):
        yield "context", told(torch, [torch.zeros(2), torch.tensor([1, 2]), nn.Linear(2, 3).weight, torch.arange(4), torch.eye(3), torch.rand(2),
                                      torch.linspace(0, 1, 3), torch.as_tensor([1.0]), nn.BatchNorm1d(3).running_mean, torch.zeros(2, device="cpu")])
    yield "after", str(torch.zeros(2).device)
    torch.set_default_device("meta")
    try:
        yield "default", told(torch, [torch.zeros(2), torch.randn(3)]), str(torch.get_default_device())
    finally:
        torch.set_default_device(None)


@case("meta.modules")
def _(torch):
    nn = torch.nn

    net = nn.Sequential(nn.Linear(2, 3, device="meta"), nn.BatchNorm1d(3, device="meta"))
    before = net[0].weight
    net.to_empty(device="cpu")
    yield "to_empty", told(torch, dict(net.state_dict())), net[0].weight is before, type(net[0].weight) is nn.Parameter
    net.load_state_dict({k: torch.full_like(v, 2) for k, v in net.state_dict().items()})
    yield "filled", net[0](torch.ones(1, 2))
    w = net[0].weight
    net.to("meta")
    yield "to meta", told(torch, dict(net.state_dict())), net[0].weight is w
    yield "half", told(torch, net.half()[0].weight)
    layer, given = nn.Linear(2, 3, device="meta"), nn.Linear(2, 3).state_dict()
    yield "assign", [list(x) for x in layer.load_state_dict(given, assign=True)], told(torch, layer.weight), layer.weight.data_ptr() == given["weight"].data_ptr()
    layer = nn.Linear(2, 3, device="meta")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        layer.load_state_dict(given)
    yield "copied", told(torch, layer.weight), [str(w.message) for w in said]
    yield "into cpu", attempt(lambda: nn.Linear(2, 3).load_state_dict(nn.Linear(2, 3, device="meta").state_dict()))
    yield "skip_init", told(torch, nn.utils.skip_init(nn.Linear, 2, 3).weight)
    yield "deepcopy", told(torch, copy.deepcopy(nn.Linear(2, 3, device="meta")).weight)
    net = nn.Linear(2, 3)
    net.weight.grad = torch.ones(3, 2)
    yield "gradient moves", told(torch, net.to("meta").weight.grad)


@case("meta.init_empty_weights")
def _(torch):
    nn = torch.nn

    usual = nn.Module.register_parameter

    def register(self, name, param):
        usual(self, name, param)
        if param is not None:
            kind, fields = type(self._parameters[name]), dict(self._parameters[name].__dict__)
            fields["requires_grad"] = param.requires_grad
            self._parameters[name] = kind(self._parameters[name].to("meta"), **fields)

    nn.Module.register_parameter = register
    try:
        net = nn.TransformerEncoderLayer(8, 2, 16)
    finally:
        nn.Module.register_parameter = usual
    yield "all of them", {k: str(v.device) for k, v in net.state_dict().items()}
    yield "out", told(torch, net(torch.empty(3, 1, 8, device="meta")))
    net.load_state_dict(nn.TransformerEncoderLayer(8, 2, 16).state_dict(), assign=True)
    yield "back", list(net(torch.zeros(3, 1, 8)).shape)


@case("meta.files")
def _(torch):
    nn = torch.nn

    def through(x, **how):
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        return torch.load(file, **how)

    yield "with data", told(torch, through({"a": torch.ones(3), "b": torch.empty(2, 2, device="meta").t(), "p": nn.Parameter(torch.empty(2, device="meta"))}))
    found = through({"a": torch.ones(3, 2).t(), "p": nn.Parameter(torch.ones(2)), "s": nn.Linear(2, 3).state_dict()}, map_location="meta")
    yield "to meta", told(torch, found), list(found["a"].stride())
    yield "device", told(torch, through({"a": torch.ones(3)}, map_location=torch.device("meta")))
    yield "pickled", told(torch, pickle.loads(pickle.dumps(torch.empty(2, 3, device="meta"))))
    yield "copied", told(torch, copy.deepcopy(torch.empty(2, 3, device="meta", requires_grad=True)))


@case("meta.optimizer_steps")
def _(torch):
    for name, options in (("SGD", {"momentum": 0.9}), ("Adam", {}), ("AdamW", {"amsgrad": True}), ("RMSprop", {"centered": True}), ("Adagrad", {}), ("Rprop", {}),
                          ("Adadelta", {}), ("Adamax", {}), ("RAdam", {}), ("NAdam", {})):
        p, q = torch.nn.Parameter(torch.ones(2, 3, device="meta")), torch.nn.Parameter(torch.ones(2, 3))
        p.grad, q.grad = torch.ones_like(p), torch.ones_like(q)
        optimizer = getattr(torch.optim, name)([p, q], **options)
        for _ in range(2):
            optimizer.step()
        states = [{n: (str(t.device), tuple(t.shape)) for n, t in optimizer.state[t].items() if isinstance(t, torch.Tensor)} for t in (p, q)]
        yield name, states, q.detach(), [t.item() for n, t in optimizer.state[p].items() if n in ("step", "mu_product")], str(p.device), p._version > 0


@case("meta.shapes_refused")
def _(torch):
    yield from tried(torch, (
        "torch.addmm(m(5), m(2, 3), m(3, 4))", "torch.addmm(m(4), m(2, 3), m(4, 4))", "torch.mm(m(2), m(2, 3))", "torch.mm(m(2, 3), m(4, 5))", "m(2, 3) @ m(2, 3)",
        "torch.mv(m(2, 3), m(4))", "torch.mv(m(2), m(4))", "torch.dot(m(2), m(3))", "torch.addmv(m(3), m(2, 3), m(3))", "torch.addcmul(m(2), m(3), m(2))",
        "torch.lerp(m(2), m(3), 0.5)", "torch.clamp(m(2), m(3))", "m(2, 3) * m(4, 1)", "m(2, 1, 3) * m(2, 3, 4)", "torch.stack([m(2, 3), m(2, 4)])",
        "torch.cat([m(2, 3), m(2)])", "torch.cat([m(2, 3), m(4, 3)], 1)", "torch.cat([m(2, 3), m(2, 4), m(2, 3)], 1)", "m(2).add_(m(3))", "m(2, 3).mul_(m(4, 2, 3))",
        "F.conv1d(m(1, 3, 4), m(2, 4, 3))", "F.conv2d(m(1, 4, 4, 4), m(2, 2, 3, 3), groups=3)", "F.layer_norm(m(3), (3, 4))", "F.layer_norm(m(2, 3), (3,), m(4))",
        "m(2, 3).pow(m(4))", "m(2) < m(3)", "torch.where(m(2) > 0, m(3), 1.0)", "m(2, 3).masked_fill(m(4) > 0, 0)", "F.linear(m(2, 3), m(4, 5))",
        "F.linear(m(2, 3), m(4, 3), m(5))", "torch.bmm(m(2, 3, 4), m(3, 4, 5))", "torch.matmul(m(2, 3, 4), m(3, 5))", "m(3) @ m(4)", "m(2, 3) @ m(4)"))
