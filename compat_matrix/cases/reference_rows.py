"""Rows of the conformance table that one spelling alone has: kinds of inputs, nesting, names of other versions."""

import operator

from compat_matrix.case import case, raises


def leaf(torch):
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


@case("reference_rows.inputs of every kind")
def _(torch):
    for name, kind in {"generator": lambda x: (t for t in [x]), "set": lambda x: {x}, "tensor": lambda x: x, "iterator": lambda x: iter([x]),
                       "keys": lambda x: {x: 1}.keys(), "values": lambda x: {"a": x}.values()}.items():
        x = leaf(torch)
        yield f"{name}, backward", raises(lambda: torch.autograd.backward((x * x).sum(), inputs=kind(x)))
        yield f"{name}, filled", x.grad
        yield f"{name}, grad", raises(lambda: torch.autograd.grad((x * x).sum(), kind(x)))


@case("reference_rows.inputs that are no tensors")
def _(torch):
    x = leaf(torch)
    for name, given in {"number": 1.0, "text": "x", "none": [None], "mixed": [x, 2.0], "nested": [[x]]}.items():
        yield f"{name}, backward", raises(lambda: torch.autograd.backward((x * x).sum(), inputs=given))
        yield f"{name}, grad", raises(lambda: torch.autograd.grad((x * x).sum(), given))


@case("reference_rows.backward inside a transform")
def _(torch):
    def inner(x):
        x.sum().backward()
        return x.sum()

    yield "grad", raises(lambda: torch.func.grad(inner)(leaf(torch)))
    yield "vmap", raises(lambda: torch.vmap(inner)(torch.ones(2, 3, requires_grad=True)))
    yield "hook", raises(lambda: torch.func.grad(lambda x: (x.register_hook(lambda g: g), x.sum())[1])(leaf(torch)))


@case("reference_rows.checkpoints that enter the engine again, under grad and inputs")
def _(torch):
    x = leaf(torch)
    yield "grad", raises(lambda: torch.autograd.grad(torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True).sum(), x))
    yield "inputs", raises(lambda: torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True).sum().backward(inputs=[x]))
    yield "left", x.grad


@case("reference_rows.multi grad hooks over leaves, under grad")
def _(torch):
    for mode in ("all", "any"):
        x, y = leaf(torch), leaf(torch)
        seen = []
        handle = torch.autograd.graph.register_multi_grad_hook([x, y], seen.append if mode == "any" else lambda g: seen.append(g), mode=mode)
        yield f"{mode}, grad", raises(lambda: torch.autograd.grad((x * y).sum(), [x, y]))
        yield f"{mode}, seen", len(seen)
        (x * y).sum().backward()
        yield f"{mode}, backward", len(seen)
        handle.remove()


@case("reference_rows.what is assigned to grad")
def _(torch):
    for name, given in {"number": 1.0, "list": [1.0], "size": torch.ones(2), "dtype": torch.ones(3, dtype=torch.float64), "ints": torch.ones(3, dtype=torch.int64),
                        "good": torch.ones(3), "none": None, "view": torch.ones(6)[::2]}.items():
        x = leaf(torch)
        yield name, raises(lambda: setattr(x, "grad", given))
        yield f"{name}, is it", x.grad is given
    x = leaf(torch)
    yield "itself", raises(lambda: setattr(x, "grad", x))


@case("reference_rows.names of other versions")
def _(torch):
    yield "2.14", [hasattr(torch.autograd.graph, "node_creation_hook"), hasattr(torch.autograd.function.FunctionCtx, "set_output_grad_dtype")]
    yield "gone", raises(lambda: torch.autograd.gradcheck(torch.sin, torch.ones(2, dtype=torch.float64, requires_grad=True), check_sparse_nnz=True))


@case("reference_rows.star imports")
def _(torch):
    """What `from torch.autograd import *` and the like bring."""
    for name in ("", ".anomaly_mode", ".forward_ad", ".function", ".functional", ".grad_mode", ".graph"):
        yield name, sorted(operator.attrgetter(f"autograd{name}")(torch).__all__)
    for name in ("func", "utils.checkpoint", "nn.parameter", "optim", "special", "futures", "hub"):
        module = operator.attrgetter(name)(torch)
        yield name, sorted(n for n in module.__all__ if hasattr(module, n))


@case("reference_rows.jacobians that a strict call refuses")
def _(torch):
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    functions = {
        "no second input": lambda a, b: (a * b, a * 2),
        "a sum": lambda a, b: (a * b, a.sum() + b[:1]),
        "linear": lambda a, b: (a * a * b * b, a * b * 0 + b * a, a.exp() * 2 + b * 3),
    }
    for name, f in functions.items():
        for create_graph in (False, True):
            try:
                found = torch.autograd.functional.jacobian(f, (a, b), strict=True, create_graph=create_graph)
                yield f"{name} {create_graph}", [[g.detach() for g in row] for row in found]
            except RuntimeError as e:
                yield f"{name} {create_graph}", str(e)
