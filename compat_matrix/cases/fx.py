"""torch.fx: graphs of functions and modules, the code written from them, edits, what runs them, and what cannot be traced."""

import copy
import operator
import pickle

from compat_matrix.case import case


def _found(f):
    """What a call gives, or the class and the words of its error."""
    try:
        return f()
    except (RuntimeError, TypeError, ValueError, NameError, AssertionError, NotImplementedError) as e:
        return type(e).__name__, str(e)


def _net(torch):
    """A module with modules, parameters, buffers and constants in it."""

    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(3, 4)
            self.w = torch.nn.Parameter(torch.ones(4))
            self.register_buffer("b", torch.zeros(4))

        def forward(self, x, *, k=2):
            return torch.nn.functional.relu(self.lin(x)) * self.w + self.b + self.b * k

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.seq = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU())
            self.p = torch.nn.Parameter(torch.arange(5.0))

        def forward(self, x: torch.Tensor, flag: bool = True, n: int = 3):
            y = self.seq(self.inner(x, k=3))
            z = torch.cat([y, y + self.p], dim=-1)[:, 1:3][..., None]
            v = z.view(z.size(0), -1).add(1).neg_()
            w = v.clamp(min=0.0, max=1.0)
            q = -w**2 / 3 // 1 % 2
            return {"q": q.T, "l": [(w > 0) & (w < 1), (q.shape, 1.5)], "n": None, "d": torch.float32, "i": float("inf"), "v": v}

    torch.manual_seed(0)
    return Net()


FUNCTIONS = {
    "iterated": lambda torch, x: list(x),
    "length": lambda torch, x: len(x),
    "asked": lambda torch, x: 1 if x.sum() > 0 else 2,
    "unpacked": lambda torch, x: {**x},
    "range": lambda torch, x: range(x),
    "constants": lambda torch, x: torch.arange(3) + x * torch.ones(2) - 2 ** (3 - x),
    "attributes": lambda torch, x: x.foo.bar(3)[x, ..., None, 1:2],
    "set": lambda torch, x: operator.setitem(x, 0, 1) or x,
    "nested": lambda torch, x: (x, [x], {"a": x}, slice(x, None)),
    "einsum": lambda torch, x: torch.einsum("i,i->i", x, x),
    "layer_norm": lambda torch, x: torch.nn.functional.layer_norm(x, (3,)),
    "convolution": lambda torch, x: torch.nn.functional.conv2d(x, x),
    "attention": lambda torch, x: torch.nn.functional.scaled_dot_product_attention(x, x, x),
    "parts": lambda torch, x: torch.fft.fft(torch.special.erf(torch.linalg.norm(x))),
    "dtypes": lambda torch, x: x.to(torch.float64, non_blocking=True).to("cpu").to(torch.device("cpu")),
    "shapes": lambda torch, x: x.reshape(x.shape[0], x.size()[1], -1),
    "extremes": lambda torch, x: torch.max(x, dim=0)[0] * float("nan") - float("-inf") + 1j,
    "signs": lambda torch, x: abs(-x + (+x)) @ ~x,
    "unpacks": lambda torch, x: torch.stack([x for x in _two(x)]),
    "sums": lambda torch, x: torch.sum(input=x, dim=(0, 1)) + torch.zeros_like(x).mul(1).add_(x),
    "number": lambda torch, x: int(x),
    "member": lambda torch, x: x in [1, 2],
    "softmax": lambda torch, x: torch.nn.functional.softmax(torch.nn.functional.gelu(x), -1, dtype=torch.float32),
    "where": lambda torch, x: torch.where(x > 0, x, 0.0).data,
}


def _two(x):
    a, b = x
    return a, b


def _nodes(g):
    return [(n.op, n.name, str(n.args), str(n.kwargs), str(n.type), [u.name for u in n.users], [u.name for u in n.all_input_nodes]) for n in g.nodes]


@case("fx.code_of_functions")
def code_of_functions(torch):
    for name, f in FUNCTIONS.items():
        yield name, _found(lambda f=f: torch.fx.symbolic_trace(lambda x: f(torch, x)).code)


@case("fx.code_of_a_module")
def code_of_a_module(torch):
    net = _net(torch)
    made = torch.fx.symbolic_trace(net)
    yield "code", made.code, str(made.graph), str(made), _nodes(made.graph)
    yield "readable", made.print_readable(print_output=False)
    yield "formats", [n.format_node() for n in made.graph.nodes]


@case("fx.values_and_gradients")
def values_and_gradients(torch):
    net = _net(torch)
    made = torch.fx.symbolic_trace(net)
    x = torch.tensor([[1.0, -2.0, 0.5], [0.3, 0.2, 0.1]], requires_grad=True)
    for kind, module in ("net", net), ("traced", made), ("pickled", pickle.loads(pickle.dumps(made))), ("copied", copy.deepcopy(made)):
        v = module(x)["v"]
        (g,) = torch.autograd.grad(v.sum(), x)
        yield kind, type(module).__name__, v, g, sorted(module.state_dict()), v.grad_fn.name()
    yield "interpreted", torch.fx.Interpreter(made).run(x)["v"]


