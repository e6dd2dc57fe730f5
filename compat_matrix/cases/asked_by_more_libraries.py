"""What further libraries ask: of nodes with results that have no gradient, inside `no_grad` around transformations, of draws inside of maps."""

from compat_matrix.case import case, raises


def _several(torch):
    x = torch.arange(1.0, 10.0, dtype=torch.float64).square().sin().reshape(3, 3).requires_grad_()
    nn = torch.nn
    image = x.detach().repeat(4, 4)[None, None, :8, :8].clone().requires_grad_()
    return x, {
        "batch norm": lambda: nn.BatchNorm1d(3, dtype=torch.float64)(x), "layer norm": lambda: nn.LayerNorm(3, dtype=torch.float64)(x),
        "max pool": lambda: nn.functional.max_pool2d(image, 2), "max": lambda: x.max(1)[0], "sort": lambda: x.sort(1)[0], "slogdet": lambda: torch.linalg.slogdet(x)[1],
        "solve": lambda: torch.linalg.solve(x, x), "lu": lambda: torch.linalg.lu(x)[2], "lu_factor": lambda: torch.linalg.lu_factor(x)[0],
        "median": lambda: x.median(0)[0], "topk": lambda: x.topk(2)[0], "frexp": lambda: x.frexp()[0], "cummax": lambda: x.cummax(0)[0],
        "var_mean": lambda: torch.var_mean(x, 0)[1], "eigh": lambda: torch.linalg.eigh(x + x.t())[0], "nll": lambda: nn.functional.nll_loss(x, torch.tensor([0, 1, 2]))}


@case("asked_by_more_libraries.gradients_of_nodes")
def gradients_of_nodes(torch):
    """What hooks of a node are given, and its own numbers, leave out the results that have no gradient."""
    for name, make in _several(torch)[1].items():
        y, seen = make(), []
        node = y.grad_fn
        node.register_prehook(lambda gs: seen.append(("before", [None if g is None else list(g.shape) for g in gs])))
        node.register_hook(lambda ins, outs: seen.append(("after", [None if g is None else list(g.shape) for g in ins], [None if g is None else list(g.shape) for g in outs])))
        y.sum().backward()
        yield name, y.output_nr, len(node._input_metadata), seen


@case("asked_by_more_libraries.nodes_called")
def nodes_called(torch):
    """Nodes called, and gradients with respect to an edge, by the numbers of their outputs."""
    x, made = _several(torch)
    _, lower, upper = torch.linalg.lu(x)
    node = upper.grad_fn
    yield "numbers", lower.output_nr, upper.output_nr
    yield "called", node(None, torch.ones_like(upper)).detach().round(decimals=6)
    yield "one of two", raises(lambda: node(torch.ones_like(upper)))
    edge = torch.autograd.graph.get_gradient_edge(upper)
    yield "edge", torch.autograd.grad(edge, x, torch.ones_like(upper), retain_graph=True)[0].round(decimals=6)
    node.register_prehook(lambda gs: tuple(g if g is None else 2 * g for g in gs))
    yield "doubled", torch.autograd.grad(upper.sum(), x)[0].round(decimals=6)
    highest = made["max"]()
    yield "max", highest.grad_fn(torch.ones_like(highest))


@case("asked_by_more_libraries.without_gradients_around")
def without_gradients_around(torch):
    """A tensor keeps its history, and a leaf what it requires, where a function of it is differentiated inside of no_grad and something is looked at there."""
    t = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    kept, leaf = t * 2, (t.detach() * 3).requires_grad_()
    other = leaf * 5
    with torch.no_grad():
        torch.func.vjp(lambda s: s * s, kept)[1](kept)
        yield "gradient", torch.func.grad(lambda s: (s * s.sum().item() * other * leaf).sum())(kept)
        yield "inner", torch.func.grad(lambda a: torch.func.grad(lambda s: (s * s.sum().item() * a).sum())(a * 2).sum())(kept)
    yield "kept", kept, leaf, other, kept.is_leaf, leaf.is_leaf
    (kept * other).sum().backward()
    yield "grads", t.grad, leaf.grad


