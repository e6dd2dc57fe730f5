"""Modes that hear of operators below autograd (layer 6): `torch.utils._python_dispatch.TorchDispatchMode`.

Each call that is recorded goes to the innermost mode, which is told its operator (`torch.ops.aten.X.overload`) and arguments, and gives the results; the
node of the call stays.  Watched tapes (watch.py) find the calls, a hook in `dispatch.inplace` the writes.

    z = x * 2   recorded: mul, with its node  ->  mode.__torch_dispatch__(aten.mul.Tensor, (), (x, 2), {})  ->  its result under the history of mul

What differs: operators are those of the table, so that some which PyTorch takes apart first arrive whole (`linear`); arguments are tensors that show what the
caller's show, and are the caller's own where they are written; backward passes, factory functions, `detach` and what `out=` writes are not heard of.
"""

from __future__ import annotations

from .._ops.schema import REQUIRED
from .._ops.spec import Layout, Spec
from .._tensor import Tensor, wrap
from . import dispatch
from .overloads import COMPARED, overload, packet
from .record import Value, thread
from .selective import Listener
from .storage import as_detached, with_history


def stack():
    """The modes of this thread, outermost first."""
    return thread.state.extra.get("modes", ())


class Listening(Listener):
    """A mode while it is entered; `mode` None: none is heard inside."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        extra = thread.state.extra
        self.outer = stack()
        extra["modes"] = () if self.mode is None else (*self.outer, self.mode)
        if dispatch.LISTENING == []:
            dispatch.LISTENING.append(_written)
        return super().__enter__()

    def __exit__(self, *exc):
        super().__exit__(*exc)
        if self.outer:
            thread.state.extra["modes"] = self.outer
        else:
            del thread.state.extra["modes"]

    def made(self, spec, ins, outs):
        """The results that go on."""
        op = operator_of(spec) if isinstance(spec, Spec) and self.mode is not None else None
        if op is None:
            return outs
        flat = [wrap(v) if isinstance(v, Value) else v for v in ins]
        args, kwargs = _slice_of(spec, flat) if spec.op.name == "_slice" else arguments(spec, flat)
        return [_under(r, o, op) for r, o in zip(_results(_told(op, args, kwargs), len(outs), op), outs, strict=True)]

    def own(self, op, run, args, kwargs):
        """The results of an operator of a program's own, which the mode is told of as of any other."""
        return run() if self.mode is None else _told(op, args, kwargs)


_ALIKE = {"_slice": "slice.Tensor", "_mul_number": "mul.Tensor", "_add_number": "add.Tensor", "_true_div_number": "div.Tensor"}
_REAL = frozenset([
    "_prelu_kernel", "_softmax", "_log_softmax", "_safe_softmax", "_scaled_dot_product_flash_attention_for_cpu", "_embedding_bag", "_ctc_loss", "_conj",
    "_reshape_alias", "_unsafe_view", "_fw_primal", "_to_copy", "_standard_gamma_grad", "_dirichlet_grad", "_fft_c2c", "_fft_r2c", "_fft_c2r",
    "_linalg_det", "_linalg_slogdet", "_linalg_solve_ex", "_cdist_forward", "_pdist_forward", "_euclidean_dist", "_native_batch_norm_legit",
    "_weight_norm_interface", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d", "_unique2",
])


def operator_of(spec):
    """The object of an operator that PyTorch has by its name in the table, or by another; None for others, and for those without tensors."""
    name = spec.op.name
    if name in _ALIKE:
        base, _, over = _ALIKE[name].partition(".")
        return getattr(packet(base), over)
    if (name.startswith("_") and name not in _REAL) or not spec.op.tensor_params:
        return None
    found = _of_numbers(spec)
    return overload(spec.op.key) if found is None else getattr(packet(name), found)


def _of_numbers(spec):
    """The overload of an operator that is told apart by a number among its operands; None for others."""
    if spec.op.name not in COMPARED or "T" not in spec.pattern:
        return None
    return "Scalar" if spec.pattern[1] != "T" else "Scalar_Tensor" if spec.pattern[0] != "T" else None