@case("fx.parameters")
def parameters(torch):
    def f(a, b: int = 2, *c, **d):
        return torch.add(a, b) * len([1, 2]) + operator.add(a, 1)

    yield "stars", torch.fx.symbolic_trace(f).code
    yield "first of many", torch.fx.symbolic_trace(lambda *x: x[0] + x[1]).code

    def nested(x, *, k):
        return x["a"] + x["b"][0] * k

    ph = torch.fx.PH
    made = torch.fx.symbolic_trace(nested, concrete_args={"x": {"a": ph, "b": [ph]}})
    yield "nested", made.code, str(made.graph), made({"a": torch.ones(1), "b": [torch.ones(1)]}, k=2)
    made = torch.fx.symbolic_trace(lambda x, n, b=None: x * n if b is None else x, concrete_args={"n": 3, "b": None})
    yield "specialised", made.code, str(made.graph), made(torch.ones(1), 3, None), _found(lambda: made(torch.ones(1), 4, None)), \
        _found(lambda: made(torch.ones(1), 3, 1))


@case("fx.edits")
def edits(torch):
    net = _net(torch)
    made = torch.fx.symbolic_trace(net.inner)
    g = made.graph
    relu = next(n for n in g.nodes if n.target is torch.nn.functional.relu)
    with g.inserting_after(relu):
        new = g.call_function(torch.tanh, (relu,))
    yield "users", [n.name for n in relu.replace_all_uses_with(new, delete_user_cb=lambda n: n is not new)], str(g)
    g.lint()
    made.recompile()
    yield "code", made.code, made(torch.ones(2, 3)).shape
    yield "erased", _found(lambda: g.erase_node(relu))
    with g.inserting_before(new):
        g.call_method("abs", (relu,))
        g.get_attr("w")
    yield "dead", g.eliminate_dead_code(), str(g), len(g.nodes)
    new.args = (new.args[0],)
    new.update_kwarg("out", None)
    new.insert_arg(1, 3)
    yield "arguments", str(new.args), str(new.kwargs), new.format_node()
    other = torch.fx.Graph()
    p = other.placeholder("p")
    other.output(other.call_function(torch.add, (p, new)))
    yield "foreign", _found(other.lint), _found(lambda: other.erase_node(new))
    new.append(relu)
    yield "order", _found(g.lint)
    yield "unwritable", _found(lambda: relu.kwargs.update(a=1)), _found(lambda: g.output_node().update_arg(0, [relu])), _found(lambda: g.output_node().args[0].append(1))


@case("fx.names")
def names(torch):
    g = torch.fx.Graph()
    told = ["x", "x", "x_1", "max", "sum_1", "if", "1a", "a-b", "", "torch", "x_7", "x", "add_0", "add_0", "add_00", "foo__3", "inf", "nan", "device", "LayerNorm", "__add__"]
    yield "given", [g.placeholder(name).name for name in told]
    yield "wrong", _found(lambda: g.create_node("call_function", 3)), _found(lambda: g.create_node("call_function", "x")), _found(lambda: g.create_node("foo", max))
    yield "module", _found(lambda: torch.fx.GraphModule(3, torch.fx.Graph()))
    h = torch.fx.Graph()
    h.output(h.call_module("a.b", (h.placeholder("x"),)))
    yield "dict", _found(lambda: torch.fx.GraphModule({}, h)), torch.fx.GraphModule({"a.b": torch.nn.ReLU()}, h).code, str(torch.fx.GraphModule({"a.b": torch.nn.ReLU()}, h))


@case("fx.runners")
def runners(torch):
    made = torch.fx.symbolic_trace(_net(torch).inner)

    class Sigmoids(torch.fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.sigmoid, args[:1], {}) if target is torch.nn.functional.relu else super().call_function(target, args, kwargs)

    class Seen(torch.fx.Interpreter):
        def run_node(self, n):
            seen.append((n.op, n.name))
            return super().run_node(n)

    seen = []
    x = torch.ones(2, 3)
    yield "transformed", Sigmoids(made).transform().code, Sigmoids(made).transform()(x)
    yield "seen", Seen(made).run(x), seen
    yield "nothing given", _found(lambda: torch.fx.Interpreter(made).run()).__getitem__(0)
    told = _found(lambda: torch.fx.Interpreter(torch.fx.symbolic_trace(lambda x: x @ x)).run(x))
    yield "fails", told[0], told[1].partition("\nUse tlparse")[0]


