"""Names of torch.autograd and torch.nn.functional that few programs use."""

import importlib

from compat_matrix.case import attempt, case, warned
from compat_matrix.cases.nn.script import script


def module(torch, path):
    return importlib.import_module(path.replace("torch", torch.__name__, 1))


@case("everyday.autograd_names.function members")
def _(torch):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    import warnings
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        f = F()
    yield "said", [str(w.message).partition("> ")[2] for w in said]
    for n in ("dirty_tensors", "needs_input_grad", "next_functions", "non_differentiable", "requires_grad", "saved_for_forward", "saved_tensors", "to_save", "metadata"):
        yield n, getattr(f, n)
    yield "dirty_tensors and so on", [hasattr(torch.autograd.Function, n) for n in ("dirty_tensors", "metadata")]
    yield "name", f.name(), f.maybe_clear_saved_tensors()
    yield "saved_variables", warned(lambda: f.saved_variables)
    yield "called", attempt(lambda: f(torch.ones(2)))
    for n, args in (("forward", (1,)), ("backward", (None, 1)), ("vjp", (None, 1)), ("jvp", (None, 1)), ("setup_context", (None, 1, 2)), ("vmap", (None, 0))):
        yield f"not written: {n}", attempt(lambda n=n, args=args: getattr(torch.autograd.Function, n)(*args))
    A = torch.autograd.Function
    yield "bases", [attempt(lambda f=f: f(None, None)) for f in (A.forward, A.backward, A.vjp, A.jvp)], attempt(lambda: A.setup_context(None, 1, 2)), attempt(lambda: A.vmap(None, 0))


@case("everyday.autograd_names.node of a function")
def _(torch):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_shared_storage((x, x))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    yield "said", warned(lambda: F.apply(x))
    node = F.apply(x).grad_fn
    yield "classes", isinstance(node, torch.autograd.function.BackwardCFunction), type(F) is torch.autograd.function.FunctionMeta
    yield "apply", node.apply(torch.ones(2)), node.apply_boxed([torch.ones(2)]), attempt(lambda: node.apply_jvp(torch.ones(2)))


script("everyday.autograd_names.graph", """
G = torch.autograd.graph
look('streams', lambda: (G.set_warn_on_accumulate_grad_stream_mismatch(True), G.set_override_stale_capture_stream(False)))
look('streams', lambda: G.set_override_stale_capture_stream(3))
look('streams', lambda: G.set_warn_on_accumulate_grad_stream_mismatch('x'))
look('budget', lambda: G.region_activation_memory_budget(0.5))
look('budget', lambda: G.region_activation_memory_budget(budget=0.5))
x = torch.ones(2, requires_grad=True)
y = x * 2
e = G.GradientEdge(y.grad_fn, 0)
look('edge', lambda: (e._fields, e.output_nr, e.ownership_token, torch.autograd.grad(e, x, torch.ones(2)), G.get_gradient_edge(y) == e, G.get_gradient_edge(x).node.name()))
look('variable', lambda: torch.autograd.variable(torch.ones(2)))
D = torch.autograd.forward_ad
with D.dual_level():
    u = D.unpack_dual(D.make_dual(torch.ones(2), torch.zeros(2)))
    look('dual', lambda: (type(u)._fields, type(u) is D.UnpackedDualTensor, u.tangent))
look('made', lambda: (D.UnpackedDualTensor(1, 2)._asdict(), D.UnpackedDualTensor(primal=1, tangent=None).tangent))
look('nested', lambda: torch.autograd.NestedIOFunction is torch.autograd.function.NestedIOFunction)
""")


@case("everyday.autograd_names.modules")
def _(torch):
    V, G = module(torch, "torch.autograd.variable"), module(torch, "torch.autograd.gradcheck")
    yield "variable", type(V.Variable).__name__, type(V.Variable) is V.VariableMeta, isinstance(torch.ones(2), V.Variable), "torch.autograd.variable.VariableMeta"
    yield "gradcheck", G.gradcheck is torch.autograd.gradcheck, G.gradgradcheck is torch.autograd.gradgradcheck, "torch.autograd.gradcheck.gradcheck"
    yield "error", [c.__name__ for c in G.GradcheckError.__mro__], "torch.autograd.gradcheck.GradcheckError", "torch.autograd.gradcheck.gradgradcheck"
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "torch.autograd.gradcheck.get_numerical_jacobian", [j.round(decimals=5) for j in G.get_numerical_jacobian(lambda a: a[0] * a[0], (x,), eps=1e-6)]
        yield "torch.autograd.gradcheck.get_analytical_jacobian", str(G.get_analytical_jacobian((x,), x * x)[0])
        found = G.get_numerical_jacobian_wrt_specific_input(lambda a: a * a, 0, (x,), (x * x,), 1e-6)
        yield "torch.autograd.gradcheck.get_numerical_jacobian_wrt_specific_input", [j.round(decimals=5) for j in found]
    yield "wrong", attempt(lambda: G.gradcheck(lambda a: a.detach() * a, (x,), fast_mode=False))


