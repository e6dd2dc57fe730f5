"""What is attached to a node dies with the last of its tensor and its node, or, where it leads back to the node, at a collection of cycles."""

import gc
import weakref

from compat_matrix.case import case


class _Mark:
    pass


def _register(how, b, node, mark, more):
    def hook(*args, mark=mark, more=more):
        return None

    {"tensor": lambda: b.register_hook(hook), "node": lambda: node.register_hook(hook), "prehook": lambda: node.register_prehook(hook)}[how]()


@case("nodes_let_go.with_the_last_holder")
def _(torch):
    for how in ("tensor", "node", "prehook"):
        for passed in (None, {}, {"retain_graph": True}):
            a = torch.ones(4, requires_grad=True)
            b, mark = a * 2, _Mark()
            ref, node = weakref.ref(mark), b.grad_fn
            _register(how, b, node, mark, None)
            if passed is not None:
                b.sum().backward(**passed)
            del mark, a, b
            held = ref() is not None
            del node
            yield f"{how} {passed}", held, ref() is None


@case("nodes_let_go.at_a_collection")
def _(torch):
    for how in ("tensor", "node", "prehook"):
        for passed in (None, {}, {"retain_graph": True}):
            gc.collect()
            gc.disable()
            try:
                a = torch.ones(4, requires_grad=True)
                b, mark = a * 2, _Mark()
                ref, node = weakref.ref(mark), b.grad_fn
                _register(how, b, node, mark, node)
                if passed is not None:
                    b.sum().backward(**passed)
                del mark, a, b, node
                held = ref() is not None
                gc.collect()
                yield f"{how} {passed}", held, ref() is None
            finally:
                gc.enable()


@case("nodes_let_go.shared_by_outputs")
def _(torch):
    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2].clone(), x[2:].clone()

        @staticmethod
        def backward(ctx, g0, g1):
            return torch.cat([g0, g1])

    for name, make in (("op", lambda a: (a * 2).split(2)), ("function", Split.apply)):
        a = torch.ones(4, requires_grad=True)
        b0, b1 = make(a)
        mark = _Mark()
        ref, node = weakref.ref(mark), b0.grad_fn
        _register("node", b0, node, mark, node)
        del a, b0, b1, node, mark
        gc.collect()
        yield name, ref() is None


@case("nodes_let_go.still_called")
def _(torch):
    a, calls = torch.ones(3, requires_grad=True), []
    b = a * 2
    node = b.grad_fn
    node.register_hook(lambda *args, node=node: calls.append(type(node).__name__))
    c = b.exp()
    del b, node
    gc.collect()
    c.sum().backward()
    yield "calls", calls, a.grad
