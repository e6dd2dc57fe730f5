"""`__torch_function__`: subclasses of Tensor, other objects, modes; what they are told and what comes back."""

from compat_matrix.case import case, raises


def logging(torch, log):
    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append((func.__name__, [t.__name__ for t in types], len(args), sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs or {})

    return Logged


def duck(torch):
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "quack", func.__name__, [t.__name__ for t in types], len(args), sorted(kwargs or {})

    return Duck()


def calls(torch):
    """{label: f(subclass instance, plain tensor)}."""
    F = torch.nn.functional
    return {
        "operators": {
            "add": lambda s, p: s + 1, "radd": lambda s, p: 1 + s, "plain +": lambda s, p: p + s, "sub": lambda s, p: s - 1, "rsub": lambda s, p: 1 - s,
            "plain -": lambda s, p: p - s, "mul": lambda s, p: s * 2, "div": lambda s, p: s / 2, "rdiv": lambda s, p: 2 / s, "pow": lambda s, p: s ** 2,
            "rpow": lambda s, p: 2 ** s, "matmul": lambda s, p: s @ s, "plain @": lambda s, p: p @ s, "mod": lambda s, p: s % 2,
            "floordiv": lambda s, p: s // 2,
            "and": lambda s, p: (s > 0) & True, "neg": lambda s, p: -s, "abs": lambda s, p: abs(s), "invert": lambda s, p: ~(s > 0),
            "eq": lambda s, p: s == 1,
            "plain ==": lambda s, p: p == s, "lt": lambda s, p: s < 1, "plain <": lambda s, p: p < s, "iadd": lambda s, p: s.__iadd__(1),
            "imul": lambda s, p: s.__imul__(1)},
        "indexing": {"select": lambda s, p: s[0], "by": lambda s, p: p[s.long() * 0], "set": lambda s, p: s.__setitem__(0, 1.0), "len": lambda s, p: len(s),
                     "contains": lambda s, p: 1 in s, "bool": lambda s, p: bool(s.sum()), "float": lambda s, p: float(s[0, 0]), "repr": lambda s, p: repr(s),
                     "format": lambda s, p: f"{s[0, 0]}"},
        "attributes": {n: (lambda s, p, n=n: getattr(s, n)) for n in ("shape", "ndim", "dtype", "requires_grad", "grad", "grad_fn", "data", "T",
        "is_leaf", "_version")},
        "methods": {
            "add": lambda s, p: s.add(1), "plain.add": lambda s, p: p.add(s), "chunk": lambda s, p: s.chunk(2), "split": lambda s, p: s.split(1),
            "clone": lambda s, p: s.clone(),
            "detach": lambda s, p: s.detach(), "to": lambda s, p: s.to(torch.float64), "double": lambda s, p: s.double(), "tolist": lambda s, p: s.tolist(),
            "item": lambda s, p: s.sum().item(), "reshape": lambda s, p: s.reshape(-1), "view": lambda s, p: s.view(4), "stride": lambda s, p: s.stride(),
            "new_zeros": lambda s, p: s.new_zeros(2), "norm": lambda s, p: s.norm(), "size": lambda s, p: s.size(0), "numel": lambda s, p: s.numel(),
            "contiguous": lambda s, p: s.contiguous(),
            "requires_grad_": lambda s, p: s.clone().requires_grad_(), "out of class": lambda s, p: s.as_subclass(torch.Tensor)},
        "functions": {
            "add": lambda s, p: torch.add(s, 1), "keyword": lambda s, p: torch.add(p, other=s), "out": lambda s, p: torch.add(p, p, out=s.clone()),
            "cat": lambda s, p: torch.cat([p, s]),
            "where": lambda s, p: torch.where(p > 0, s, p), "split": lambda s, p: torch.split(s, 1), "max": lambda s, p: torch.max(s, 0),
            "einsum": lambda s, p: torch.einsum("ij,jk->ik", s, p),
            "zeros_like": lambda s, p: torch.zeros_like(s), "tensor": lambda s, p: torch.tensor(s.detach().as_subclass(torch.Tensor)),
            "as_tensor": lambda s, p: torch.as_tensor(s),
            "is_tensor": lambda s, p: torch.is_tensor(s), "allclose": lambda s, p: torch.allclose(s, p), "norm": lambda s, p: torch.norm(s),
            "inv": lambda s, p: torch.linalg.inv(p + 0 * s + torch.eye(2)),
            "fft": lambda s, p: torch.fft.fft(s), "erf": lambda s, p: torch.special.erf(s), "reshape": lambda s, p: torch.reshape(s, (-1,)),
            "matmul": lambda s, p: torch.matmul(p, s)},
        "functional": {
            "relu": lambda s, p: F.relu(s), "linear": lambda s, p: F.linear(s, p), "bias": lambda s, p: F.linear(p, p, s[0]),
            "softmax": lambda s, p: F.softmax(s, 0), "mse": lambda s, p: F.mse_loss(s, p),
            "cross_entropy": lambda s, p: F.cross_entropy(s, torch.tensor([0, 1])), "gelu": lambda s, p: F.gelu(s),
            "pad": lambda s, p: F.pad(s, (1, 1)), "embedding": lambda s, p: F.embedding(torch.tensor([0]), s), "dropout": lambda s, p: F.dropout(s, 0.0)}}


@case("overrides.told.operators", group="operators")
@case("overrides.told.indexing", group="indexing")
@case("overrides.told.attributes", group="attributes")
@case("overrides.told.methods", group="methods")
@case("overrides.told.functions", group="functions")
@case("overrides.told.functional", group="functional")
def _(torch, group):
    log = []
    Logged = logging(torch, log)
    p = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for label, f in calls(torch)[group].items():
        s = p.clone().as_subclass(Logged)
        log.clear()
        out = f(s, p)
        first = out[0] if isinstance(out, tuple) and out else out
        seen = list(log)
        plain = out.as_subclass(torch.Tensor) if isinstance(out, torch.Tensor) else None if isinstance(out, tuple) else out
        yield label, seen, type(first).__name__, plain


@case("overrides.gradient")
def _(torch):
    log = []
    Logged = logging(torch, log)
    x = torch.tensor([1.0, 2.0]).as_subclass(Logged).requires_grad_()
    log.clear()
    y = (x * x).sum()
    yield "node", y.grad_fn.name(), y.requires_grad
    y.backward()
    yield "told", [name for name, *_ in log if name != "__get__"]
    yield "grad", x.grad, type(x.grad).__name__
    log.clear()
    (g,) = torch.autograd.grad((x ** 3).sum(), x)
    yield "autograd.grad", log, type(g).__name__, g.as_subclass(torch.Tensor)


@case("overrides.subclass")
def _(torch):
    class S(torch.Tensor):
        pass

    class S2(S):
        pass

    class U(torch.Tensor):
        pass

    class P(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    p = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    s, s2, u = p.as_subclass(S), p.as_subclass(S2), p.as_subclass(U)
    yield ("kinds", [type(x).__name__ for x in (s + s2, s2 + s, s + p, p + s, s + torch.nn.Parameter(p), p.as_subclass(P) + 1, s + p.as_subclass(P),
           s.data, s.T, next(iter(s)))])
    yield "unrelated", raises(lambda: s + u), raises(lambda: torch.nn.functional.mse_loss(s, u))
    yield "constructor", type(S([1, 2])).__name__, S(2, 3).shape, type(S(p)).__name__, type(s.new_ones(2)).__name__
    m = torch.Tensor._make_subclass(S, p, True)
    yield "make", type(m).__name__, m.requires_grad, m.is_leaf
    yield "parameter", type(torch.nn.Parameter(s)).__name__, isinstance(torch.nn.Parameter(s), torch.nn.Parameter), isinstance(s, torch.nn.Parameter)
    yield "repr", repr(s), str(s[0, 0])
    yield "tuples", [type(x).__name__ for x in torch.sort(s)], type(torch.sort(s)).__name__, [type(x).__name__ for x in s.unbind()]
    with torch._C.DisableTorchFunctionSubclass():
        yield "disabled", type(s + 1).__name__, type(s.T).__name__, torch._C._is_torch_function_enabled()
    yield "enabled", torch._C._is_torch_function_enabled(), type(s + 1).__name__
    s += 1
    yield "in place", type(s).__name__, p


@case("overrides.attribute_kept")
def _(torch):
    class Tagged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            out = super().__torch_function__(func, types, args, kwargs or {})
            if isinstance(out, cls) and not hasattr(out, "tag"):
                out.tag = next(getattr(a, "tag", None) for a in args if isinstance(a, cls))
            return out

    t = torch.tensor([1.0, 2.0]).as_subclass(Tagged)
    t.tag = "a"
    u = torch.exp(t * 2) + 1
    yield "tag", u.tag, type(u).__name__, u.sum().tag


@case("overrides.scalar_wrapper")
def _(torch):
    handled = {}

    class Diagonal:
        def __init__(self, n, value):
            self.n, self.value = n, value

        def tensor(self):
            return self.value * torch.eye(self.n)

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in handled or not all(issubclass(t, (torch.Tensor, cls)) for t in types):
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    def handles(f):
        return lambda g: handled.setdefault(f, g)

    @handles(torch.mean)
    def mean(x):
        return float(x.value) / x.n

    @handles(torch.matmul)
    def matmul(a, b):
        a, b = (x.tensor() if isinstance(x, Diagonal) else x for x in (a, b))
        return torch.matmul(a, b)

    @handles(torch.Tensor.add)
    def add(a, b):
        return (a.tensor() if isinstance(a, Diagonal) else a) + (b.tensor() if isinstance(b, Diagonal) else b)

    d, p = Diagonal(2, 3.0), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    yield "mean", torch.mean(d)
    yield "matmul", torch.matmul(d, p), torch.matmul(p, d)
    yield "add", p + d
    yield "missing", raises(lambda: torch.exp(d))


@case("overrides.duck")
def _(torch):
    d, p, F = duck(torch), torch.ones(2, 2), torch.nn.functional
    torch.add(d, 1)
    yield "operators", p + d, p - d, p @ d, p == d, p < d
    yield ("functions", torch.add(d, 1), torch.add(p, d), torch.add(input=p, other=d), torch.add(p, p, out=d), torch.exp(d), torch.mean(d),
           torch.where(p > 0, d, p))
    yield "lists", torch.cat([p, d]), torch.cat((d, p), dim=1), torch.stack([d, d]), torch.einsum("ij,jk", p, d)
    yield "methods", p.add(d), p.to(d)
    yield "functional", F.softmax(d, 0)[:3], F.linear(p, d), F.linear(p, p, d), F.mse_loss(d, p), F.relu(d), F.dropout(d), F.conv2d(d, p)
    yield "not a tensor", torch.is_tensor(d), torch.overrides.is_tensor_like(d)


@case("overrides.declined")
def _(torch):
    class No:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    n, d, p = No(), duck(torch), torch.ones(2)
    yield "operator", raises(lambda: p + n)
    yield "next", torch.add(n, d)
    yield "asked", raises(lambda: torch.overrides.handle_torch_function(torch.add, (3,), 3))


@case("overrides.helpers")
def _(torch):
    class S(torch.Tensor):
        pass

    O, d, p = torch.overrides, duck(torch), torch.ones(2)
    s = p.as_subclass(S)
    yield "has", O.has_torch_function((p, s)), O.has_torch_function((p, torch.nn.Parameter(p))), O.has_torch_function([d])
    yield "like", O.is_tensor_like(d), O.is_tensor_like(p), O.is_tensor_like(3)
    yield ("method", O.is_tensor_method_or_property(torch.Tensor.add), O.is_tensor_method_or_property(torch.add),
           O.is_tensor_method_or_property(torch.Tensor.shape.__get__))
    yield "names", O.resolve_name(torch.add), O.resolve_name(torch.Tensor.add), O.resolve_name(torch.nn.functional.softmax)
    yield "handle", O.handle_torch_function(torch.add, (d,), 1, 2, a=3)

    def own(a, b=1):
        if O.has_torch_function((a,)):
            return O.handle_torch_function(own, (a,), a, b=b)
        return "own"

    yield "own", own(p), own(d)


@case("overrides.mode")
def _(torch):
    log = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, 2)
    torch.add(x, 1)
    with Mode():
        y = x @ x
        z = y[0] * 2
        torch.cat([z, z]).sum()
        torch.nn.functional.softmax(z, 0)
        torch.zeros(2)
        z.add_(1)
    yield "seen", log
    log.clear()
    with Mode(), Mode():
        torch.add(x, 1)
    yield "nested", log
    log.clear()
    yield "after", torch.add(x, 1), log

    class Twice(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            return out * 2 if func is torch.exp else out

    with Twice():
        yield "changed", torch.exp(x * 0)
    yield "as before", torch.exp(x * 0)


@case("overrides.modes.methods")
def _(torch):
    class Seen(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return NotImplemented if func is torch.exp else func(*args, **(kwargs or {}))

    seen = []
    with Seen() as mode:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        torch.as_tensor([3.0])
        y = (x * 2).sum()
        yield "numbers", y.item(), x.tolist(), x.detach().numpy().tolist()
        yield "stack", torch.overrides._get_current_function_mode() is mode, len(torch.overrides._get_current_function_mode_stack())
        try:
            torch.exp(x)
        except TypeError as error:
            yield "declined", str(error).partition(" <")[0]
    yield "seen", seen
    yield "after", torch.overrides._get_current_function_mode(), torch.tensor([2.0]).item()
