"""Members and names that few programs use: the dtype of a gradient, hooks in old attributes, copies of gradients with a graph, views from another base."""

import warnings

from compat_matrix.case import attempt, case


def graph(fn):
    """The names of a graph, as nested text."""
    if fn is None:
        return "None"
    return f"{type(fn).__name__}({', '.join(graph(n) for n, _ in fn.next_functions)})"


@case("members.grad_dtype")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    yield "default", x.grad_dtype, torch.ones(2).grad_dtype
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    yield "other", x.grad, attempt(lambda: setattr(x, "grad", torch.ones(2))), attempt(lambda: setattr(x, "grad_dtype", torch.float16))
    yield "grad", torch.autograd.grad((x * 3).sum(), x)
    x.grad = None
    x.grad_dtype = None
    (x * 2).sum().backward()
    yield "any", x.grad_dtype, x.grad
    x.grad = torch.ones(2, dtype=torch.float64)
    (x * 2).sum().backward()
    yield "added", x.grad
    yield "refused", attempt(lambda: (x * 2).grad_dtype), attempt(lambda: setattr(x * 2, "grad_dtype", torch.float64)), attempt(lambda: setattr(x, "grad_dtype", 3))


@case("members.grad_dtype_and_hooks")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(str(g.dtype)))
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    x.grad = None
    x.grad_dtype = torch.float32
    (x * 2).sum().backward()
    yield "seen", seen, x.grad


@case("members.old_attributes")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield "volatile", x.volatile, [str(w.message) for w in said]
    yield "node", x._grad_fn, (x * 2)._grad_fn.name()
    yield "deleted", [attempt(lambda n=n: delattr(x, n)) for n in ("_grad_fn", "_backward_hooks", "data", "requires_grad")]
    yield "assigned", attempt(lambda: setattr(x, "_grad_fn", 3))
    x._backward_hooks = {5: lambda g: g * 3}
    (x * 1).sum().backward()
    yield "leaf hook", x.grad
    plain = torch.ones(2)
    plain._backward_hooks = {1: lambda g: 1 / 0}
    (plain * x).sum().backward()
    yield "not asked", list(plain._backward_hooks), x.grad


@case("members.copies_with_a_graph")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    yield "first", type(x.grad.grad_fn).__name__, [type(n).__name__ for n, _ in x.grad.grad_fn.next_functions]
    (x * x).sum().backward(create_graph=True)
    yield "second", type(x.grad.grad_fn).__name__, type(x.grad.grad_fn.next_functions[0][0]).__name__, x.grad
    x.grad = None
    (x + 1).backward(torch.ones(2), create_graph=True)
    yield "without", x.grad, x.grad.grad_fn


@case("members.once_differentiable_graph")
def _(torch):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, n, b):
            ctx.save_for_backward(a, b)
            return a * n * b

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, None, g * a

    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    out = Scaled.apply(x, 2, y)
    out.sum().backward(torch.ones((), requires_grad=True), create_graph=True)
    yield "graph", graph(x.grad.grad_fn), graph(y.grad.grad_fn)
    yield "again", attempt(lambda: x.grad.sum().backward())
    constant = Scaled.apply(x, 2, torch.ones(2))
    yield "edges", [n is None for n, _ in constant.grad_fn.next_functions]


@case("members.no_zeros_where_not_differentiable")
def _(torch):
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, keep):
            a, b = x.clone(), x.clone()
            ctx.mark_non_differentiable(b)
            ctx._materialize_non_diff_grads = keep
            return a, b

        @staticmethod
        def backward(ctx, ga, gb):
            seen.append(gb if gb is None else gb.tolist())
            return ga, None

    seen = []
    for keep in (True, False):
        Two.apply(torch.ones(2, requires_grad=True), keep)[0].sum().backward()
    yield "seen", seen


