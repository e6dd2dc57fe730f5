"""Tensors of a subclass go through modules, whose parameters override nothing and are not told among the types; the subclass comes out."""

from compat_matrix.case import case


def made(torch):
    class Named(torch.Tensor):
        pass

    torch.manual_seed(0)
    return torch.rand(3, 3).as_subclass(Named)


def kind(f):
    try:
        return type(f()).__name__
    except Exception as e:
        return type(e).__name__, str(e).partition("[")[0]


@case("subclasses_in_modules.layers")
def _(torch):
    nn, x = torch.nn, made(torch)
    layers = {"LayerNorm": nn.LayerNorm(3), "BatchNorm1d": nn.BatchNorm1d(3), "GroupNorm": nn.GroupNorm(1, 3), "RMSNorm": nn.RMSNorm(3),
              "Linear": nn.Linear(3, 2), "PReLU": nn.PReLU(), "GRUCell": nn.GRUCell(3, 2), "Softmax": nn.Softmax(1), "Dropout": nn.Dropout(0.5)}
    for name, layer in layers.items():
        yield name, kind(lambda layer=layer: layer(x)), kind(lambda layer=layer: layer(x.requires_grad_()).sum())
    three = {"Conv1d": nn.Conv1d(3, 3, 1), "InstanceNorm1d": nn.InstanceNorm1d(3, affine=True), "ConvTranspose1d": nn.ConvTranspose1d(3, 3, 1),
             "TransformerEncoderLayer": nn.TransformerEncoderLayer(3, 1, 4)}
    for name, layer in three.items():
        yield name, kind(lambda layer=layer: layer(x[None]))
    yield "attention", kind(lambda: nn.MultiheadAttention(3, 1)(x, x, x)[0]), kind(lambda: nn.Bilinear(3, 3, 2)(x, x))
    yield "rows", kind(lambda: nn.Embedding(3, 2)(x.detach().long())), kind(lambda: nn.EmbeddingBag(3, 2)(x.detach().long()))


@case("subclasses_in_modules.functions")
def _(torch):
    F, x, w = torch.nn.functional, made(torch), torch.nn.Parameter(torch.ones(3))
    yield "norms", kind(lambda: F.layer_norm(x, (3,), w)), kind(lambda: F.batch_norm(x, None, None, w, w, True)), kind(lambda: F.normalize(w + x))
    yield "others", kind(lambda: torch.einsum("ij,j", x, w)), kind(lambda: torch.where(x > 0, w, x)), kind(lambda: F.linear(x, torch.nn.Parameter(torch.eye(3))))
    yield "loss", kind(lambda: F.mse_loss(x, w.expand(3, 3))), kind(lambda: F.cosine_similarity(x, w))


@case("subclasses_in_modules.types_that_are_told")
def _(torch):
    told = []

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append((func.__name__, sorted(t.__name__ for t in types)))
            return super().__torch_function__(func, types, args, kwargs or {})

    class Own:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, sorted(t.__name__ for t in types)

    x, w = torch.ones(3, 3).as_subclass(Asked), torch.nn.Parameter(torch.ones(3))
    torch.nn.functional.layer_norm(x, (3,), w)
    torch.add(x, w)
    yield "asked", told
    yield "own", torch.nn.functional.layer_norm(Own(), (3,), w), torch.nn.functional.layer_norm(Own(), (3,), torch.ones(3)), torch.add(Own(), w)


@case("subclasses_in_modules.trained")
def _(torch):
    nn = torch.nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.ReLU(), nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    x, losses = made(torch), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), torch.tensor([0, 1, 1]))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    yield "losses", type(loss).__name__, torch.tensor(losses), [type(p.grad).__name__ for p in net.parameters()]


@case("subclasses_in_modules.names_of_attributes")
def _(torch):
    name, T = torch.overrides.resolve_name, torch.Tensor
    for attribute in ("shape", "grad", "T", "dtype", "data", "requires_grad", "is_leaf", "device", "real"):
        yield attribute, name(getattr(T, attribute).__get__)
    yield "written", name(T.grad.__set__), name(T.data.__set__), name(T.requires_grad.__set__)
    yield "functions", name(torch.einsum), name(torch.split), name(torch.norm), name(torch.add), name(T.add), name(torch.nn.functional.relu), name(len)

    seen = []

    class Asked(T):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(name(func))
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(2, 2).as_subclass(Asked)
    told = x.shape, x.dtype, x.grad, x.T, x.device, x.requires_grad
    x.grad = torch.ones(2, 2)
    yield "asked", seen, len(told)


@case("subclasses_in_modules.gradients_elsewhere")
def _(torch):
    class Around(torch.nn.Parameter):
        """A parameter whose numbers, and gradient, belong to another tensor."""

        def __new__(cls, inner):
            return super().__new__(cls)

        def __init__(self, inner):
            self.inner = inner

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*[a.inner if type(a) is cls else a for a in args], **(kwargs or {}))

    for to_none in (True, False):
        inner, plain = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
        around = Around(inner)
        optimizer, seen = torch.optim.SGD([around, plain], 0.1), []
        for _ in range(2):
            optimizer.zero_grad(set_to_none=to_none)
            (around * plain * 3).sum().backward()
            seen.append(around.grad.clone())
        yield f"to none {to_none}", seen, inner.grad, plain.grad