@case("asked_by_more_libraries.draws_of_several")
def draws_of_several(torch):
    """Examples' means and deviations of different numbers of dims."""
    m, s = torch.arange(12.0).reshape(3, 4), torch.arange(1.0, 13.0).reshape(3, 4) / 8
    different = {"randomness": "different"}
    torch.manual_seed(0)
    yield "mean is wider", torch.func.vmap(lambda a, b: torch.normal(a.expand(5, 4), b), **different)(m, s)
    yield "deviation is wider", torch.func.vmap(lambda a, b: torch.normal(a, b.expand(2, 5, 4)), in_dims=(0, None), **different)(m, s[0])
    yield "a number", torch.func.vmap(lambda a: torch.normal(a.expand(5, 4), 2.0), **different)(m)


@case("asked_by_more_libraries.types_named")
def types_named(torch):
    """Types that programs name in annotations; nothing is made of them."""
    for name in ("TensorType", "DeviceObjType", "ScriptMethod", "ScriptObject", "Type", "IntType", "StringType", "Value", "Node"):
        cls = getattr(torch, name)
        yield name, cls is getattr(torch._C, name), cls.__name__, raises(cls), isinstance(torch.ones(1), cls), issubclass(cls, torch.Type)


@case("asked_by_more_libraries.one_process")
def one_process(torch):
    """The iterator of a DataLoader without workers, made by hand over what looks like a loader."""
    data = torch.utils.data
    from_loader = data.dataloader._SingleProcessDataLoaderIter
    loader = data.DataLoader(list(range(7)), batch_size=3)
    yield "batches", [list(b) for b in from_loader(loader)]
    yield "its own", isinstance(iter(loader), from_loader), isinstance(iter(data.DataLoader(list(range(7)), batch_size=3, num_workers=1)), from_loader)


@case("asked_by_more_libraries.operators")
def operators(torch):
    """Operators copied and looked up by those who watch calls; one that stands around a kernel of Triton, on the CPU."""
    import copy

    packet = torch.ops.aten.addmm
    table = copy.deepcopy({packet: 1, packet.default: 2})
    yield "copied", table[packet], table[packet.default], packet.default._overloadpacket is packet, packet.default.overloadpacket is packet

    class Counting(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func._overloadpacket in table, func in table))
            return func(*args, **(kwargs or {}))

    seen, given = [], (torch.ones(2), torch.ones(2, 3), torch.ones(3, 2))
    with Counting():
        torch.addmm(*given)
    yield "watched", seen

    def times_itself(x):
        return x * x

    times_itself.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    square = torch.library.triton_op(f"asked_{id(seen)}::square", times_itself, mutates_args=())
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    yield "called", square(x.detach()), square(x).requires_grad, type(square).__name__
    square.register_autograd(lambda ctx, g: g * 3)
    yield "differentiated", torch.autograd.grad(square(x).sum(), x)


@case("asked_by_more_libraries.functions_pickled")
def functions_pickled(torch):
    """Functions and methods that a module holds are pickled by name, and are themselves when they come back."""
    import pickle

    x = torch.tensor([0.25, 0.5])
    held = [torch.special.expit, torch.special.erf, torch.fft.fft, torch.linalg.inv, torch.linalg.cholesky, torch.Tensor.abs, torch.Tensor.add, torch.Tensor.reshape,
            torch.Tensor.exp_, torch.concat, torch.moveaxis, torch.group_norm, torch.nn.functional.relu, torch.sigmoid, torch.Tensor.matmul]
    for protocol in (0, 2, 4):
        yield protocol, [pickle.loads(pickle.dumps(f, protocol)) is f or pickle.loads(pickle.dumps(f, protocol)) == f for f in held]
    yield "called", pickle.loads(pickle.dumps(torch.special.expit))(x), pickle.loads(pickle.dumps(torch.Tensor.abs))(-x)
    yield "names", [torch.typename(f) for f in (torch.Tensor.abs, torch.Tensor.add, torch.special.erf, torch.fft.fft)]


