"""Geometry that nodes show, saved tensors of Functions, tangents of views and of maps, extremes of lists, inference tensors."""

import warnings

from compat_matrix.case import attempt, case


def _shown(node):
    return node.name(), node._saved_size, node._saved_stride, node._saved_storage_offset


@case("asked_by_autograd_tests.geometry that nodes show")
def _(torch):
    leaf = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for name, view in (("given", leaf.as_strided((3,), (1,), 1)), ("left out", leaf.as_strided((3,), (1,))), ("of a view", leaf[1].as_strided((2,), (1,), 4)),
                       ("of a view, left out", leaf[1].as_strided((2,), (1,))), ("beyond a view", leaf[1].as_strided((2,), (1,), 0)),
                       ("a copy", torch.as_strided_copy(leaf, (2,), (1,))), ("in place", leaf.clone().as_strided_((2,), (1,))),
                       ("in place, given", leaf.clone().as_strided_((2,), (1,), 3))):
        yield name, _shown(view.grad_fn)
    x = leaf.clone()
    row, column = x[1], x.t()[1:, :1]
    row.mul_(2)
    yield "of views read again", _shown(row.grad_fn), _shown(column.grad_fn)


@case("asked_by_autograd_tests.thresholds that are complex")
def _(torch):
    x = torch.arange(-2.0, 3.0, requires_grad=True)
    for threshold, value in ((1 + 0j, 1 + 0j), (torch.tensor(1 + 0j), 5.0), (1.0, 2 + 0j), (1, 1), (False, False), (1 + 1j, 1.0), (1.0, 1j)):
        yield f"{threshold} {value}", attempt(lambda t=threshold, v=value: torch.threshold(x, t, v))
        out = attempt(lambda t=threshold, v=value: torch.threshold(x, t, v).grad_fn._saved_threshold)
        yield f"{threshold} {value} shown", out, type(out).__name__
        yield f"{threshold} {value} gradient", attempt(lambda t=threshold, v=value: torch.autograd.grad(torch.threshold(x, t, v).sum(), x))


@case("asked_by_autograd_tests.views of views without a history")
def _(torch):
    for mode in (torch.no_grad, torch.inference_mode):
        for name, write in (("the base", lambda x, y, z: x.add_(1)), ("the leaf", lambda x, y, z: y.add_(1)), ("the view", lambda x, y, z: z.add_(1))):
            x = torch.zeros(2)
            with mode():
                y = x.view(2)
            y.requires_grad_(True)
            z = y.view(2)
            with torch.no_grad():
                write(x, y, z)
            yield f"{mode.__name__} {name}", attempt(lambda z=z: z.grad_fn), repr(z), attempt(lambda z=z: z.is_leaf), z.requires_grad
            yield f"{mode.__name__} {name} used", attempt(lambda z=z: z.sum().backward()), attempt(lambda z=z: z.add_(1)), y.grad


@case("asked_by_autograd_tests.dual tensors over more memory than they show")
def _(torch):
    fw = torch.autograd.forward_ad
    primal, tangent = torch.arange(5.0)[:4].detach(), torch.arange(1.0, 5.0)
    yield "primal alone", primal.view_as(primal).as_strided((5,), (1,), 0)
    with fw.dual_level():
        dual = fw.make_dual(primal, tangent)
        whole = dual.as_strided((5,), (1,), 0)
        yield "whole", fw.unpack_dual(whole)
        whole.mul_(2)
        yield "written", fw.unpack_dual(dual), primal, tangent
        yield "of the zeros", fw.unpack_dual(dual.as_strided((2, 2), (1, 2), 1) * 3)


@case("asked_by_autograd_tests.tangents of views are the same each time")
def _(torch):
    fw = torch.autograd.forward_ad
    unpack = fw.unpack_dual
    makers = (("as it lies", lambda b: b.view_as(b)), ("transposed", lambda b: b.transpose(0, 1)), ("a part", lambda b: b[:1]))
    for name, make in makers:
        base = torch.zeros(2, 2)
        view = make(base)

        def written(tangent, base=base, view=view):
            with fw.dual_level():
                x = fw.make_dual(torch.zeros(view.shape), tangent)
                view.copy_(x)
                return unpack(x)[1], unpack(view)[1], unpack(view)[1], unpack(base)[1]
        for mapped in (False, True):
            t = torch.ones(2, *view.shape) if mapped else torch.ones(view.shape)
            given, own, again, whole = (torch._vmap_internals._vmap(written) if mapped else written)(t)
            yield f"{name} {mapped}", given is t, own is again, own is whole, own._is_view(), own._base is whole, own
    with fw.dual_level():
        d = fw.make_dual(torch.zeros(2), torch.ones(2))
        view = d.view_as(d)
        yield "of a dual tensor", unpack(view)[1] is unpack(view)[1], unpack(view)[1]._base is unpack(d)[1]
        x = torch.ones(2)
        yield "primal of no dual tensor", unpack(x)[0] is x, unpack(x)[0]._base is x, unpack(x)[1]
        for name in ("uniform_", "normal_", "exponential_", "random_"):
            d, t = torch.ones(2), torch.ones(2)
            d = fw.make_dual(d, t)
            getattr(d, name)()
            yield f"drawn by {name}", unpack(d)[1], unpack(d)[1] is t