script("everyday.autograd_names.profiler", """
P = torch.autograd.profiler
u = P.EnforceUnique()
u.see(1)
look('see', lambda: (u.see('a'), u.see(1, 2)))
look('see', lambda: u.see(1))
k = P.KinetoStepTracker
look('steps', lambda: (k.init_step_count('a'), k.increment_step('a') - k.current_step(), k.erase_step_count('a'), k.erase_step_count('zz')))
look('steps', lambda: (n := k.current_step(), k.increment_step('b') - n, k.increment_step('b') - n, k.current_step() - n))
def use(c):
    with c as v:
        return type(v).__name__
look('nvtx', lambda: use(P.emit_nvtx()))
look('itt', lambda: (use(P.emit_itt()), use(P.emit_nvtx(enabled=True, record_shapes=True)) if False else None))
fe = P.FunctionEvent(1, 'n', 0, 0., 5., cpu_memory_usage=7, device_index=0, flops=3, trace_name='t')
look('event', lambda: (fe.time_range.elapsed_us(), fe.name, fe.trace_name, fe.cpu_memory_usage, fe.flops, fe.id, fe.thread, fe.cpu_time_total, fe.key))
look('old names', lambda: [getattr(fe, n) for n in ('cuda_time', 'cuda_time_total', 'metadata_json', 'self_cuda_memory_usage', 'self_cuda_time_total', 'self_device_time_total_str')])
fe.append_kernel('k', 0, 3)
look('kernels', lambda: [list(k) for k in fe.kernels])
import os, tempfile
def stacks(events, *args):
    where = os.path.join(tempfile.mkdtemp(), 'stacks')
    P.EventList(events).export_stacks(where, *args)
    return open(where).read()
look('stacks', lambda: (stacks([fe], 'self_cpu_time_total'), stacks([P.FunctionEvent(1, 'n', 0, 0., 5., stack=['a b.py(1): f', 'c;d (2)'])], 'self_cpu_time_total')))
look('stacks', lambda: stacks([fe], 'bogus'))
class R:
    def __init__(self, t):
        self.t = t
    def start_ns(self):
        return self.t
records = [(R(5000), False), (R(1000), False), (R(9000), False)]
look('memory', lambda: [list(P.MemRecordsAcc([]).in_interval(0, 10)), [r.t for r, _ in P.MemRecordsAcc(records).in_interval(1000, 6000)], list(P.MemRecordsAcc(records).in_interval(1, 6))])
""")

script("everyday.autograd_names.functional helpers", """
look('lists', lambda: (F.BroadcastingList1[int], F.BroadcastingList2[float], F.BroadcastingList3[int]))
for arg in (3, (1, 2), 'ab', [1, 2], (1, 2, 3), 'abc', True):
    look('pair', lambda: F.assert_int_or_pair(arg, 'kernel', '{} must be a pair'))
g = F.boolean_dispatch('flag', 1, False, lambda x, flag=False: ('T', x, flag), lambda x, flag=False: ('F', x, flag), 'mod', 'fn')
look('dispatch', lambda: (g(1), g(1, True), g(1, flag=True), g(1, False), g.__name__, g.__module__, g.__doc__))
def a(x):
    "a"
def b(x):
    pass
look('doc', lambda: (F.boolean_dispatch('f', 1, False, a, b, 'm', 'n').__doc__, F.boolean_dispatch('f', 1, False, b, a, 'm', 'n').__doc__))
look('docs', lambda: F.boolean_dispatch('f', 1, False, a, a, 'm', 'n'))
class T(torch.Tensor):
    pass
class Mine:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args), sorted(kwargs or {})
x = torch.ones(2)
t = x.as_subclass(T)
look('has', lambda: (F.has_torch_function((x,)), F.has_torch_function_unary(x), F.has_torch_function_variadic(x, x)))
look('has', lambda: (F.has_torch_function((x, t)), F.has_torch_function_unary(t), F.has_torch_function_variadic(x, Mine()), F.has_torch_function(())))
look('handle', lambda: F.handle_torch_function(a, (Mine(),), 1, 2, k=3))
""")
