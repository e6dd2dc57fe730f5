"""torch.autograd.gradcheck (layer 7): derivatives compared with differences.

`gradcheck` makes a `_Check` of its options and runs it: the Jacobians of `_jacobians.py` compared output by output and input by input (`_slow`), or their
products with random vectors (`_fast`); functions with complex outputs as two real ones, in forward mode those of complex inputs as functions of their real and
imaginary parts; then the behaviour of backward with zero, absent and batched gradients.
"""

from __future__ import annotations

from .._core import crossing
from .._core.composite import named
from .._core.dtypes import float64
from .._core.execute import steady
from .._core.saying import warn
from .._functions.create import zeros_like
from .._functions.pointwise import allclose
from .._functions.random import Generator, rand, randn_like
from .._tensor import Tensor
from . import _jacobians as jac
from ._jacobians import GradcheckError, as_tuple, checked
from ._run import grad
from ._specified import contents, dense, everywhere, rows, sparse
from .function import Function

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "get_numerical_jacobian_wrt_specific_input", "gradcheck", "gradgradcheck"]

stack, compose = named("stack"), named("complex")


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
              check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):
    """Whether gradients of `func` agree with differences: True, or a GradcheckError (False without `raise_exception`)."""
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    options = {k: v for k, v in locals().items() if k not in ("func", "inputs", "raise_exception")}
    try:
        with steady():
            return _Check(func, as_tuple(inputs), options).run()
    except GradcheckError:
        if raise_exception:
            raise
        return False


def _differentiable(outputs):
    return tuple(o for o in as_tuple(outputs) if o.requires_grad)


