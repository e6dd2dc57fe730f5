"""`Variable`, `fork_rng`, attributes that cannot be assigned, and names of classes as they print."""

import copy

from compat_matrix.case import attempt, case
from compat_matrix.probes import each, evaluate

VARIABLE = {
    "flag": "Variable(a, requires_grad=True)", "position": "Variable(a, True)", "number": "Variable(a, requires_grad=1)", "none": "Variable()",
    "data none": "Variable(None, requires_grad=True)", "of leaf": "Variable(leaf)", "of result": "Variable(leaf * 2, requires_grad=True).is_leaf",
    "history": "Variable(leaf * 2).grad_fn", "is other": "Variable(a) is a", "same memory": "Variable(a).data_ptr() == a.data_ptr()",
    "not a view": "Variable(a)._is_view()", "integers": "Variable(i)", "list": "Variable([1.0])", "integers flag": "Variable(i, requires_grad=True)",
    "flag none": "Variable(a, requires_grad=None)", "flag float": "Variable(a, 1.0)", "flag large": "Variable(a, 300)", "flag negative": "Variable(a, -1)",
    "keyword": "Variable(a, foo=1)", "twice": "Variable(a, data=a)", "too many": "Variable(a, 0, 0, None, None, 6)", "grad_fn": "Variable(a, _grad_fn=3)",
    "name": "Variable(a, name=3)", "parameter": "type(Variable(torch.nn.Parameter(a))).__name__", "isinstance": "isinstance(a, Variable)",
    "isinstance parameter": "isinstance(torch.nn.Parameter(a), Variable)", "isinstance number": "isinstance(3, Variable)",
    "subclass": "issubclass(torch.Tensor, Variable)", "class": "Variable", "tensor has none": "hasattr(torch.Tensor, '_execution_engine')",
}


def variables(torch, expression):
    a = torch.ones(2)
    yield "value", str(attempt(lambda: evaluate(torch, expression, Variable=torch.autograd.Variable, a=a, i=torch.arange(2),
                                                leaf=torch.ones(2, requires_grad=True))))


each("everyday.variable", variables, VARIABLE)


@case("everyday.variable shares")
def _(torch):
    a = torch.ones(2)
    v = torch.autograd.Variable(a, requires_grad=True)
    with torch.no_grad():
        v += 1
    yield "both", a, v
    yield "versions", a._version, v._version
    (v * v).sum().backward()
    yield "grads", v.grad, a.grad


ATTRIBUTES = ("shape dtype device layout ndim is_leaf grad_fn output_nr T H mT _version _base is_cuda is_cpu is_sparse is_meta itemsize nbytes retains_grad "
              "name requires_grad data _grad").split()


@case("everyday.attributes")
def _(torch):
    for name in ATTRIBUTES:
        x = torch.ones(2, 2, requires_grad=True)
        yield name, attempt(lambda: setattr(x, name, 3)), attempt(lambda: delattr(x, name))
    yield "name of a tensor", x.name


PARAMETER = {
    "integers": "torch.nn.Parameter(torch.arange(2))", "integers without": "torch.nn.Parameter(torch.arange(2), requires_grad=False)",
    "flag text": "torch.nn.Parameter(torch.ones(2), requires_grad='x')", "flag number": "torch.nn.Parameter(torch.ones(2), 1)",
    "flag none": "torch.nn.Parameter(torch.ones(2), requires_grad=None)", "number": "torch.nn.Parameter(3)",
}


def shown(torch, expression):
    yield "value", str(attempt(lambda: evaluate(torch, expression)))


each("everyday.parameter", shown, PARAMETER)


@case("everyday.node classes")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y[0] = 0
    node = y.grad_fn
    below = node.next_functions[0][0]
    for at, n in enumerate((node, below, below.next_functions[0][0])):
        yield f"class {at}", str(type(n)), repr(n).split(" at ")[0], n.name()


@case("everyday.fork_rng")
def _(torch):
    torch.manual_seed(0)
    with torch.random.fork_rng() as entered:
        torch.manual_seed(5)
        yield "inside", entered, torch.rand(2)
    yield "after", torch.rand(2)
    with torch.random.fork_rng(enabled=False):
        torch.rand(1)
    yield "not enabled", torch.rand(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.rand(3)
            raise ValueError
    except ValueError:
        yield "after an error", torch.rand(1)
    drawn = torch.random.fork_rng()(lambda: torch.rand(1))
    yield "decorator", drawn(), drawn(), torch.rand(1)
    yield "no such device", attempt(lambda: torch.random.fork_rng(device_type="foo").__enter__())


@case("everyday.deepcopy of a parameter")
def _(torch):
    p = torch.nn.Parameter(torch.arange(3.0))
    (p * 2).sum().backward()
    p.tag = "kept?"
    q, again, data = copy.deepcopy([p, p, p.data])
    yield "copy", q, q.grad, hasattr(q, "tag"), type(q).__name__, q.is_leaf, q is again
    data[0] = 9
    yield "apart", q, data
    (q * 3).sum().backward()
    yield "gradients", p.grad, q.grad
    yield "frozen", copy.deepcopy(torch.nn.Parameter(torch.ones(2), requires_grad=False)).requires_grad
    yield "transposed", copy.deepcopy(torch.nn.Parameter(torch.ones(2, 3).t())).stride()
    t = torch.ones(2, requires_grad=True)
    (t * 2).sum().backward()
    yield "a plain tensor keeps it", copy.deepcopy(t).grad


@case("everyday.keepdim without dim")
def _(torch):
    t = torch.arange(6.0).reshape(2, 3)
    for name in "sum mean prod std var amin amax all any max median logsumexp".split():
        yield name, attempt(lambda: getattr(t, name)(keepdim=True)), attempt(lambda: getattr(torch, name)(t, keepdim=True))