@case("asked_by_more_libraries.einsum_of_unlike_operands")
def einsum_of_unlike_operands(torch):
    """Pairs that share no summed index only multiply, so dtypes are promoted; an index of one operand is summed first, integers as int64."""
    for equation in ("a,b->", "ab,cd->ac", "ab,cd->ca", "ab,c->a", "a,b->ab", "ab,cb->a"):
        shapes = [(3,) * len(labels) for labels in equation.split("->")[0].split(",")]
        for kind in (torch.bool, torch.uint8, torch.int32):
            operands = [(torch.arange(3 ** len(shape)) * 37 % 251).reshape(shape).to(kind) for shape in shapes]
            yield f"{equation} {kind}", raises(lambda: torch.einsum(equation, *operands)) if equation == "ab,cb->a" else torch.einsum(equation, *operands)
    for equation in ("a,b->", "ab,cd->ac", "ab,cd->ca"):
        a, b = (torch.arange(3.0 ** len(labels)).reshape((3,) * len(labels)) for labels in equation.split("->")[0].split(","))
        a, b = a.requires_grad_(), b.double().requires_grad_()
        out = torch.einsum(equation, a, b)
        yield equation, out, *torch.autograd.grad(out.square().sum(), (a, b))
    for equation in ("ab,ac->bc", "ab,ac->cb", "ab,cb->ca", "abc,abd->adc", "abc,ad->dbc", "abc,ad->bdc", "ad,abc->bcd", "abc,ade->dbec", "abc,ade->debc"):
        a, b = (torch.ones((3,) * len(labels)) for labels in equation.split("->")[0].split(","))
        yield equation, raises(lambda: torch.einsum(equation, a, b.double())), raises(lambda: torch.einsum(equation, a.double(), b))
    one, two = torch.ones(3, 3), torch.ones(3, 3, dtype=torch.float64)
    for equation in ("ab,bc,cd->ad", "ab,ac,bd->cd", "ab,ac,bd->dc", "ab,ca,db->cd", "ab,bc,cd,de->ae", "ab,bc,cd,de->ea", "ab,cd,bc,de->ae"):
        mixed = [[two if i == k else one for i in range(equation.count(",") + 1)] for k in range(equation.count(",") + 1)]
        yield equation, *(raises(lambda m=m: torch.einsum(equation, *m)) for m in mixed)
    yield "two by two", raises(lambda: torch.einsum("ab,bc,cd,de->ae", one, one, two, two))


@case("asked_by_more_libraries.einsum_along_a_path")
def einsum_along_a_path(torch):
    """`torch._VF.einsum` is told in which order to multiply."""
    from importlib import import_module
    einsum = import_module(f"{torch.__name__}._VF").einsum
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    three = (x, x.detach().t(), x.detach() * 2)
    for path in (None, [0, 1, 0, 1], (1, 2, 0, 1), [0, 2, 0, 1], [2, 0, 1, 0]):
        y = einsum("ij,jk,kl->il", three, path=path)
        (g,) = torch.autograd.grad(y.square().sum(), x, create_graph=True)
        yield str(path), y, g, torch.autograd.grad(g.sum(), x)[0]
    yield "one", einsum("ij->ji", (x,), path=[5]), einsum("ij->ji", [x]), einsum(equation="ij->i", tensors=[x])
    for path in ([0, 1], [0, 1, 0], [], [0, 3, 0, 1], [0, 0, 0, 1], [9, 9, 0, 1], [-1, 0, 0, 1], [0, 1, 0, 2], 3, "ab", [0.5, 1, 0, 1], [True, 0, 0, 1], [(0, 1), (0, 1)]):
        yield str(path), raises(lambda p=path: einsum("ij,jk,kl->il", three, path=p))
    for args in (("ij->ji", x), (3, [x]), ("i->i", []), ("j->j", [3]), ("ij,jk->ik", x, x)):
        yield f"operands {args[0]}", raises(lambda a=args: einsum(*a))
    yield "order of faults", raises(lambda: einsum("ij->jz", (x, x), path=[5])), raises(lambda: einsum("ij->jz", (x, x), path=[5, 6]))
