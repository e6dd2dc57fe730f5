"""torch's errors for gradients that there are none of (layer 2)."""

from __future__ import annotations

NO_FORMULA = "torch::autograd::NotImplemented"  # the node of an operator without a formula


def unimplemented(op, inplace=False):
    """That of a backward pass through an operator whose gradient torch has not written; a write in place has a name of its own."""
    name = (getattr(op, "second", None) or op.name).removeprefix("aten::")  # with the prefix: an operator for whose gradient torch has no node of its own
    if op.node is not None and op.node != NO_FORMULA:
        return NotImplementedError(f"the derivative for '{name}' is not implemented.")
    whole = name in ("set_", "_foreach_copy_")
    return RuntimeError(f"derivative for {'' if whole else 'aten::'}{name}{'_' if inplace and not whole else ''} is not implemented")


def refuse_again(pull, given):
    """torch's errors for the derivative of gradients (those of `pull` in the places `given`) that have none."""
    form = pull.inner
    again, second = getattr(form.op, "refuses_again", None), getattr(form.op, "second", None)
    if again is not None:
        again({form.owners[pull.wanted[i]] for i in given}, form.owners)
    if isinstance(second, dict):
        raise unimplemented(type(pull.op)(form, tuple(pull.wanted[i] for i in given)))


def refusing(form, given):
    """Whether torch looks at data before it computes a pullback of `form`: at complex cotangents, or at what a gradient was computed of that is
    differentiated in turn."""
    again = refused_by_data(form)
    if again is not None:
        return any(form.inner.owners[form.wanted[i]] == again for i in given)
    return getattr(form.op, "refuse", None) is not None and any(form.out_avals[i].dtype.is_complex for i in given)


def refused_by_data(form):
    """The parameter whose gradient, which the pullback `form` computes, has no derivative for some data; None for any other form."""
    inner = getattr(form, "inner", None)
    found = getattr(getattr(inner, "op", None), "refuses_data", None)
    return None if found is None or not hasattr(inner.spec, "statics") else found[0](**inner.spec.statics)


def real_gradient_wanted():
    """That of a complex gradient for a real number."""
    return RuntimeError("Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got false.  (Could this error "
                        "message be improved?  If so, please report an enhancement request to PyTorch.)")


def no_complex_gradient(op):
    """That of a call whose complex result would require grad, where torch has a formula for real numbers only."""
    name = op.name if op.real_only is True else op.real_only
    return RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")


__all__ = ["NO_FORMULA", "no_complex_gradient", "real_gradient_wanted", "refuse_again", "refused_by_data", "refusing", "unimplemented"]