@case("members.dirty_views")
def _(torch):
    class Adds(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            a.add_(b)
            return a, a + b

        @staticmethod
        def backward(ctx, ga, gb):
            return ga + gb, ga + gb

    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    yield "view", attempt(lambda: Adds.apply(a.clone()[:1], b[:1]))
    out = Adds.apply(a.clone(), b)
    (out[0] * out[1]).sum().backward()
    yield "whole", a.grad, b.grad


@case("members.jvp_aliases")
def _(torch):
    class Writes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2) if right else 2 * t

    class Shows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def jvp(ctx, t):
            return t.view_as(t) if right else t.clone()

    fw = torch.autograd.forward_ad
    for name, f in (("writes", Writes), ("shows", Shows)):
        for right in (False, True):
            with fw.dual_level():
                d = fw.make_dual(torch.tensor([1.0]), torch.tensor([3.0]))
                yield f"{name} {right}", attempt(lambda f=f, d=d: fw.unpack_dual(f.apply(d)).tangent)


@case("members.views_again")
def _(torch):
    x = torch.arange(6.0).requires_grad_()
    v = x.view(2, 3)[1]
    other = torch.ones(6, requires_grad=True).clone()
    w = v._view_func(other)
    yield "again", w, w._is_view(), w._base is other
    w.mul_(5)
    yield "written", other
    yield "unlike", v._view_func(torch.ones(3)), attempt(lambda: v._rev_view_func_unsafe(w))


@case("members.versions_set")
def _(torch):
    a = torch.ones(2, requires_grad=True).clone()
    a.add_(1)
    a.add_(2)
    with torch.autograd._unsafe_preserve_version_counter(a):
        a.mul_(2)
    yield "kept", a._version
    torch._C._autograd._unsafe_set_version_counter((a,), (7,))
    yield "set", a._version, attempt(lambda: torch._C._autograd._unsafe_set_version_counter((a,), (-1,)))
    yield "counts", attempt(lambda: torch._C._autograd._unsafe_set_version_counter((a,), (5, 6)))


@case("members.retained_through_views")
def _(torch):
    base = torch.tensor([1.0], requires_grad=True).clone()
    one, two = base[:], base[:]
    one.retain_grad()
    two.retain_grad()
    one.mul_(2)
    (one + two).sum().backward()
    yield "grads", one.grad, two.grad


@case("members.asked_of_a_pass")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    yield "no node", attempt(lambda: torch._C._will_engine_execute_node(x))
    yield "class", isinstance((x * 2).grad_fn.next_functions[0][0], torch._C._functions.AccumulateGrad)
    yield "saved tensor", attempt(torch.autograd.SavedTensor)
    yield "shapes", torch.autograd._calculate_shape(x, torch.ones(3, 2), True), torch.autograd._calculate_shape(x, torch.ones(2), False)


@case("members.no_forward_mode")
def _(torch):
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(x, torch.ones(2))
        for f in (torch.igamma, torch.igammac):
            yield f.__name__, attempt(lambda f=f: f(d, d)), attempt(lambda f=f: f(x, d))


@case("members.sinc_of_the_smallest")
def _(torch):
    x = torch.tensor([0.0, torch.finfo(torch.float64).tiny, 1e-200, 1.0], dtype=torch.float64, requires_grad=True)
    y = torch.sinc(x)
    yield "value", y, torch.autograd.grad(y.sum(), x)


@case("members.make_tensor")
def _(torch):
    from importlib import import_module
    make = import_module(f"{torch.__name__}.testing").make_tensor
    for name in ("float32", "float64", "complex64", "int64", "uint8", "bool", "float16"):
        torch.manual_seed(3)
        yield name, make((2, 3), dtype=getattr(torch, name), device="cpu"), make(2, 2, dtype=getattr(torch, name), device="cpu", low=0, high=2, exclude_zero=True)
    torch.manual_seed(3)
    t = make((2, 3), dtype=torch.float32, device="cpu", noncontiguous=True, requires_grad=True)
    yield "gaps", t, t.stride(), t.is_leaf
    yield "refused", attempt(lambda: make((2,), dtype=torch.float32, device="cpu", low=3, high=1)), attempt(
        lambda: make((2,), dtype=torch.int64, device="cpu", requires_grad=True))