@case("asked_by_autograd_tests.results of maps that share memory")
def _(torch):
    for name, vmap in (("vmap", torch.vmap), ("old", torch._vmap_internals._vmap)):
        a, row, b = vmap(lambda t: (t * 2, (t * 2)[0], t * 2))(torch.ones(2, 3, 4))
        yield f"{name} apart", a is b, row._base is a

        def f(t):
            x = t * 2
            row = x[0]
            return x, x.t(), row, x, row
        x, turned, row, again, same = vmap(f)(torch.arange(24.0).reshape(2, 3, 4))
        yield name, again is x, row is same, turned._base is x, turned.stride(), row.stride(), turned, row
        x.add_(1)
        yield f"{name} written", turned, row, again


@case("asked_by_autograd_tests.the cycle is warned of when the pass is over")
def _(torch):
    cycle = "Using backward() with create_graph=True"

    def said(run):
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            out = attempt(run)
        return out, [cycle if str(x.message).startswith(cycle) else str(x.message) for x in w]

    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: warnings.warn("hook"))
        yield "after hooks", said(lambda: y.sum().backward(create_graph=True)), x.grad
        x.grad = None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                (x * 3).sum().backward(create_graph=True)
            except UserWarning as e:
                yield "as an error", str(e).startswith(cycle), x.grad
        y = x * 2
        y.register_hook(lambda g: g.no)
        yield "where a hook fails", said(lambda: y.sum().backward(create_graph=True))
        yield "of what needs no gradient", said(lambda: torch.ones(2).sum().backward(create_graph=True))
    finally:
        torch.set_warn_always(before)


@case("asked_by_autograd_tests.writes while tangents are off")
def _(torch):
    fw = torch.autograd.forward_ad
    writes = (("product", lambda d: d.mul_(2)), ("copy", lambda d: d.copy_(torch.ones(2))), ("draw", lambda d: d.uniform_()), ("zeros", lambda d: d.zero_()),
              ("dual", lambda d: d.copy_(fw.make_dual(torch.ones(2), torch.ones(2) * 5))), ("through a view", lambda d: d[:1].mul_(3)))
    with fw.dual_level():
        for name, write in writes:
            tangent, plain = torch.ones(2), torch.ones(2)
            dual = fw.make_dual(torch.ones(2), tangent)
            with fw._set_fwd_grad_enabled(False):
                write(dual)
                write(plain)
            yield name, fw.unpack_dual(dual)[1], tangent, fw.unpack_dual(dual * 2)[1], fw.unpack_dual(plain)[1]


@case("asked_by_autograd_tests.extremes of lists and numbers")
def _(torch):
    for name in ("_foreach_maximum", "_foreach_minimum"):
        f = getattr(torch, name)
        for given in ([0.5, 1.0], 1.0, True, torch.tensor(0.5)):
            xs = [torch.arange(3.0, requires_grad=True), torch.ones(2, 2, requires_grad=True)]
            out = f(xs, given)
            node = out[0].grad_fn
            saved = node._saved_scalars if isinstance(given, list) else node._saved_scalar
            yield f"{name} {given}", out, node.name(), node is out[1].grad_fn, [t.output_nr for t in out], saved, node._saved_self[1] is xs[1]
            (g,) = torch.autograd.grad((out[0] * out[0]).sum(), xs[0], create_graph=True)
            yield f"{name} {given} gradients", g, torch.autograd.grad(g.sum(), xs, allow_unused=True)
            yield f"{name} {given} of the other", attempt(lambda out=out, xs=xs: torch.autograd.grad(out[1].sum(), xs, allow_unused=True))
            yield f"{name} {given} of the other alone", torch.autograd.grad(f(xs, given)[1].sum(), xs, allow_unused=True)
        for given in (1e300, 1j, [1, float("nan")], 3):
            for dtype in (torch.float32, torch.float16, torch.int32):
                yield f"{name} {given} {dtype}", attempt(lambda f=f, d=dtype, g=given: f([torch.ones(2, dtype=d), torch.zeros((), dtype=d)], g))
        whole = [torch.ones(2, dtype=torch.int32)]
        yield f"{name} into integers", [attempt(lambda x=x: getattr(torch, name + "_")(whole, x)) for x in ([torch.ones(2)], torch.tensor(2.0), 2.0, [2.0], 2)]