class _Check:
    """One call of gradcheck: its function, inputs and options (attributes of the same names)."""

    def __init__(self, func, inputs, options):
        self.func, self.inputs = func, inputs
        self.__dict__.update(options)

    def run(self):
        """True, or the first error."""
        _check_inputs(self.inputs)
        whole = self.func(*self.inputs)
        _check_outputs(whole)
        outputs = _differentiable(whole)
        self._real_and_imaginary(whole, outputs)
        if self.check_batched_forward_grad:
            self._batched_forward()
        if not self.check_backward_ad:
            return True
        for i, o in enumerate(outputs):
            if self.check_batched_grad:
                self._batched(o, i)
        self._zero_gradients(outputs)
        if self.check_undefined_grad:
            self._undefined_gradients()
        return True

    # Complex functions as real ones

    def _real_and_imaginary(self, whole, outputs):
        compare = self._fast if self.fast_mode else self._slow
        several = as_tuple(whole)
        places = [i for i, o in enumerate(several) if isinstance(o, Tensor) and o.is_complex()]
        if self.check_backward_ad:
            if places:
                for part in ("imaginary", "real"):
                    f = _part_of_outputs(self.func, part)
                    out = f(*self.inputs)
                    compare(f, self.inputs, out, _differentiable(out), f"While considering the {part} part of complex outputs only, ", places)
            else:
                compare(self.func, self.inputs, whole, outputs, "", ())
        if self.check_forward_ad:
            self._forward(compare, whole, outputs)

    def _forward(self, compare, whole, outputs):
        places = [i for i, x in enumerate(self.inputs) if isinstance(x, Tensor) and x.is_complex()]
        if not places:
            compare(self.func, self.inputs, whole, outputs, "", (), True)
            if self.check_undefined_grad:
                self._undefined_tangents(self.func, self.inputs)
            return
        for part in ("imaginary", "real"):
            f = _part_of_inputs(self.func, places, self.inputs, part)
            inputs = tuple((x.real if part == "real" else x.imag).detach().requires_grad_() if i in places and x.requires_grad else x
                           for i, x in enumerate(self.inputs))
            out = f(*inputs)
            compare(f, inputs, out, _differentiable(out), f"While considering the {part} part of complex inputs only, ", places, True)
            if self.check_undefined_grad:
                self._undefined_tangents(f, inputs)

    # Whole Jacobians

    def _slow(self, func, inputs, whole, outputs, prefix, places, forward=False):
        several = as_tuple(whole)
        mine = checked(inputs)
        moved = inputs if self.masked else tuple(map(everywhere, inputs))
        numerical = [jac.numerical_columns(func, moved, i, self.eps) for i, _ in mine]
        where = [i for i, o in enumerate(several) if o.requires_grad]
        if not outputs:
            _expect_zero(numerical, 0)
            return
        by_input = [jac.forward_columns(func, inputs, i) for i, _ in mine] if forward else None
        for o, place in enumerate(where):
            found = [m[place] for m in by_input] if forward else jac.analytical_or_raise(
                [x for _, x in mine], several[place], self.nondet_tol, self.check_grad_dtypes)
            for k, (i, _) in enumerate(mine):
                a, n = found[k], numerical[k][place]
                if forward:
                    self._check_type(a, several[place])
                if not _close(a, n, self.rtol, self.atol):
                    raise GradcheckError(_mismatch(prefix if (i if forward else place) in places else "", forward, o, k, n, a))

    def _check_type(self, a, output):
        if self.check_grad_dtypes and a.dtype != output.dtype:
            raise GradcheckError("Forward AD gradient has dtype mismatch.")

    # Products with random vectors

    def _fast(self, func, inputs, whole, outputs, prefix, places, forward=False):
        several = as_tuple(whole)
        mine = checked(inputs)
        us, vs = _vectors([x for _, x in mine], outputs, forward)
        along = [jac.numerical_along(func, inputs, i, u, self.eps) for (i, _), u in zip(mine, us)]
        where = [i for i, o in enumerate(several) if o.requires_grad]
        if not outputs:
            _expect_zero(along, self.nondet_tol)
            return
        tangents = [jac.forward_tangents(func, inputs, i, u) for (i, _), u in zip(mine, us)] if forward else None
        backs = None if forward else [jac.analytical_or_raise([x for _, x in mine], several[place], self.nondet_tol, self.check_grad_dtypes, v)
                                      for place, v in zip(where, vs)]
        for k, (i, _) in enumerate(mine):
            for o, place in enumerate(where):
                v = None if forward else vs[o]
                n = along[k][place] if forward else _dot(along[k][place], v.reshape(-1))
                a = tangents[k][place] if forward else _product(_specified_part(backs[o][k].reshape(-1), inputs[i]), us[k])
                if forward:
                    self._check_type(a, several[place])
                if not _close(a, n, self.rtol, _adjusted(self.atol, us[k], v)):
                    text = _mismatch(prefix if (i if forward else place) in places else "", forward, o, k, _scalar(n), _scalar(a))
                    raise GradcheckError(text + self._slowly(func, inputs, several, place, i, k, forward))

    def _slowly(self, func, inputs, several, place, i, k, forward):
        """What the slow mode says of a pair that the fast one refuses."""
        n = jac.numerical_columns(func, inputs, i, self.eps)[place]
        a = jac.forward_columns(func, inputs, i)[place] if forward else jac.analytical([inputs[i]], several[place], 0.0)[0][0]
        return (
            "\nThe above quantities relating the numerical and analytical jacobians are computed \nin fast mode. See: "
            "https://github.com/pytorch/pytorch/issues/53876 for more background \nabout fast mode. Below, we recompute numerical and analytical jacobians in "
            f"slow mode:\n\nNumerical:\n {n}\nAnalytical:\n{a}\n\nThe max per-element difference (slow mode) is: {(n - a).abs().max()}.\n"
            + (_FAST_ONLY if _close(a, n, self.rtol, self.atol) else ""))

    # Other gradients

    def _zero_gradients(self, outputs):
        xs = [x for _, x in checked(self.inputs)]
        if not xs:
            raise GradcheckError("no Tensors requiring grad found in input")
        if not outputs:
            return
        gs = grad(outputs, xs, [zeros_like(o) for o in outputs], allow_unused=True, retain_graph=True)
        for g, x in zip(gs, xs):
            if g is None:
                continue
            if sparse(g):
                if g.layout != x.layout:
                    raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {x.layout})")
                _check_dims(g, x)
            if not bool((dense(g) == 0).all()):
                raise GradcheckError("backward not multiplied by grad_output")
            if g.dtype != x.dtype:
                raise GradcheckError("grad is incorrect type")
            if g.device != x.device:
                raise GradcheckError("grad is incorrect device")
            if g.shape != x.shape:
                raise GradcheckError("grad is incorrect size")

    def _undefined_gradients(self):
        xs = [x for _, x in checked(self.inputs)]
        if not xs:
            raise GradcheckError("no Tensors requiring grad found in input")
        outputs = _differentiable(self.func(*self.inputs))
        if outputs:
            _undefined([_Undefined.apply(o) for o in outputs], xs)
        for k in range(len(outputs) if len(outputs) > 1 else 0):
            _undefined([_Undefined.apply(o) if i == k else o for i, o in enumerate(_differentiable(self.func(*self.inputs)))], xs)

    def _undefined_tangents(self, func, inputs):
        """An absent tangent is as good as one of zeros, where another input has one."""
        mine = checked(inputs)
        us, _ = _vectors([x for _, x in mine], (), True)
        if len(mine) == 1:
            for given in ({mine[0][0]: us[0]}, {}):  # nothing to compare; torch runs the function as often
                _tangents(func, inputs, given, ())
            return
        for missing, _ in mine:
            a, b = (_tangents(func, inputs, {i: u for (i, _), u in zip(mine, us) if i != missing}, zero) for zero in ((), (missing,)))
            for k, (got, expected) in enumerate(zip(a, b)):
                if got is None or expected is None:
                    continue
                if not bool(allclose(got, expected)):
                    raise GradcheckError(f"Mismatch in tangent values for output with index: {k} when input: {missing} has an undefined tangent value.  Got: "
                                         f"{got} but expected: {expected}")

    def _batched(self, output, o):
        from .._vmap_internals import vmap

        mine = checked(self.inputs)
        xs = [x for _, x in mine]
        gs = [randn_like(output).detach() for _ in range(2)]

        def back(g):
            found = grad(output, xs, g, retain_graph=True, allow_unused=True)
            return tuple(zeros_like(x) if f is None else f for f, x in zip(found, xs))

        alone = [back(g) for g in gs]
        if any(map(sparse, alone[0])):  # of which torch can make no batch
            raise GradcheckError("While computing batched gradients, got: Could not run 'aten::view' with arguments from the 'SparseCPU' backend.\n\n"
                                 f"{_BATCHED}")
        expected = [stack(list(each)) for each in zip(*alone)]
        try:
            with crossing.beyond([output]):
                got = vmap(back)(stack(gs))
        except RuntimeError as ex:
            raise GradcheckError(f"While computing batched gradients, got: {ex}\n\n{_BATCHED}") from ex
        for k, (r, e) in enumerate(zip(got, expected)):
            if not bool(allclose(r, e)):
                raise GradcheckError(_batched_message(o, k, r, e, False))

    def _batched_forward(self):
        from .._vmap_internals import vmap

        for i, x in checked(self.inputs):
            ts = [randn_like(x).detach() for _ in range(2)]

            def push(t, i=i):
                return tuple(t for t in jac.forward_tangents(self.func, self.inputs, i, t) if t is not None)

            expected = [stack(list(each)) for each in zip(*[push(t) for t in ts])]
            try:
                got = vmap(push)(stack(ts))
            except RuntimeError as ex:
                raise GradcheckError(f"While computing batched gradients, got: {ex}\n\n{_BATCHED_FORWARD}") from ex
            for o, (r, e) in enumerate(zip(got, expected)):
                if not bool(allclose(r, e)):
                    raise GradcheckError(_batched_message(o, i, r, e, True))


