"""Operators of a program's own that take and give lists, under maps, and what stands beside torch.func for tests."""

import importlib

from compat_matrix.case import case


def _error(f):
    try:
        return f()
    except (RuntimeError, TypeError) as e:
        return type(e).__name__, str(e)


def _operators(torch, space):
    """(join, cut, count): one takes a list, one gives a list, one gives a list and a number."""
    op = torch.library.custom_op

    @op(f"{space}::join", mutates_args=(), schema="(Tensor[] xs, int dim) -> Tensor")
    def join(xs, dim):
        return torch.cat(list(xs), dim).clone()

    @op(f"{space}::cut", mutates_args=(), schema="(Tensor x, int[] sizes, int dim) -> Tensor[]")
    def cut(x, sizes, dim):
        return [part.clone() for part in torch.split(x, list(sizes), dim)]

    @op(f"{space}::count", mutates_args=(), schema="(Tensor x, int[] sizes, int dim) -> (Tensor[], int)")
    def count(x, sizes, dim):
        return [part.clone() for part in torch.split(x, list(sizes), dim)], len(sizes)

    def keep(ctx, inputs, output):
        ctx.sizes, ctx.dim = [x.shape[inputs[1]] for x in inputs[0]], inputs[1]

    def keep_dim(ctx, inputs, output):
        ctx.dim = inputs[2]

    join.register_autograd(lambda ctx, g: (cut(g, ctx.sizes, ctx.dim), None), setup_context=keep)
    cut.register_autograd(lambda ctx, gs: (join(gs, ctx.dim), None, None), setup_context=keep_dim)
    count.register_autograd(lambda ctx, gs, n: (join(gs, ctx.dim), None, None), setup_context=keep_dim)
    return join, cut, count


def _with_rules(join, cut, count):
    def joined(info, in_dims, xs, dim):
        front = [x.expand(info.batch_size, *x.shape) if d is None else x.movedim(d, 0) for x, d in zip(xs, in_dims[0])]
        return join(front, dim + 1), 0

    def parts(info, in_dims, x, sizes, dim):
        out = cut(x.movedim(in_dims[0], 0), sizes, dim + 1)
        return out, [0] * len(out)

    def counted(info, in_dims, x, sizes, dim):
        out, n = count(x.movedim(in_dims[0], 0), sizes, dim + 1)
        return (out, n), ([0] * len(out), None)

    join.register_vmap(joined)
    cut.register_vmap(parts)
    count.register_vmap(counted)


@case("functorch_more.lists_in_rules_of_maps")
def _(torch):
    join, cut, count = _operators(torch, "fm_rules")
    _with_rules(join, cut, count)
    vmap = torch.func.vmap
    x, y = torch.arange(12.).reshape(2, 2, 3), torch.arange(6.).reshape(2, 3) - 2
    yield "joined", vmap(lambda a, b: join([a, b], 0), (1, None))(x, y)
    yield "joined twice", vmap(vmap(lambda a, b: join([a, b, a], 0), (0, None)), (1, 0))(x, y)
    yield "parts", vmap(lambda a: tuple(cut(a, [1, 2], 1)), 1)(x)
    yield "parts and a number", vmap(lambda a: count(a, [1, 2], 1), out_dims=([0, 0], None))(x)


@case("functorch_more.lists_without_rules")
def _(torch):
    join, cut, count = _operators(torch, "fm_plain")
    x = torch.ones(3, 2, 3)
    yield "joined", _error(lambda: torch.func.vmap(lambda a: join([a, a], 0))(x))
    yield "parts", _error(lambda: torch.func.vmap(lambda a: tuple(cut(a, [1, 2], 1)))(x))
    join.register_vmap(lambda info, in_dims, xs, dim: join(xs, dim + 1))
    yield "one result", _error(lambda: torch.func.vmap(lambda a: join([a, a], 0))(x))[0]
    join.register_vmap(lambda info, in_dims, xs, dim: (join(xs, dim + 1), (0, [0])))
    yield "other dims", _error(lambda: torch.func.vmap(lambda a: join([a, a], 0))(x))[0]