@case("fx.patterns")
def patterns(torch):
    def f(x, y):
        a = torch.relu(torch.relu(x))
        b = torch.relu(torch.relu(a)) + y
        return torch.relu(b) * torch.relu(torch.relu(b) + 1)

    made = torch.fx.symbolic_trace(f)
    found = torch.fx.replace_pattern(made, lambda x: torch.relu(torch.relu(x)), lambda x: torch.tanh(x))
    yield "twice", [(m.anchor.name, {str(k): str(v) for k, v in m.nodes_map.items()}) for m in found], made.code
    made = torch.fx.symbolic_trace(f)
    found = torch.fx.replace_pattern(made, lambda x, y: torch.relu(x) + y, lambda x, y: torch.add(y, x, alpha=2))
    yield "sum", len(found), made.code, made(torch.ones(2), torch.ones(2))
    made = torch.fx.symbolic_trace(f)
    yield "none", len(torch.fx.replace_pattern(made, lambda x: torch.sin(x), lambda x: x)), made.code


@case("fx.tracers")
def tracers(torch):
    class Leaves(torch.fx.Tracer):
        def is_leaf_module(self, m, name):
            return name == "inner" or super().is_leaf_module(m, name)

    class Yes(torch.fx.Tracer):
        def to_bool(self, obj):
            return True

        def iter(self, obj):
            return iter([obj[0], obj[1]])

    net = _net(torch)
    g = Leaves().trace(net)
    yield "leaves", str(g), torch.fx.GraphModule(net, g).code
    g = Yes().trace(lambda x: sum(i for i in x) if x > 0 else x)
    yield "yes", str(g)
    yield "copied", str(copy.deepcopy(g)), [n.name for n in g.find_nodes(op="call_function", target=operator.getitem)], g.output_node().name
    with g.on_generate_code(lambda old: lambda body: ["# first\n", *body]):
        yield "changed", torch.fx.GraphModule(torch.nn.Module(), g).code


@case("fx.operators_by_their_own_names")
def _(torch):
    """Operators of torch.ops are nodes as they were called; those that write are refused where a tracer is asked to."""
    fx, aten = torch.fx, torch.ops.aten

    class Careful(fx.Tracer):
        check_mutable_operations = True

    yield "code", fx.symbolic_trace(lambda a: aten.add.Tensor(aten.relu.default(a), aten.mul(a, 2))).code
    yield "nodes", [(n.op, n.name, str(n.target)) for n in fx.symbolic_trace(lambda a: aten.add.Tensor(a, a)).graph.nodes]
    yield "runs", fx.symbolic_trace(lambda a: aten.add.Tensor(a, aten.relu(a), alpha=2))(torch.tensor([-1.0, 2.0]))
    for name, f in {
        "bits": lambda x: x & x | x, "writes": lambda x: torch.relu_(x), "method": lambda x: x.relu_(), "out": lambda x: torch.sigmoid(x, out=x),
        "out of one that takes numbers": lambda x: torch.add(x, x, out=x), "in place": lambda x: torch.nn.functional.relu(x, inplace=True),
    }.items():
        yield name, _found(lambda f=f: str(Careful().trace(f)))


@case("fx.traced_for_given_arguments")
def _(torch):
    from importlib import import_module

    fx = torch.fx
    place, held = fx.PH, import_module(f"{torch.__name__}.fx._symbolic_trace").PHWithMeta(ph_key="k")

    class Any(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return args[0] + args[1]

    class More(torch.nn.Module):
        def forward(self, a, *args):
            return args[0] + a

    class Sum(torch.nn.Module):
        def forward(self, a, b):
            return a + b

    yield "star", fx.symbolic_trace(Any(), concrete_args=(place, place)).code, _found(lambda: fx.symbolic_trace(More(), concrete_args=(place, place)).code)
    yield "meta", [(n.name, n.ph_key, dict(n.meta)) for n in fx.symbolic_trace(lambda a: a + 1, concrete_args={"a": held}).graph.nodes if n.op == "placeholder"]
    traced = fx.symbolic_trace(Sum())
    for n in (2, 1, 3):
        values = list(range(n))
        yield f"boxed {n}", _found(lambda values=values: fx.Interpreter(traced).boxed_run(values)), values
    for n in traced.graph.nodes:
        n.meta.update(nn_module_stack="s", stack_trace="t", source_fn_stack="f", other=3)
    yield "transformed", [{k: v for k, v in n.meta.items() if k in ("nn_module_stack", "stack_trace", "source_fn_stack", "other")}
                          for n in fx.Transformer(traced).transform().graph.nodes]
    yield "file", traced.forward.__code__.co_filename.rpartition(":")[0].endswith("fx.py"), traced.forward.__code__.co_filename.rpartition(" in ")[2]
    traced.meta["own"] = traced
    yield "copy", (made := copy.deepcopy(traced)).meta["own"] is made