@case("members.numpy_names_of_keywords")
def _(torch):
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    for name in ("softmax", "log_softmax", "chunk", "tensor_split", "nanmean", "cosine_similarity", "gradient"):
        more = {"chunk": (2,), "tensor_split": (2,), "cosine_similarity": (x.detach() + 1,)}.get(name, ())
        yield name, getattr(torch, name)(x, *more, axis=0)
    yield "methods", x.softmax(axis=1), x.narrow(axis=1, start=1, length=2), x.select(axis=0, index=1), x.chunk(2, axis=1)
    yield "reduced", x.nanmean(axis=1, keepdims=True)
    yield "linalg", torch.linalg.norm(x, axis=1, keepdims=True), torch.linalg.matrix_norm(x, keepdims=True), torch.linalg.vecdot(x, x, axis=0)
    yield "fft", torch.fft.fft(x, axis=0), torch.fft.rfft(x, axis=0), torch.fft.fftshift(x, axis=0)
    yield "of softmax", torch.autograd.grad(torch.softmax(x, axis=0)[1].sum(), x)
    taken = []
    for f in (lambda: torch.nn.functional.softmax(x, axis=0), lambda: torch.nn.functional.normalize(x, axis=0), lambda: torch.norm(x, axis=0),
              lambda: torch.softmax(x, dim=0, axis=0), lambda: torch.softmax(x, axes=0)):
        try:
            taken.append(f())
        except TypeError:
            taken.append("refused")
    yield "refused", taken


@case("members.paths_of_libraries")
def _(torch):
    from importlib import import_module

    def there(name):
        return import_module(f"{torch.__name__}.{name}")

    functional = there("functional")
    yield "functional", functional.__all__, [getattr(functional, n) is getattr(torch, n) for n in functional.__all__]
    nvtx = there("cuda.nvtx")
    yield "nvtx", attempt(lambda: nvtx.range_push("a")), attempt(lambda: nvtx.mark("a")), attempt(nvtx.range_pop)
    yield "script", bool(there("jit._state")._enabled)
    yield "worker", there("utils.data._utils.worker")._generate_state(123456789012, 3)
    t = torch.zeros(2, 2)
    fill = there("nn.init")
    torch.manual_seed(0)
    yield "filled", fill._no_grad_fill_(t, 2.0).clone(), fill._no_grad_zero_(t).clone()
    yield "drawn", fill._no_grad_normal_(t, 0, 1).clone(), fill._no_grad_uniform_(t, 0, 1).clone()


@case("members.weak_dictionaries")
def _(torch):
    from importlib import import_module

    weak = import_module(f"{torch.__name__}.utils.weak")
    x, y = torch.ones(1), torch.ones(1)
    known = weak.WeakTensorKeyDictionary({x: 1})
    yield "identity", known[x], x in known, y in known, known.get(y, 5), len(known), 3 in known
    known[y] = 2
    yield "pairs", [k is x for k in known], list(known.values()), known.pop(x), known.setdefault(x, 7), known.popitem()[1], len(known | {x: 4})
    first, same, other = weak.WeakIdRef(x), weak.WeakIdRef(x), weak.WeakIdRef(y)
    yield "references", first == same, first == other, hash(first) == hash(same), first() is x
    yield "tensors", weak.TensorWeakRef(x)() is x, attempt(lambda: weak.TensorWeakRef(3))
    del y
    yield "gone", len(known), other() is None, list(known.items())


@case("members.older_casts")
def _(torch):
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    for name in ("Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"):
        yield name, getattr(torch, f"_cast_{name}")(x.abs())
    yield "same", torch._cast_Float(x) is x, torch.autograd.grad(torch._cast_Double(x).pow(2).sum(), x)
