"""torch.autograd.functional (layer 7): products and matrices of derivatives of a function of tensors.

Data flow, the same for all six: `_Call` gives the function fresh inputs (views of the caller's under `create_graph`, so that results stay connected to
them, leaves otherwise), runs it, and checks what came; `grad` with `create_graph` gives the first derivatives a graph where a second derivative
is asked for (jvp, vhp, hvp and hessian); `_filled` puts zeros where something is independent, or raises torch's words under `strict`; `_out` cuts
results from the graph unless it was asked for.  A matrix (`jacobian`) is one pass for each element of an output, or with `vectorize` one batched pass.
"""

from __future__ import annotations

from .._core import levels
from .._core.publish import load_all
from .._core.storage import as_leaf
from .._functions.create import zeros, zeros_like
from .._tensor import Tensor
from ._run import grad as _run_grad
from .grad_mode import enable_grad, is_grad_enabled, set_grad_enabled

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


_NOT_ALLOWED = "This is not allowed in strict mode"
_ALONE = "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
_NO_GRAD = ("Output {i} of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input "
            "when running in strict mode.")
_INDEPENDENT = f"The output of the user-provided function is independent of input {{i}}. {_NOT_ALLOWED}."
_DEPENDS = {  # what strict mode says of a derivative that does not require grad
    "outputs": _NO_GRAD,
    "gradient": f"The gradient with respect to input {{i}} is independent of the inputs of the user-provided function. {_NOT_ALLOWED}.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is independent of the input. "
                f"{_NOT_ALLOWED}. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be "
                "violated by a linear function for example).",
    "hessian": f"The hessian of the user-provided function with respect to input {{i}} is independent of the input. {_NOT_ALLOWED}. You should ensure that "
               "your function is thrice differentiable and that the hessian depends on the inputs.",
}
_ABSENT = {  # what it says of a gradient that is not there: (first derivative or second, by the double backward trick)
    "first": _INDEPENDENT,
    "first, forward": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double backward trick to compute "
                      f"forward mode gradients. {_NOT_ALLOWED}.",
    "second": f"The jacobian of the user-provided function is independent of input {{i}}. {_NOT_ALLOWED}.",
    "second, forward": f"The hessian of the user-provided function is independent of entry {{i}} in the grad_jacobian. {_NOT_ALLOWED} as it prevents from "
                       "using the double backward trick to replace forward mode AD.",
}


def _tuple(x, what, name):
    """(whether it was a tuple, the tuple); torch's TypeError for anything but tensors."""
    alone = not isinstance(x, tuple)
    xs = (x,) if alone else x
    for i, t in enumerate(xs):
        if not isinstance(t, Tensor):
            got = f"given {what} has" if alone else f"value at index {i} has"
            raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {got} type {type(t)}.")
    return not alone, xs


def _as_tuple(inp, arg_name=None, fn_name=None):
    """`inp` as a tuple; with names, checked, behind whether it was one (libraries build on this)."""
    if arg_name is None and fn_name is None:
        return inp if isinstance(inp, tuple) else (inp,)
    return _tuple(inp, arg_name, fn_name)


def _grad_postprocess(inputs, create_graph):
    """Tensors, or tuples of them, without their history unless a graph is asked for."""
    if isinstance(inputs[0], Tensor):
        return tuple(t if create_graph else t.detach() for t in inputs)
    return tuple(_grad_postprocess(inp, create_graph) for inp in inputs)


def _tuple_postprocess(res, to_unpack):
    """`res` in the form of what it belongs to: a pair of flags says it of outer and inner tuples."""
    if not isinstance(to_unpack, tuple):
        return _form(res, to_unpack)
    several_outer, several_inner = to_unpack
    inner = tuple(_form(r, several_inner) for r in res)
    return _form(inner, several_outer)


def _fresh(xs, connected, needs):
    """What is handed to the function: views of those of the caller's tensors that have a history to keep, others over their memory."""
    if not connected:
        return tuple(x.detach().requires_grad_(needs) for x in xs)
    return tuple(x.view_as(x) if x.requires_grad or not needs else x.detach().requires_grad_() for x in xs)


def _needing(x):
    """A fresh tensor that asks for gradients, under transformations too."""
    x._tl_set_value(as_leaf(x._tl_value(), x._tl_leaf_point()))
    return x


def _form(ts, several):
    return ts if several else ts[0]