class _Undefined(Function):
    """Identity that sends no gradient on."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return None


def _undefined(outputs, xs):
    try:
        gs = grad(outputs, xs, [zeros_like(o) for o in outputs], allow_unused=True)
    except RuntimeError as ex:
        _warn_undefined()
        raise GradcheckError("Expected backward function to handle undefined output grads. Please look at \"Notes about undefined output gradients\" in "
                             "\"tools/autograd/derivatives.yaml\"") from ex
    for g in gs:
        if g is not None and not bool((dense(g) == 0).all()):
            _warn_undefined()
            raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please look at \"Notes about "
                                 "undefined output gradients\" in \"tools/autograd/derivatives.yaml\"")


def _warn_undefined():
    warn("Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing callers of this function. "
         "If this is true for you, you can call this function with \"check_undefined_grad=False\" to disable the feature")


def _tangents(func, inputs, tangents, zeroed):
    from . import forward_ad

    with forward_ad.dual_level():
        args = []
        for i, x in enumerate(inputs):
            t = tangents.get(i)
            if t is None and i in zeroed:
                t = zeros_like(x)
            x = x.detach() if isinstance(x, Tensor) else x
            args.append(x if t is None else forward_ad.make_dual(x, t.reshape(x.shape)))
        return [forward_ad.unpack_dual(o).tangent if isinstance(o, Tensor) else None for o in as_tuple(func(*args))]


def _check_inputs(inputs):
    any_needs = False
    for i, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        if x.dtype.name not in ("float64", "complex128"):
            warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not "
                 "of double precision floating point or complex. ")
        if not sparse(x) and any(st == 0 and n > 1 for st, n in zip(x.stride(), x.shape)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to compute "
                               "the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck.")
        any_needs = True
        x.retain_grad()
    if not any_needs:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")


def _check_outputs(whole):
    if any(sparse(o) for o in as_tuple(whole)):
        raise ValueError("Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output of fn for gradcheck.")


def _specified_part(column, x):
    """Of a gradient what belongs to the values of a sparse tensor."""
    return column[rows(x).tolist()] if sparse(x) else column


def _check_dims(g, x):
    for name in ("sparse_dim", "dense_dim"):
        got, expected = getattr(g, name)(), getattr(x, name)()
        if got != expected:
            raise GradcheckError(f"grad is sparse tensor, but has incorrect {name} {got}, expected {expected}")


def _expect_zero(jacobians, tolerance):
    for per_output in jacobians:
        for m in per_output:
            if m.numel() and bool((m.abs() > tolerance).any()):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _part_of_outputs(func, part):
    def f(*inputs):
        outs = as_tuple(func(*inputs))
        return tuple((o.real if part == "real" else o.imag) if isinstance(o, Tensor) and o.is_complex() else o for o in outs)

    return f


def _part_of_inputs(func, places, originals, part):
    def f(*inputs):
        args = list(inputs)
        for i in places:
            x = originals[i].detach()
            if originals[i].requires_grad:
                args[i] = compose(inputs[i], x.imag) if part == "real" else compose(x.real, inputs[i])
        return func(*args)

    return f


def _close(a, b, rtol, atol):
    from .. import promote_types

    d = promote_types(a.dtype, b.dtype)
    return bool(allclose(a.to(d), b.to(d), rtol, atol))


def _mismatch(prefix, forward, o, i, n, a):
    how = "computed with forward mode " if forward else ""
    return f"{prefix}Jacobian {how}mismatch for output {o:d} with respect to input {i:d},\nnumerical:{n}\nanalytical:{a}\n"


def _scalar(x):
    return x.item() if isinstance(x, Tensor) and x.ndim == 0 else x


def _vectors(xs, outputs, forward):
    """Random unit vectors for inputs (pairs for complex ones) and outputs, the same in every call."""
    generator = Generator()

    def unit(x, real):
        d = x.real.dtype if x.is_complex() and real else x.dtype
        vec = rand(contents(x).numel(), generator=generator).to(d)
        return vec / vec.norm()

    us = [(unit(x, True), unit(x, True)) if x.is_complex() else unit(x, True) for x in xs]
    return us, None if forward else [unit(o, False) for o in outputs]


def _dot(a, b):
    from .. import promote_types

    d = promote_types(a.dtype, b.dtype)
    return a.to(d).dot(b.to(d))


def _product(g, u):
    """A gradient times a direction; for a complex input that of the real parts and that of the imaginary ones in one number."""
    if isinstance(u, tuple):
        return _dot(g.real, u[0]) + 1j * _dot(g.imag, u[1])
    return _dot(g, u)


def _adjusted(atol, u, v):
    total = 1.0 if v is None else v.sum()
    u = sum(p.sum() for p in u) if isinstance(u, tuple) else u.sum()
    return atol * float(u) * float(total)


def _batched_message(o, i, got, expected, forward):
    return f"\nFor output {o} and input {i}:\n\n{_BATCHED_FORWARD if forward else _BATCHED}\n\nGot:\n{got}\n\nExpected:\n{expected}\n".strip()


# Second derivatives

def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0,
                  check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True,
                  fast_mode=False, masked=False):
    """`gradcheck` of the gradients of `func` as a function of its inputs and of the gradients of its outputs (random ones unless given)."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    inputs = as_tuple(inputs)
    given = as_tuple(grad_outputs) if grad_outputs is not None else tuple(
        _random_gradient(o, gen_non_contig_grad_outputs) for o in _differentiable(func(*inputs)))
    n = len(given)

    def gradients(*args):
        own = tuple(x.requires_grad_() if isinstance(x, Tensor) and x.is_leaf and (x.is_floating_point() or x.is_complex()) and not x.requires_grad and _was(x0)
                    else x for x, x0 in zip(args[:-n], inputs))
        outputs = _differentiable(func(*own))
        xs = tuple(x for x in own if isinstance(x, Tensor) and x.requires_grad)
        return tuple(g for g in grad(outputs, xs, args[-n:], create_graph=True, allow_unused=True) if g is not None)

    return gradcheck(gradients, inputs + given, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, masked=masked)


