"""What subclasses of Tensor are inside derivatives: dual tensors keep the class, what a reverse-mode transformation hands on does not."""

import importlib

from compat_matrix.case import case


def _module(torch, name):
    return importlib.import_module(f"{torch.__name__}.{name}")


def _listening(torch):
    told = []

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if getattr(func, "__name__", "").endswith("_dual"):
                told.append((func.__name__, [t.__name__ for t in types], [type(a).__name__ for a in args], sorted((kwargs or {}).items())))
            return super().__torch_function__(func, types, args, kwargs or {})

    return Told, told


def _names(*ts):
    return [type(t).__name__ for t in ts]


@case("classes_in_derivatives.dual_tensors")
def _(torch):
    forward = torch.autograd.forward_ad
    Told, told = _listening(torch)
    x, s = torch.arange(1., 3), torch.arange(1., 3).as_subclass(Told)
    with forward.dual_level():
        for name, primal, tangent in (("both", s, s), ("primal", s, x), ("tangent", x, s), ("none", x, x), ("parameter", torch.nn.Parameter(x), x)):
            d = forward.make_dual(primal, tangent)
            yield name, _names(d, *forward.unpack_dual(d)), type(forward.unpack_dual(d)).__name__, d.requires_grad
            yield f"{name} product", _names(d * 2, *forward.unpack_dual(d * 2)), forward.unpack_dual(d * 2).tangent.as_subclass(torch.Tensor)
        yield "without", _names(*forward.unpack_dual(s)), forward.unpack_dual(x).primal is x
        d = forward.make_dual(s, s)
        d.mul_(3)
        yield "written", s.as_subclass(torch.Tensor), _names(d)
        with torch._C.DisableTorchFunctionSubclass():
            yield "not asked", _names(forward.make_dual(s, s), forward.unpack_dual(d).primal)
        yield "by name", _names(torch._unpack_dual(d, level=0), torch._make_dual(s, x, level=0))
    yield "told", told


@case("classes_in_derivatives.refused_duals")
def _(torch):
    forward = torch.autograd.forward_ad

    class Refusing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented if func.__name__.endswith("_dual") else super().__torch_function__(func, types, args, kwargs or {})

    x, s = torch.ones(2), torch.ones(2).as_subclass(Refusing)
    for name, f in {"outside": lambda: forward.make_dual(s, x), "level": lambda: torch._make_dual(x, x, level=1), "number": lambda: torch._make_dual(3, x, level=0),
                    "unpacked number": lambda: torch._unpack_dual(3, level=0),
                    "no level": lambda: torch._unpack_dual(x, level=0).tangent}.items():
        try:
            yield name, f()
        except (RuntimeError, TypeError) as refused:
            yield name, type(refused).__name__, str(refused)
    with forward.dual_level():
        for name, f in {"made": lambda: forward.make_dual(x, s), "unpacked": lambda: forward.unpack_dual(s), "whole numbers": lambda: forward.make_dual(s.int(), x),
                        "jvp": lambda: torch.func.jvp(torch.sin, (s,), (x,)), "shape": lambda: forward.make_dual(x, torch.ones(3))}.items():
            try:
                yield name, f()
            except (RuntimeError, TypeError, ValueError) as refused:
                yield name, type(refused).__name__, str(refused).splitlines()[0]


@case("classes_in_derivatives.jvp")
def _(torch):
    Told, told = _listening(torch)
    x, s = torch.arange(1., 3), torch.arange(1., 3).as_subclass(Told)
    inside = []

    def f(x):
        inside.append(type(x).__name__)
        return x * x

    for name, primal, tangent in (("both", s, s), ("primal", s, x), ("tangent", x, s), ("none", x, x)):
        out = torch.func.jvp(f, (primal,), (tangent,))
        yield name, _names(*out), out
    for name, g in {"jacfwd": torch.func.jacfwd(f), "jacrev": torch.func.jacrev(f), "hessian": torch.func.hessian(lambda x: f(x).sum()),
                    "grad": torch.func.grad(lambda x: f(x).sum()), "vmap": torch.vmap(f)}.items():
        yield name, _names(g(s)), g(s)
    yield "inside", inside
    yield "told", told


@case("classes_in_derivatives.other_arguments")
def _(torch):
    class Own(torch.Tensor):
        pass

    x, s = torch.arange(1., 3), torch.arange(1., 3).as_subclass(Own)
    inside = []

    def f(x, y, *, z=None):
        inside.append(_names(x, y[0], *(() if z is None else (z,))))
        y[0].mul_(2)
        return (x * y[0]).sum()

    for name in ("grad", "jacrev", "jacfwd", "hessian"):
        yield name, _names(getattr(torch.func, name)(f)(x, [s])), s.as_subclass(torch.Tensor)
    yield "by name", torch.func.grad(f)(x, [s], z=s)
    yield "both", torch.func.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, s)
    s = s.detach().clone().requires_grad_()
    g = torch.func.grad(lambda x, y: (x * y * y).sum())(x, s)
    yield "history", g.requires_grad, _names(g), torch.autograd.grad(g.sum(), s)[0].as_subclass(torch.Tensor)
    yield "inside", inside