class _Call:
    """A call of the user's function on fresh inputs: `xs`, `outs`, and whether each was given as a tuple."""

    def __init__(self, name, func, inputs, connected, strict):
        self.name, self.connected, self.strict = name, connected, strict
        self.several, xs = _tuple(inputs, "inputs", name)
        self.xs = _fresh(xs, connected, True)
        self.many, self.outs = _tuple(func(*self.xs), "outputs of the user-provided function", name)
        _require(self.outs, "outputs", strict)

    def scalar(self):
        """The check of those that take functions with one element only."""
        if self.many:
            raise RuntimeError(f"The function given to {self.name} should return a single Tensor")
        if self.outs[0].nelement() != 1:
            raise RuntimeError(f"The Tensor returned by the function given to {self.name} should contain a single element")

    def vector(self, v, like, several, words):
        """The given vector, checked against the tensors that it belongs to; None only where those are one element."""
        if v is None:
            if len(like) != 1 or like[0].nelement() != 1:
                raise RuntimeError(words)
            return None
        v = _fresh(_tuple(v, "v", self.name)[1], self.connected, False)
        if len(v) != len(like):
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}." if several
                               else "The given v should contain a single Tensor.")
        for i, (have, want) in enumerate(zip(v, like)):
            if have.shape != want.shape:
                raise RuntimeError(f"{f'Entry {i} in ' if several else ''}v has invalid size: should be {want.shape} but got {have.shape}.")
        return v

    def results(self, derivatives, several):
        """(outputs, derivatives) as the user gets them."""
        return _form(_grad_postprocess(self.outs, self.connected), self.many), _form(_grad_postprocess(derivatives, self.connected), several)


def _require(ts, what, strict):
    for i, t in enumerate(ts) if strict else ():
        if t is None:
            raise RuntimeError(_INDEPENDENT.format(i=i))
        if not t._tl_needs:
            raise RuntimeError(_DEPENDS[what].format(i=i))


def _grad(outs, xs, gs=None, **options):
    """`grad` from those outputs that require it; None for what is not reached."""
    pairs = [(o, g) for o, g in zip(outs, gs or (None,) * len(outs)) if o is not None and o._tl_needs]
    if not pairs:
        return (None,) * len(xs)
    outs, gs = zip(*pairs)
    return _run_grad(outs, xs, gs, allow_unused=True, **options)


def _filled(gs, like, call, stage):
    """Zeros for gradients that are not there; strict: torch's errors."""
    out = []
    for i, (g, x) in enumerate(zip(gs, like)):
        if call.strict and g is None:
            raise RuntimeError(_ABSENT[stage].format(i=i))
        if call.strict and call.connected and not g._tl_needs:
            what = "jacobian" if stage.startswith("first") else "hessian"
            raise RuntimeError(f"The {what} of the user-provided function is independent of input {i}. {_NOT_ALLOWED} when create_graph=True.")
        out.append(zeros_like(x) if g is None else g)
    return tuple(out)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, v times the Jacobian); v may be None where the output is one element."""
    with enable_grad():
        call = _Call("vjp", func, inputs, create_graph, strict)
        v = call.vector(v, call.outs, call.many,
                        "The vector v can only be None if the user-provided function returns a single Tensor with a single element.")
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        gs = _filled(_grad(call.outs, call.xs, v, create_graph=create_graph), call.xs, call, "first")
    return call.results(gs, call.several)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, the Jacobian times v), by differentiating v |-> vjp, which is linear."""
    with enable_grad():
        several, xs = _tuple(inputs, "inputs", "jvp")
        xs = _fresh(xs, create_graph, True)
        call = _Call.__new__(_Call)
        call.name, call.connected, call.strict, call.several, call.xs = "jvp", create_graph, strict, several, xs
        v = call.vector(v, xs, several, _ALONE)
        call.many, call.outs = _tuple(func(*xs), "outputs of the user-provided function", "jvp")
        _require(call.outs, "outputs", strict)
        us = tuple(zeros_like(o, requires_grad=True) for o in call.outs)
        back = _grad(call.outs, xs, us, create_graph=True)
        _require(back, "gradient", strict)
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        tangents = _filled(_grad(back, us, v, create_graph=create_graph), call.outs, call, "first, forward")
    return call.results(tangents, call.many)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, v times the Hessian) of a function with one element."""
    with enable_grad():
        call, v, jac = _first(func, inputs, v, create_graph, strict, "vhp")
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        gs = _filled(_grad(jac, call.xs, v, create_graph=create_graph), call.xs, call, "second")
    return call.results(gs, call.several)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, the Hessian times v) of a function with one element."""
    with enable_grad():
        call, v, jac = _first(func, inputs, v, create_graph, strict, "hvp")
        us = tuple(zeros_like(x, requires_grad=True) for x in call.xs)
        back = _grad(jac, call.xs, us, create_graph=True)
        _require(back, "hessian", strict)
    with set_grad_enabled(bool(create_graph) or is_grad_enabled()):
        tangents = _filled(_grad(back, us, v, create_graph=create_graph), call.xs, call, "second, forward")
    return call.results(tangents, call.several)


def _first(func, inputs, v, create_graph, strict, name):
    """The call, v, and the gradient with a graph."""
    several, xs = _tuple(inputs, "inputs", name)
    checker = _Call.__new__(_Call)
    checker.name, checker.connected = name, create_graph
    v = checker.vector(v, _fresh(xs, create_graph, True), several, _ALONE)
    call = _Call(name, func, inputs, create_graph, strict)
    call.scalar()
    jac = _grad(call.outs, call.xs, create_graph=True)
    _require(jac, "jacobian", strict)
    return call, v, jac


