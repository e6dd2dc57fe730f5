"""torch.library.opcheck (layer 8): what an operator says of itself, tried."""

from __future__ import annotations

from .._core import config
from .._core.overloads import OpOverload, OpOverloadPacket
from .._core.pytree import flatten, unflatten
from .._tensor import Tensor
from ..autograd import grad
from ..testing import assert_close
from .operators import of

CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """A check failed."""


def opcheck(op, args, kwargs=None, *, test_utils=(*CHECKS[:3], CHECKS[4]), raise_exception=True, atol=None, rtol=None):
    """{check: "SUCCESS" or the error} of an operator on arguments; OpCheckError unless `raise_exception` is False.

    What differs: there is no tracer; ``test_aot_dispatch_*`` compare the operator run at once with the operator as part of a record.
    """
    if isinstance(test_utils, str):
        test_utils = (test_utils,)
    if not set(test_utils) <= set(CHECKS):
        raise ValueError(f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of {CHECKS} but it was not")
    if not isinstance(op, (OpOverload, OpOverloadPacket)) and not hasattr(op, "_opoverload"):
        raise ValueError(f"opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got {type(op)}")
    found = of(op)
    if found is None:
        raise NotImplementedError(f"torch.library.opcheck: {op} is no operator of the program's own")
    out = {}
    for name in test_utils:
        try:
            if name in CHECKS[3:]:
                _test_recorded(found, args, kwargs or {}, atol, rtol)
            else:
                _TRIED[name](found, args, kwargs or {})
            out[name] = "SUCCESS"
        except Exception as e:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {e} (scroll up for stack trace)") from e
            out[name] = e
    return out


def _copied(x):
    leaves, tree = flatten(x)
    return unflatten([t.detach().clone().requires_grad_(t.requires_grad) if isinstance(t, Tensor) else t for t in leaves], tree)


def _test_schema(op, args, kwargs):
    args, kwargs = _copied(list(args)), _copied(kwargs)
    own, only = op.schema.bound(args, kwargs)
    tensors = {a.name: [t for t in flatten(x)[0] if isinstance(t, Tensor)] for a, x in zip(op.schema.arguments, (*own, *only.values()))}
    before = {name: [t.detach().clone() for t in ts] for name, ts in tensors.items()}
    out = op.call(own, only)
    for a in op.schema.arguments:
        changed = any(not t.detach().equal(b) and not bool((t.isnan() & b.isnan()).any()) for t, b in zip(tensors[a.name], before[a.name]))
        if changed and not a.is_write:
            raise RuntimeError(f"Argument {a.name} is not defined as mutable but was mutated")
        shared = any(isinstance(o, Tensor) and o._tl_cell is not None and o._tl_cell is t._tl_cell for o in flatten(out)[0] for t in tensors[a.name])
        if shared and a.alias_info is None:
            raise RuntimeError(f"Argument {a.name} is not defined to alias output but was aliasing")


def _test_autograd_registration(op, args, kwargs):
    tensors = [t for t in flatten((list(args), kwargs))[0] if isinstance(t, Tensor)]
    if not any(t.requires_grad for t in tensors) or op.checked is not None or op.backward is not None:
        return
    if not any(k in op.kernels for k in ("Autograd", "AutogradCPU", "AutogradCUDA", "CompositeImplicitAutograd")):
        out = op.call(*op.schema.bound(args, kwargs))
        if any(isinstance(t, Tensor) and t.requires_grad for t in flatten(out)[0]):
            raise OpCheckError(
                f"{op.schema.name}: at least one output of this operator has requires_grad=True but the operator does not have an autograd kernel defined at "
                "an autograd key (e.g. DispatchKey::Autograd). This could mean that you have incorrectly registered an autograd kernel to a non-Autograd "
                "DispatchKey, which may lead to silently incorrect results. If your operator consists of regular PyTorch operations, consider not using an "
                "operator at all or registering your operator as CompositeImplicitAutograd. If you have an autograd.Function registered to a backend "
                "(CPU/CUDA/XPU) key, the correct location for it is the Autograd key.")


def _test_faketensor(op, args, kwargs):
    own, only = op.schema.bound(_copied(list(args)), _copied(kwargs))
    leaves, tree = flatten((own, only))
    nowhere = unflatten([t.detach().to("meta") if isinstance(t, Tensor) else t for t in leaves], tree)
    real, fake = flatten(op.call(own, only))[0], flatten(op.call(*nowhere))[0]
    for r, f in zip(real, fake, strict=True):
        if isinstance(r, Tensor) and (r.shape != f.shape or r.dtype is not f.dtype):
            raise AssertionError(f"Real tensor propagation found an output size mismatch between fake shape {tuple(f.shape)} of {f.dtype} and real shape "
                                 f"{tuple(r.shape)} of {r.dtype} at output of {op.schema.name}")


def _test_recorded(op, args, kwargs, atol, rtol):
    """Outputs and gradients of the operator run at once, and recorded between other operators."""
    before = config.set("execution", "immediate")
    try:
        at_once = _run(op, args, kwargs)
    finally:
        config.set("execution", before)
    recorded = _run(op, args, kwargs)
    for what, a, b in zip(("Outputs", "Gradients"), at_once, recorded):
        try:
            assert_close(b, a, atol=atol, rtol=rtol, equal_nan=True)
        except AssertionError as e:
            raise AssertionError(
                f"{what} of the operator are different in eager-mode PyTorch vs AOTDispatcher tracing. This means the operator will have incorrect "
                f"{'output' if what == 'Outputs' else 'gradients'} underneath torch.compile. This could be because the operator's "
                f"{'implementation' if what == 'Outputs' else 'backward is incorrectly registered or'} not traceable.") from e


def _run(op, args, kwargs):
    """(outputs, gradients) of a call between two other operators."""
    args, kwargs = _copied(list(args)), _copied(kwargs)
    leaves, tree = flatten((args, kwargs))
    inner = [t * 1 if isinstance(t, Tensor) and t.requires_grad else t for t in leaves]
    outs = [t for t in flatten(op.call(*op.schema.bound(*unflatten(inner, tree))))[0] if isinstance(t, Tensor)]
    roots, wanted = [t for t in outs if t.requires_grad], [t for t in leaves if isinstance(t, Tensor) and t.requires_grad]
    gradients = grad([(t * 1).sum().abs() for t in roots], wanted, allow_unused=True) if roots and wanted else ()
    return [t.detach() for t in outs], [g for g in gradients if g is not None]


_TRIED = {"test_schema": _test_schema, "test_autograd_registration": _test_autograd_registration, "test_faketensor": _test_faketensor}