def _slice_of(spec, flat):
    """Arguments of `aten.slice`, which says where it ends."""
    start, length, step = flat[1], spec.statics["length"], spec.statics["step"]
    end = start + (length - 1) * step + 1 if length else start
    return (flat[0], spec.statics["dim"], start, end, *([] if step == 1 else [step])), {}


def arguments(spec, flat):
    """(args, kwargs) as PyTorch hands them on: by position, without defaults at the end; by keyword what is so alone and no default."""
    op = spec.op
    given, more = Layout(op, spec.pattern).arguments(flat)
    named = {**dict(zip([p.name for p in op.params if p.kind.startswith("Tensor")], given)), **more, **spec.statics}
    args, kwargs = [], {}
    for p in op.params:
        x = named.get(p.name)
        if p.kind.endswith("[]") and isinstance(x, tuple):
            x = list(x)
        if p.kind == "bool" and isinstance(x, str):  # the name of the function that refuses
            x = True
        if p.kw_only:
            kwargs[p.name] = x
        else:
            args.append(x)
    own = [p for p in op.params if not p.kw_only]
    while args and _is_default(own[len(args) - 1], args[-1]):
        args.pop()
    return tuple(args), {p.name: kwargs[p.name] for p in op.params if p.kw_only and not _is_default(p, kwargs[p.name])}


def _is_default(p, x):
    default = list(p.default) if isinstance(p.default, tuple) else p.default
    if p.default is REQUIRED or isinstance(x, Tensor):
        return False
    return x is None or (type(x) is type(default) and x == default) or (p.name in ("alpha", "beta") and x == 1)


class Inside:
    """While the innermost mode answers: the ones outside of it listen, and nothing is recorded for differentiation."""

    def __init__(self, grad):
        self.grad = grad

    def __enter__(self):
        state = thread.state
        self.modes, self.listener, self.before = state.extra["modes"], state.extra.get("selective"), state.grad
        outer = self.modes[:-1]
        state.extra["modes"] = outer
        if outer:
            state.extra["selective"] = Listening(outer[-1])
        else:
            state.extra.pop("selective", None)
        if not self.grad and state.grad:
            state.grad = False
        return self.modes[-1]

    def __exit__(self, *exc):
        state = thread.state
        state.extra["modes"], state.grad = self.modes, self.before
        if self.listener is not None:
            state.extra["selective"] = self.listener


def _told(op, args, kwargs, grad=False):
    with Inside(grad) as mode:
        out = mode.__torch_dispatch__(op, (), args, kwargs)
    if out is NotImplemented:
        raise TypeError(f"Multiple dispatch failed for 'torch.ops.{op}'; all __torch_dispatch__ handlers returned NotImplemented:\n\n  - mode object {mode}\n\n"
                        "For more information, try re-running with TORCH_LOGS=not_implemented")
    return out


def _results(out, n, op):
    found = [out] if n == 1 and not isinstance(out, (tuple, list)) else list(out) if isinstance(out, (tuple, list)) else [out] * n
    for x in found:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Unable to cast {x} to Tensor")
    if len(found) != n:
        raise RuntimeError(f"{op}: __torch_dispatch__ gave {len(found)} results where there are {n}")
    return found


def _under(t, v, op):
    """The contents of a tensor under the history of a recorded result."""
    new = t._tl_value()
    if new.aval != v.aval and v.needs:
        raise NotImplementedError(f"{op}: a __torch_dispatch__ that gives {new.aval} where {v.aval} is differentiated")
    return with_history(new, v) if v.needs else as_detached(new)


def _written(spec, flat, target):
    """(True, the target) where a mode heard of a write."""
    if not stack():
        return False, None
    name = spec.op.name
    private = name.startswith("_") and name.endswith("_")
    found = packet(name[1:] if private else f"{name}_")
    if found is None:
        return False, None
    known = found.overloads()
    wanted = _of_numbers(spec) or spec.op.schema.overload or "default"
    op = getattr(found, wanted if wanted in known else known[0])
    args, kwargs = arguments(spec, flat)
    _told(op, args, kwargs, True)
    return True, target


__all__ = ["Inside", "Listening", "arguments", "operator_of", "stack"]