# Matrices

def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """d outputs / d inputs, of shape (*output, *input): a tensor, or nested tuples, outputs first."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, '
                             '"forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".')
    if strategy == "forward-mode":
        return _forward(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        call = _Call("jacobian", func, inputs, create_graph, strict)
        if vectorize:
            if strict:
                raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either set "
                                   "`strict=False` or `vectorize=False`.")
            rows = _at_once(call)
        else:
            rows = tuple(_one_by_one(call, i, o) for i, o in enumerate(call.outs))
    rows = tuple(_form(row, call.several) for row in _grad_postprocess(rows, create_graph))
    return _form(rows, call.many)


def _one_by_one(call, i, out):
    """The Jacobians of one output, a pass for each of its elements."""
    columns = tuple([] for _ in call.xs)
    flat = out.reshape(-1)
    for j in range(out.nelement()):
        gs = _grad((flat[j],), call.xs, retain_graph=True, create_graph=call.connected)
        for k, (g, x, column) in enumerate(zip(gs, call.xs, columns)):
            if g is None and call.strict:
                raise RuntimeError(f"Output {i} of the user-provided function is independent of input {k}. {_NOT_ALLOWED}.")
            if call.strict and call.connected and not g._tl_needs:  # torch says the output's number
                raise RuntimeError(f"The jacobian of the user-provided function is independent of input {i}. {_NOT_ALLOWED} when create_graph=True.")
            column.append(zeros_like(x) if g is None else g)
    joined = load_all()["torch.stack"]  # the public one: subclasses of Tensor are asked
    return tuple(joined(column, dim=0).view(out.shape + x.shape) for column, x in zip(columns, call.xs))


def _at_once(call):
    """The Jacobians of all outputs in one batched pass over unit vectors of their elements."""
    sizes = tuple(o.numel() for o in call.outs)
    units = _construct_standard_basis_for(call.outs, sizes)
    gs = _grad(tuple(o.reshape(-1) for o in call.outs), call.xs, units, create_graph=call.connected, is_grads_batched=True)
    n = sum(sizes)
    wholes = [zeros((n, *x.shape), dtype=x.dtype, device=x.device) if g is None else g for g, x in zip(gs, call.xs)]
    parts = [whole.split(sizes, dim=0) for whole in wholes]
    return tuple(tuple(part[i].view(o.shape + x.shape) for part, x in zip(parts, call.xs)) for i, o in enumerate(call.outs))


def _construct_standard_basis_for(tensors, tensor_numels):
    """The rows of an identity over the elements of all tensors, split by tensor, each in its tensor's dtype."""
    if len(tensors) != len(tensor_numels):
        raise AssertionError(f"Expected tensors and tensor_numels to have the same length, but got {len(tensors)} and {len(tensor_numels)}")
    if not tensors:
        raise AssertionError("Expected at least one tensor")
    total, start, out = sum(tensor_numels), 0, []
    for t, n in zip(tensors, tensor_numels):
        unit = zeros(total, n, dtype=t.dtype, device=t.device)
        unit.diagonal(-start).fill_(1)
        out.append(unit)
        start += n
    return tuple(out)


def _forward(func, inputs, create_graph, strict, vectorize):
    """The Jacobian column by column of the inputs, all columns at once."""
    for asked, word in ((create_graph, "create_graph"), (strict, "strict")):
        if asked:
            raise (NotImplementedError if word == "create_graph" else RuntimeError)(
                f'torch.autograd.functional.jacobian: `{word}=True` and `strategy="forward-mode"` are not supported together (yet). Please either set '
                f'`{word}=False` or `strategy="reverse-mode"`.')
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`.")
    from ._columns import columns

    several, xs = _tuple(inputs, "inputs", "jacobian")
    many = [False]

    def outputs(*args):
        many[0], outs = _tuple(func(*args), "outputs", None)  # torch's words
        return outs

    levels.refuse_forward(any(lv.kind == levels.DUAL for lv in levels.running()))
    rows = columns(outputs, xs)
    rows = [_form(row, several) for row in rows]
    return _form(rows if several else tuple(rows), many[0])  # lists, as torch gives them here


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one element: the Jacobian of its Jacobian."""
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    several, xs = _tuple(inputs, "inputs", "hessian")

    def scalar(*args):
        out = func(*args)
        many, outs = _tuple(out, "outputs of the user-provided function", "hessian")
        _require(outs, "outputs", strict)
        if many:
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if outs[0].nelement() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return out.squeeze()

    def first(*args):
        if outer_jacobian_strategy == "forward-mode":
            args = tuple(a if a._tl_needs else _needing(a.view_as(a)) for a in args)
        jac = jacobian(scalar, args, create_graph=True)
        _require(jac, "jacobian", strict)
        return jac

    rows = jacobian(first, xs, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy)
    return _form(type(rows)([_form(row, several) for row in rows]), several)