@case("asked_by_autograd_tests.second derivatives of products with zeros")
def _(torch):
    for name in ("scatter_reduce", "index_reduce"):
        f = getattr(torch, name)
        for values in ([0.0, 0.0], [0.0, 2.0], [0.0, 0.0, 0.0]):
            for include in (True, False):
                x = torch.tensor([1.5], dtype=torch.float64, requires_grad=True)
                src = torch.tensor(values, dtype=torch.float64, requires_grad=True)
                out = f(x, 0, torch.zeros(len(values), dtype=torch.long), src, "prod", include_self=include)
                a, b = torch.autograd.grad(out.sum(), (x, src), create_graph=True)
                yield f"{name} {values} {include}", a, b
                yield f"{name} {values} {include} of self", torch.autograd.grad(a.sum(), (x, src), retain_graph=True, allow_unused=True)
                yield f"{name} {values} {include} of src", attempt(lambda b=b, x=x, src=src: torch.autograd.grad(b.sum(), (x, src), allow_unused=True))
    src = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    for index in ([[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 1, 1]]):
        out = torch.scatter_reduce(torch.ones(2, 3, dtype=torch.float64), 0, torch.tensor(index), src, "prod")
        (g,) = torch.autograd.grad(out.sum(), src, create_graph=True)
        yield f"places {index}", g, attempt(lambda g=g: torch.autograd.grad(g.sum(), src, allow_unused=True))
    out = torch.scatter_reduce(torch.ones(2, 3, dtype=torch.float64), 0, torch.tensor([[0, 0, 0], [0, 0, 0]]), src, "amax")
    (g,) = torch.autograd.grad(out.sum(), src, create_graph=True)
    yield "of another reduction", g, attempt(lambda: torch.autograd.grad(g.sum(), src, allow_unused=True))


@case("asked_by_autograd_tests.data of inference tensors")
def _(torch):
    for needs in (True, False):
        with torch.inference_mode():
            x = torch.ones(3, requires_grad=needs)
            inside = x.data
            yield f"{needs} inside", inside.is_inference(), attempt(lambda t=inside: t._version)
        data = x.data
        yield f"{needs} outside", data.is_inference(), data._version, attempt(lambda t=data: t.add_(1)), x, data._version, attempt(lambda t=x: t._version)
        yield f"{needs} used", attempt(lambda t=data: t * torch.ones(3, requires_grad=True)), attempt(lambda t=data: t.requires_grad_()), data.data.is_inference()
        yield f"{needs} inside, written", attempt(lambda t=inside: t.add_(1)), attempt(lambda t=x: t.add_(1))
        yield f"{needs} detached in place", x.detach_() is x, x.requires_grad, x.is_inference()


@case("asked_by_autograd_tests.arguments of hooks and of views made again")
def _(torch):
    base = torch.arange(12.0).reshape(3, 4)
    view = base[1:]
    for name, other in (("number", 3), ("double", base.double()), ("other shape", torch.ones(4, 3)), ("other strides", torch.ones(4, 3).t()),
                        ("later in memory", torch.ones(4, 4)[1:]), ("alike", torch.ones(3, 4))):
        yield name, attempt(lambda other=other: view._view_func(other))
    pairs = torch.view_as_real(torch.ones(2, dtype=torch.complex64))
    yield "pairs", attempt(lambda: pairs._view_func(torch.ones(2, dtype=torch.complex128))), attempt(lambda: pairs._view_func(torch.ones(2)))
    disable, hooks = torch._C._autograd._saved_tensors_hooks_disable, torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)
    yield "a number for words", attempt(lambda: disable(3))
    with hooks:
        yield "where hooks are", attempt(lambda: disable("refused")), attempt(lambda: disable("refused", fail_if_non_empty=False))
        yield "disabled", torch._C._autograd._saved_tensors_hooks_is_enabled(), torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()
        torch._C._autograd._saved_tensors_hooks_enable()


@case("asked_by_autograd_tests.indices beside dims of one element")
def _(torch):
    def zeros(*shape):
        return torch.zeros(shape, dtype=torch.long)
    indices = {"channels last": zeros(2, 8, 1, 2).contiguous(memory_format=torch.channels_last), "transposed": zeros(3, 2).t(), "row": zeros(1, 3),
               "expanded": zeros(3, 1).expand(3, 4), "turned": zeros(5, 4, 3).transpose(0, 2), "ones": zeros(1, 1, 3).permute(2, 0, 1), "stepped": zeros(4)[::2]}
    tensors = {"ones inside": torch.rand(1, 3, 1, 2), "turned": torch.rand(2, 1, 4).transpose(0, 2), "column": torch.rand(3, 1), "last": torch.rand(1, 1, 5, 1),
               "none": torch.rand(2, 3, 4), "permuted": torch.rand(4, 1, 3).permute(1, 2, 0)}
    for a, x in tensors.items():
        for b, i in indices.items():
            yield f"{a} {b}", x[i].stride(), x[:, i].stride(), x[..., i].stride(), x[i, i].stride(), x[None, i].stride()
