"""Instances of Function, which torch still makes, and NestedIOFunction, which nothing calls any more."""

from compat_matrix.case import attempt, case


@case("function.instances.hooks")
def _(torch):
    f, called = torch.autograd.Function(), []
    for name in ("register_hook", "register_prehook"):
        register = getattr(f, name)
        handle = register(called.append)
        yield name, isinstance(handle, torch.utils.hooks.RemovableHandle), handle.remove(), called
    yield "read", attempt(lambda: f.materialize_grads)
    for value in (True, False, 0, None):
        yield f"write {value}", attempt(lambda v=value: setattr(f, "materialize_grads", v))


@case("function.instances.nested")
def _(torch):
    class Twice(torch.autograd.function.NestedIOFunction):
        def forward_extended(self, x):
            return x * 2

        def backward_extended(self, g):
            return g * 2
    x = torch.ones(2, requires_grad=True)
    yield "same", torch.autograd.function.NestedIOFunction is torch.autograd.NestedIOFunction if hasattr(torch.autograd, "NestedIOFunction") else None
    yield "called", attempt(lambda: Twice()(x))
    yield "applied", attempt(lambda: Twice.apply(x))
    yield "bare", [attempt(lambda n=n: getattr(torch.autograd.function.NestedIOFunction(), n)(x)) for n in ("forward", "backward", "forward_extended", "backward_extended")]
    f = Twice()
    yield "marks", f.save_for_backward(x, x), f.mark_dirty(x), f.mark_non_differentiable(x), len(f.to_save), len(f.dirty_tensors), len(f.non_differentiable)
    yield "methods", f.forward_extended(x), f.backward_extended(x), attempt(lambda: f.forward(x)), attempt(lambda: f.backward(x))
    yield "none", attempt(lambda: Twice().saved_tensors)
    yield "some", attempt(lambda: f.saved_tensors)