@case("functorch_more.operators_that_tests_go_over")
def _(torch):
    infos = importlib.import_module(f"{torch.__name__}.testing._internal.custom_op_db").custom_op_db
    for info in infos[-3:]:
        for sample in info.sample_inputs("cpu", torch.float64, requires_grad=True):
            given = sample.input if isinstance(sample.input, list) else [sample.input]
            xs = [(torch.arange(x.numel(), dtype=x.dtype) / 8).reshape(x.shape).requires_grad_() for x in given]
            out = info.op(xs if isinstance(sample.input, list) else xs[0], *sample.args)
            out = out[0] if isinstance(out, tuple) else out
            outs = out if isinstance(out, list) else [out]
            loss = sum((t * t * t).sum() for t in outs)
            grads = torch.autograd.grad(loss, xs, create_graph=True)
            yield info.name, outs, grads, torch.autograd.grad(sum((g * g).sum() for g in grads), xs)


def _cube(torch):
    """An operator with rules: x**3, whose gradient is twice as large on purpose."""
    inside = torch._C._functorch

    try:
        base = importlib.import_module(f"{torch.__name__}._torch_ops").HigherOrderOperator  # torch._ops, by the name that this package has it under
    except ModuleNotFoundError:
        base = torch._ops.HigherOrderOperator

    class Cube(base):
        def __call__(self, *args):
            return super().__call__(*args)

    cube = Cube("cube_of_cases")

    @cube.py_impl(inside.TransformType.Vmap)
    def mapped(interpreter, x):
        if not inside.is_batchedtensor(x):
            with interpreter.lower():
                return cube(x)
        dim, whole = inside.maybe_get_bdim(x), inside.get_unwrapped(x)
        with interpreter.lower():
            out = cube(whole.movedim(dim, 0))
        return inside._add_batch_dim(out, 0, interpreter.level())

    @cube.py_impl(inside.TransformType.Grad)
    def differentiated(interpreter, x):
        level = interpreter.level()

        class Recorded(torch.autograd.function._SingleLevelFunction):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                with torch.enable_grad(), interpreter.lower():
                    out = cube(inside._unwrap_for_grad(x, level))
                return inside._wrap_for_grad(out, level)

            @staticmethod
            def backward(ctx, g):
                return 6 * g * ctx.saved_tensors[0] ** 2

        from_utils = importlib.import_module(f"{torch.__name__}._functorch.utils")
        with from_utils.enable_single_level_autograd_function():
            return Recorded.apply(x)

    cube.py_impl(torch._C.DispatchKey.AutogradCPU)(lambda x: x ** 3)
    return cube


@case("functorch_more.rules_of_operators_on_functions")
def _(torch):
    cube, (grad, vmap, jacrev, vjp) = _cube(torch), (getattr(torch.func, n) for n in ("grad", "vmap", "jacrev", "vjp"))
    x, v, m = torch.tensor(2.), torch.tensor([1., 2, 3]), torch.arange(6.).reshape(2, 3)
    yield "plain", cube(x)
    yield "orders", grad(cube)(x), grad(grad(cube))(x), grad(grad(grad(cube)))(x)
    yield "inside", grad(lambda t: t * cube(t * t))(x), grad(grad(lambda t: t * cube(t * t)))(x)
    yield "maps", vmap(cube)(v), vmap(vmap(cube), 1, 1)(m), vmap(lambda t: cube(x) * t)(v)
    yield "mapped gradients", vmap(grad(cube))(v), vmap(grad(grad(cube)))(v)
    yield "gradients of maps", grad(lambda t: vmap(cube)(t).sum())(v), grad(lambda t: vmap(grad(cube))(t).sum())(v)
    yield "whole", jacrev(cube)(v), vjp(cube, v)[1](v)
    a = torch.tensor(2., requires_grad=True)
    yield "outside", torch.autograd.grad(cube(a), a), torch.autograd.grad(grad(cube)(a), a)
    yield "captured", grad(lambda t: cube(t * a))(x), torch.autograd.grad(grad(lambda t: cube(t * a))(x), a)
    yield "constant", grad(lambda t: cube(x) * t)(x)

    def shifted(t):
        with torch.no_grad():
            there = cube(t)
        return cube(t) * t - there

    yield "without gradients", grad(shifted)(x), grad(grad(shifted))(x), vmap(grad(shifted))(v)
    yield "without gradients, around", grad(lambda t: torch.func.grad_and_value(shifted)(t)[1])(x), grad(lambda t: grad(shifted)(t))(x)
    with torch.no_grad():
        yield "nothing outside", cube(a).requires_grad, grad(cube)(a), grad(cube)(a).requires_grad