@case("classes_in_derivatives.functions_in_place")
def _(torch):
    """A program may put a function of its own where tensors go into a transformation, to give them their class back."""
    eager, mapped = _module(torch, "_functorch.eager_transforms"), _module(torch, "_functorch.vmap")
    wrap, add = eager._wrap_tensor_for_grad, mapped._add_batch_dim

    class Own(torch.Tensor):
        pass

    def kept(f):
        def keeping(x, *args, **kwargs):
            out = f(x, *args, **kwargs)
            return out.as_subclass(Own) if type(x) is Own else out

        return keeping

    inside = []

    def f(x):
        inside.append((type(x).__name__, x.requires_grad))
        return x * x

    x = torch.arange(1., 3)
    s = x.as_subclass(Own)
    eager._wrap_tensor_for_grad, mapped._add_batch_dim = kept(wrap), kept(add)
    try:
        for name, g in {"grad": torch.func.grad(lambda x: f(x).sum()), "jacrev": torch.func.jacrev(f), "hessian": torch.func.hessian(lambda x: f(x).sum()),
                        "vmap": torch.vmap(f), "in_dims": torch.vmap(f, in_dims=0, out_dims=0), "vjp": lambda x: torch.func.vjp(f, x)[1](x)[0],
                        "vmap of grad": torch.vmap(torch.func.grad(f))}.items():
            yield name, g(s).as_subclass(torch.Tensor), g(x)
    finally:
        eager._wrap_tensor_for_grad, mapped._add_batch_dim = wrap, add
    yield "inside", inside
    yield "none", wrap("text", 1)


@case("classes_in_derivatives.inside_a_forward")
def _(torch):
    """Transformations that a Function runs in its forward, where nothing is recorded, differentiate all the same."""
    w, x, seen = torch.tensor([1., 2.], requires_grad=True), torch.tensor([3., 5.]), []

    class Split(torch.autograd.Function):
        @staticmethod
        def forward(f, x):
            return f(x)

        @staticmethod
        def setup_context(*_):
            pass

        @staticmethod
        def vmap(info, dims, f, x):
            return torch.vmap(f)(x), 0

    class Joint(torch.autograd.Function):
        @staticmethod
        def forward(ctx, f, x):
            return f(x)

    def told(p, x):
        out = p * x * p
        seen.append((torch.is_grad_enabled(), p.requires_grad, out.requires_grad))
        return out

    func = torch.func
    programs = {
        "vjp": lambda x: func.vjp(lambda p: told(p, x), w)[1](x)[0], "grad": lambda x: func.grad(lambda p: told(p, x).sum())(w),
        "of itself": lambda x: func.vjp(lambda p: told(p, w), w)[1](x)[0], "jacrev": lambda x: func.jacrev(lambda p: told(p, x))(w),
        "jvp": lambda x: func.jvp(lambda p: told(p, x), (w,), (x,))[1], "hessian": lambda x: func.hessian(lambda p: told(p, x).sum())(w),
        "map": lambda x: torch.vmap(lambda y: func.vjp(lambda p: told(p, y), w)[1](x)[0])(torch.stack([x, x])),
        "nested": lambda x: func.grad(lambda p: func.grad(lambda q: told(q, p).sum())(w).sum())(x),
        "plain": lambda x: func.vjp(lambda p: told(p, x), x.detach())[1](x)[0],
    }
    for name, f in programs.items():
        for kind in (Split, Joint):
            yield f"{name} {kind.__name__}", kind.apply(f, x), kind.apply(f, w).detach()
        yield f"{name} mapped", torch.vmap(lambda x, f=f: Split.apply(f, x))(torch.stack([x, x + 1]))
        yield f"{name} without", func.grad(lambda y, f=f: (Split.apply(f, x) * y).sum())(x) if name in ("vjp", "grad") else None
    yield "seen", seen


class _Box:
    """A container of a program's own."""

    def __init__(self, x):
        self.x = x