def _was(x):
    return isinstance(x, Tensor) and x.requires_grad


def _random_gradient(o, scattered):
    """Numbers between -1 and 1, drawn as torch 2.13 draws them: what a program draws next depends on it."""
    from ..testing import make_tensor  # cycle: testing is built on gradients

    d = o.dtype if o.is_floating_point() or o.is_complex() else float64
    return make_tensor(o.shape, dtype=d, device=o.device, low=-1, high=1, requires_grad=True, noncontiguous=scattered)


# Deprecated helpers

def _deprecated(name):
    warn(f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be removed in a future version of "
         "PyTorch. If you have a specific use for this or feature request for this to be a stable API, please file us an issue at "
         "https://github.com/pytorch/pytorch/issues/new", FutureWarning)


def get_numerical_jacobian(fn, inputs, target=None, eps=1e-3, grad_out=1.0):
    """Deprecated: the Jacobians of fn(inputs) with respect to each input that requires grad."""
    _deprecated("get_numerical_jacobian")
    _expect_one("get_numerical_jacobian", grad_out)
    inputs = as_tuple(inputs)  # torch 2.13: the function gets a tuple, of a single tensor too

    def one(*args):
        out = as_tuple(fn(inputs))
        if any(o.is_complex() for o in out):
            raise ValueError("Expected output to be non-complex. get_numerical_jacobian no longer supports functions that return complex outputs.")
        return out

    mine = tuple(inputs)
    targets = [i for i, _ in checked(mine if target is None else as_tuple(target))]
    source = mine if target is None else as_tuple(target)
    return tuple(jac.numerical_columns(one, source, i, eps)[0] for i in targets)


