"""What a gradient's own graph saves of what the gradient was computed from (layer 2), for the version check of second derivatives.

With `create_graph` torch records the formula of a gradient operator by operator, and each of them saves what its derivative reads: `g * x` saves `x`, while
`g * cos(x)` saves `cos(x)`, which nobody can write to, and `cos` saves `x` where gradient flows to it.  A pullback is one step here; its program is walked as
torch would have recorded it.
"""

from __future__ import annotations

from jax.extend.core import Literal

from .activity import CALLS
from .casts import is_number
from .gradient_nodes import WHOLE

_ALIASES = frozenset(["broadcast_in_dim", "copy", "expand_dims", "reshape", "reduce_precision", "squeeze", "transpose"])  # views, of which torch counts versions
_PRODUCTS = frozenset(["conv_general_dilated", "dot_general", "mul"])
_OWN = frozenset([  # functions whose derivative reads what they are applied to
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "cumprod", "digamma", "erf", "erf_inv", "erfc", "integer_pow", "lgamma", "log",
    "log1p", "reduce_max", "reduce_min", "reduce_prod", "sin", "sinh", "square"])
_BOTH = frozenset(["atan2", "max", "min", "pow"])


def saved_again(pull, wanted, inplace=False, run=None):
    """The inputs of a pullback that torch's nodes save where those in `wanted` require grad: of the nodes that run for the gradients of `run` alone."""
    node, places = getattr(pull.inner, "node", None), range(len(pull.avals))
    if node in WHOLE or str(pull.node).endswith("BackwardBackward0"):  # one operator there, which saves all that it reads
        found = set(places)
    else:
        found = set()
        _walk(pull.closed.jaxpr, [(i in wanted, run is None or i in run, i) for i in places], found)
    first = pull.inner.checks(pull.wanted)  # what else it reads is computed from these in torch
    return tuple([i for i in sorted(found) if pull.owners[i][0] != "x" or int(pull.owners[i][1:]) in first])


_NOTHING = (False, False, None)


def _walk(jaxpr, ins, found):
    """[(whether it requires grad, whether gradient is asked for behind it, the input that it shows or None)] of the results; adds to `found`."""
    known = dict(zip(jaxpr.invars, ins))

    def of(v):
        return _NOTHING if isinstance(v, Literal) else known.get(v, _NOTHING)

    for eqn in jaxpr.eqns:
        ins, name = [of(v) for v in eqn.invars], eqn.primitive.name
        inner = eqn.params.get("jaxpr") if name in CALLS else eqn.params.get("call_jaxpr") if name == "custom_jvp_call" else None
        if inner is not None:
            outs = _walk(inner.jaxpr, ins, found)
        else:
            needs, runs = any(n for n, _, _ in ins), any(n and r for n, r, _ in ins)
            outs = [(needs, runs, ins[0][2] if ins and name in _ALIASES else None)] * len(eqn.outvars)
            found.update(p for p in (_kept(name, [n for n, _, _ in ins], [p for _, _, p in ins]) if runs else ()) if p is not None)
        known.update(zip(eqn.outvars, outs))
    return [of(v) for v in jaxpr.outvars]


def _kept(name, needs, own):
    """What the node of one equation keeps: inputs of the whole, or None."""
    if name in _PRODUCTS:
        return [p for p, other in zip(own, reversed(needs)) if other]
    if name == "div":
        return [own[1], own[0] if needs[1] else None]
    if name in _OWN:
        return own[:1]
    return own if name in _BOTH else ()


_LINEAR = _ALIASES | {"add", "add_any", "complex", "concatenate", "conj", "convert_element_type", "cumsum", "imag", "neg", "pad", "real", "reduce_sum", "rev", "slice", "split", "sub", "unstack"}
_LINEAR_IN = {"div": (0,), "dot_general": (0, 1), "dynamic_slice": (0,), "dynamic_update_slice": (0, 1), "gather": (0,), "mul": (0, 1), "scatter-add": (0, 2), "select_n": (1, 2)}  # in one at a time, some of them
_SAVES_ITS_INPUT = ("Pool", "ReflectionPad", "ReplicationPad", "Trace")  # nodes that do, for its size
_SAVES_NUMBERS = ("MulBackward0", "DivBackward0")


def keeps_nothing(pull):
    """Whether the node of a gradient moves and sums alone what it is given: there is nothing to release, and any number of passes go through it."""
    out = pull._pullbacks.get("keeps nothing")
    if out is None:
        node = str(getattr(pull.inner, "node", ""))
        ins = [not is_number(a) or node in _SAVES_NUMBERS for a in pull.avals]
        out = not any(word in node for word in _SAVES_ITS_INPUT) and None not in _moved(pull.closed.jaxpr, ins)
        pull._pullbacks["keeps nothing"] = out
    return out


def _moved(jaxpr, ins):
    """Whether each of the results depends on the inputs that `ins` says; None among them where the program is not linear in these."""
    known = dict(zip(jaxpr.invars, ins))
    for eqn in jaxpr.eqns:
        of, name = [not isinstance(v, Literal) and known.get(v, False) for v in eqn.invars], eqn.primitive.name
        inner = eqn.params.get("jaxpr") if name in CALLS else None
        if inner is not None:
            outs = _moved(inner.jaxpr, of)
        else:
            at = _LINEAR_IN.get(name, ())
            fine = not any(of) or name in _LINEAR or (all(i in at for i, x in enumerate(of) if x) and (sum(of) == 1 or name not in ("dot_general", "mul")))
            outs = [any(of) if fine else None] * len(eqn.outvars)
        if None in outs:
            return [None]
        known.update(zip(eqn.outvars, outs))
    return [not isinstance(v, Literal) and known.get(v, False) for v in jaxpr.outvars]


__all__ = ["keeps_nothing", "saved_again"]