@case("classes_in_derivatives.maps_of_containers")
def _(torch):
    """A program may put functions of its own in the place of the steps of a map, for containers that are none of Python's."""
    mapped = _module(torch, "_functorch.vmap")
    names = "_process_batched_inputs", "_create_batched_inputs", "_unwrap_batched"
    before = [getattr(mapped, n) for n in names]
    opened = []

    def process(in_dims, args, func):
        flat, spec = mapped.tree_flatten(args)
        dims = mapped._broadcast_to_and_flatten(in_dims, spec)
        sizes = [(x.x if isinstance(x, _Box) else x).size(d) for x, d in zip(flat, dims) if d is not None]
        return sizes[0], dims, flat, spec

    def create(dims, flat, level, spec):
        def inside(x, d):
            if d is None:
                return x
            return _Box(mapped._add_batch_dim(x.x, d, level)) if isinstance(x, _Box) else mapped._add_batch_dim(x, d, level)

        return mapped.tree_unflatten([inside(x, d) for x, d in zip(flat, dims)], spec)

    def unwrap(outs, out_dims, level, size, func):
        opened.append((type(outs).__name__, level, size))
        if isinstance(outs, _Box):
            return _Box(mapped._remove_batch_dim(outs.x, level, size, out_dims))
        return before[2](outs, out_dims, level, size, func)

    vmap, x = torch.vmap, torch.arange(6.).reshape(2, 3)
    for name, f in zip(names, (process, create, unwrap)):
        setattr(mapped, name, f)
    try:
        yield "argument", vmap(lambda b: b.x.sum())(_Box(x)), vmap(lambda b: b.x * 2, 1, 1)(_Box(x))
        yield "beside a tensor", vmap(lambda b, y: b.x * y, (None, 0))(_Box(x), torch.ones(4)).shape, vmap(lambda b, y: b.x * y)(_Box(x), x)
        yield "result", vmap(_Box)(x).x, vmap(lambda b: _Box(b.x + 1), 1, 1)(_Box(x)).x, vmap(_Box, 0, 1)(x).x
        yield "nested", vmap(vmap(lambda b: b.x.sin()))(_Box(x)), vmap(lambda b: vmap(lambda y: y + b.x.sum())(b.x))(_Box(x))
        yield "gradient", vmap(torch.func.grad(lambda y, b: (b.x * y * y).sum()))(x, _Box(x)), torch.func.jacrev(lambda y: vmap(lambda b: b.x * 2)(_Box(y)))(x)
        w = x.clone()
        yield "written", vmap(lambda b, y: y.add_(b.x))(_Box(x), w), w
        box = _Box(x.clone())
        vmap(lambda b: b.x.mul_(2))(box)
        yield "written inside", box.x
        yield "in chunks", vmap(lambda y, b: b.x * y, (0, None), chunk_size=1)(x, _Box(x))
        yield "tensors", vmap(lambda x: x * 2)(x), vmap(lambda d: [d["a"]])({"a": x})
    finally:
        for name, f in zip(names, before):
            setattr(mapped, name, f)
    yield "opened", [o for o in opened if o[0] == "_Box"]
    size, dims, flat, spec = before[0]((0, None), (x, [x]), len)
    yield "steps", size, dims, len(flat), spec.num_leaves


@case("classes_in_derivatives.memory_shared")
def _(torch):
    x = torch.arange(6.)
    same, s = torch._C._is_alias_of, x.to_sparse()
    for name, a, b in (("itself", x, x), ("copy", x, x.clone()), ("part", x, x[2:]), ("detached", x, x.detach()), ("views", x.view(2, 3), x[1:2]), ("bits", x, x.view(torch.int32)),
                       ("none", x, 3), ("empty", torch.empty(0), torch.empty(0)), ("sparse", s, s), ("sparse detached", s, s.detach()), ("sparse copy", s, s.clone()),
                       ("layouts", s, x), ("meta", x.to("meta"), x), ("parameter", torch.nn.Parameter(x), x)):
        yield name, same(a, b)
    yield "class", issubclass(torch.UntypedStorage, torch.StorageBase), isinstance(x.untyped_storage(), torch.StorageBase), torch._C.StorageBase is torch.StorageBase
    try:
        torch.StorageBase()
    except RuntimeError as refused:
        yield "made", str(refused)


@case("classes_in_derivatives.modes_asked_for")
def _(torch):
    """Whether a mode would be told of a call."""
    asked, inside = torch._C._is_torch_function_mode_enabled, []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            inside.append(asked())
            return func(*args, **(kwargs or {}))

    yield "outside", asked()
    with Mode():
        yield "within", asked()
        torch.ones(2) + 1
        with torch._C.DisableTorchFunctionSubclass():
            yield "subclasses off", asked()
        with torch._C.DisableTorchFunction():
            yield "all off", asked(), torch._C._is_torch_function_all_disabled()
        with Mode():
            torch.ones(2)
    yield "inside", inside, asked()