def _expect_one(name, grad_out):
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0):
    """Deprecated: (Jacobians of an output, whether a second pass agrees, sizes are right, dtypes are right)."""
    _deprecated("get_analytical_jacobian")
    _expect_one("get_analytical_jacobian", grad_out)
    if output.is_complex():
        raise ValueError("Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return complex outputs.")
    found, same, sizes, types = jac.analytical([x for _, x in checked(as_tuple(inputs))], output, nondet_tol)
    return tuple(found), same, sizes, types


def get_numerical_jacobian_wrt_specific_input(fn, input_idx, inputs, outputs, eps, input=None, is_forward_ad=False):
    """The Jacobians of all outputs with respect to one input."""
    args = list(inputs)
    if input is not None:
        args[input_idx] = input
    if not args[input_idx].requires_grad:
        raise AssertionError("Expected input to have requires_grad=True")
    return tuple(jac.numerical_columns(fn, tuple(args), input_idx, eps, is_forward_ad))


_ADVICE = """If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
"""
_BATCHED = f"""gradcheck or gradgradcheck failed while testing batched gradient computation.
This could have been invoked in a number of ways (via a test that calls
gradcheck/gradgradcheck directly or via an autogenerated test).

{_ADVICE}  with `check_batched_grad=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `check_batched_grad=False` and/or `check_batched_gradgrad=False`.

If you're modifying an existing operator that supports batched grad computation,
or wish to make a new operator work with batched grad computation, please read
the following.

To compute batched grads (e.g., jacobians, hessians), we vmap over the backward
computation. The most common failure case is if there is a 'vmap-incompatible
operation' in the backward pass. Please see
NOTE: [How to write vmap-compatible backward formulas]
in the codebase for an explanation of how to fix this."""
_BATCHED_FORWARD = f"""
gradcheck failed while testing batched gradient computation with forward-mode AD.
This test is enabled automatically when both `check_batched_grad=True`
and `check_forward_ad=True`, but can be disabled in the following ways
dependong on how the test was invoked (via a test that calls gradcheck
directly or via an autogenerated test).

{_ADVICE}  with `check_batched_forward_grad=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `check_batched_forward_grad=False`
"""
_FAST_ONLY = """Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:

If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `fast_mode=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_fast_mode=False`
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_fast_mode=False`"""
