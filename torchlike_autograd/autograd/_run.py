"""`backward` and `grad`: arguments checked as torch checks them, then one engine pass (layer 7)."""

from __future__ import annotations

from collections.abc import Mapping
from logging import DEBUG

from .._core import devices, engine, levels, lifetimes, overriding, sparse_gradients, walls
from .._core.behind import top, type_at
from .._core.dispatch import cast_spec
from .._core.dtypes import FLOAT
from .._core.hooks import shown
from .._core.nodes import AccumulateGrad, Nowhere, place_and_step, place_of
from .._core.numeric import say_once
from .._core.overriding import SPREAD
from .._core.record import LOCK, record_op, thread, threads
from .._core.saying import warn
from .._core.simple import run_simple, run_simple_grad, simple_grad
from .._core.size import Size
from .._core.storage import history
from .._ops.no_gradient import real_gradient_wanted
from .._ops.registry import OPS
from .._ops.spec import LeveledAval, aval, spec_of
from .._tensor import Tensor, wrap
from ._logged import log, logged
from ._reduced import reduced_to
from ._sharing import followed, may_share
from .graph import GradientEdge


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Sum the gradients of `tensors` into the `.grad` of the leaves (or of `inputs`)."""
    if isinstance(tensors, Tensor) and grad_tensors is None and inputs is None and not retain_graph and not create_graph and grad_variables is None:
        v = tensors._tl_v if tensors._tl_cell is None else tensors._tl_value()
        if v.needs and not v.aval.ndim and v.tape is not None and v.leaf is None and not levels.running() and not log.isEnabledFor(DEBUG):
            state = thread.state
            plain = state.anomaly is None and not state.inference and v.tape not in levels.NOTED["left"] and not walls.on(v.tape, None)
            if plain and (run_simple(v) if threads[0] == 1 else _one_at_a_time(v)):
                return
            _watch(tensors, v)
            if tensors._tl_cell is None and v.aval.dtype.category == FLOAT:
                engine.run_backward([_started(tensors, _ones((), v.aval.dtype)._tl_v, 0)], False, False)
                return
    if levels.transforming(older=True):
        if not levels.transforming():
            raise RuntimeError("backward() called inside torch.vmap. This is not supported, please call backward() outside torch.vmap or instead use "
                               "torch.autograd.grad inside torch.vmap")
        raise RuntimeError("backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp instead or call "
                           "backward() outside of functorch transforms.")
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    targets = None if inputs is None else _inputs(inputs, "backward")
    roots = _tuple(tensors)
    given = _grads_tuple(grad_tensors, len(roots))
    grads = _make_grads(roots, given, False)
    if retain_graph is None:
        retain_graph = create_graph
    pairs = _roots(roots, grads)
    where = None if targets is None else _retaining(targets)
    h, arriving, begun = None if create_graph else _alone(pairs, given), None, pairs
    if h is not None:
        place, g = followed(pairs[0][0], h, where, False)
        pairs, arriving = [(place, g._tl_value())], None if g is h else g
    try:
        _pass(pairs, retain_graph, create_graph, where, True, arriving, None, begun)
    finally:  # torch says it when the call is over, so that where warnings are errors the gradients are there
        if create_graph:
            _warn_cycle()


def _one_at_a_time(v):
    """`run_simple` where there are other threads, whose gradients arrive in the same leaves; nobody's hooks are called in it."""
    with LOCK:
        return run_simple(v)


def _retaining(targets):
    """The places of the tensors in `inputs`, whose `.grad` backward fills."""
    where = set()
    for t in targets:
        _check_target(t)
        if isinstance(t, Tensor):
            t.retain_grad()
        where.add(_place(t))
    return where


def _alone(pairs, given):
    """The cotangent that a pass starts from, where the user gave just this one and it is taken as it is; else None."""
    if len(pairs) != 1 or len(given) != 1 or given[0] is None or levels.running():
        return None
    return given[0] if given[0]._tl_value() is pairs[0][1] else None


def _pass(pairs, *args):
    """`engine.run_backward`, logged where somebody wants to read it."""
    if not log.isEnabledFor(DEBUG):
        return engine.run_backward(pairs, *args)
    with logged([place for place, _ in pairs]):
        return engine.run_backward(pairs, *args)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):
    """The sum of gradients of `outputs` with respect to `inputs`, as a tuple (a dict for a dict of inputs)."""
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if allow_unused is None:
        allow_unused = materialize_grads
    roots = _tuple(outputs)
    targets = _inputs(inputs, "grad")
    if not only_inputs:
        warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, please use "
            "torch.autograd.backward.", FutureWarning)
    given = _grads_tuple(grad_outputs, len(roots))
    if retain_graph is None:
        retain_graph = create_graph
    out = None if is_grads_batched else _remembered(roots, targets, given, retain_graph, create_graph)
    if out is None:
        grads = _make_grads(roots, given, is_grads_batched)
        out = (_batched if is_grads_batched else _grad)(roots, targets, grads, retain_graph, create_graph, allow_unused, materialize_grads)
    return dict(zip(inputs, out)) if type(inputs) is dict else out


def _check_target(t):
    if not isinstance(t, (Tensor, GradientEdge)):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")


def _grad(roots, targets, grads, retain_graph, create_graph, allow_unused, materialize, mark=None):
    pairs = _roots(roots, grads)
    places = []
    for t in targets:
        _check_target(t)
        if isinstance(t, Tensor) and not t._tl_needs:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        places.append(_place(t))
    h, begun = _alone(pairs, grads), pairs
    if h is not None:
        place, h = followed(pairs[0][0], h, set(places), create_graph)
        grads, pairs = [h], [(place, h._tl_value())]
    captured = _pass(pairs, retain_graph, create_graph, set(places), False, None, mark, begun)
    out, known = [], {id(v): g for (_, v), g in zip(pairs, [g for g in grads if g is not None]) if g._tl_v is v}  # one Value is one Tensor, as in torch
    for i, (t, place) in enumerate(zip(targets, places)):
        g = captured.get(place)
        if g is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")
        out.append(_result(t, g, materialize, create_graph, known))
    return tuple(out)


def _remembered(roots, targets, given, retain_graph, create_graph):
    """The gradients of one root in the common case, `simple.simple_grad`; None in any other."""
    if len(roots) != 1 or len(given) != 1 or log.isEnabledFor(DEBUG):
        return None
    (root,), (g,) = roots, given
    if not all(isinstance(t, Tensor) and not sparse_gradients.is_sparse(t) for t in (root, *targets)):
        return None
    v = history(root)
    if not v.needs or (g is None and (v.aval.ndim or v.aval.dtype.category != FLOAT)):
        return None
    known = simple_grad(v, [history(t) for t in targets])
    if known is None:
        return None
    if g is None:
        seed = _ones((), v.aval.dtype)._tl_v
    elif not isinstance(g, Tensor) or sparse_gradients.is_sparse(g) or (seed := g._tl_value()).aval is not v.aval or may_share(known.step):
        return None
    if not v.tape.open:  # it was full
        return None
    shared = {} if g is None else {id(seed): g}
    return tuple([_result(t, h, False, create_graph, shared) for t, h in zip(targets, run_simple_grad(v.tape, known, seed, retain_graph, create_graph))])


def _result(t, g, materialize, create_graph, known=None):
    if g is not None:
        made = known.get(id(g))
        if made is None:
            made = known[id(g)] = shown(g)
        return made
    if not materialize:
        return None
    if not isinstance(t, Tensor):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    from .. import zeros_like

    return zeros_like(t, requires_grad=create_graph)


def pull(outs, xs, gs, create, mark, retain):
    """Gradients of `xs` (or None each) in a pass of the transformation with this mark, see walls.py."""
    roots = _tuple(outs)
    return _grad(roots, xs, _make_grads(roots, gs, False), retain, create, True, False, mark)


def _batched(roots, targets, grads, retain_graph, create_graph, allow_unused, materialize):
    """One pass mapped over the first dim of the gradients."""
    from ._vmap import enter, leave

    for g in grads:
        if g is not None and not g.ndim:
            raise ValueError("vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0 so expected "
                             "in_dim to satisfy 0 <= in_dim < 0.")
    for i, root in enumerate(roots):
        _check_root(root, i)
    sizes = [g.shape[0] for g in grads if g is not None]
    n = sizes[0]
    if any(size != n for size in sizes):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    places = [place for place in map(_place, roots) if type(place) is tuple and place[0] is not None]
    with levels.enter(levels.MAP, n, levels.OLD, above=top(places)) as level:
        found = _grad(roots, targets, [None if g is None else enter(level, g) for g in grads], retain_graph, create_graph, allow_unused, False)
        left = {id(g): leave(level, g) for g in found if g is not None}  # one for an input that is asked for twice
    return tuple(_result(t, None, materialize, create_graph) if g is None else left[id(g)] for t, g in zip(targets, found))


# Arguments

def _told(args):
    """The arguments of `grad` as those that override it are told of them."""
    return (*(tuple(x) if isinstance(x, (list, tuple, Mapping)) else (x,) for x in args[:2]), *args[2:])


SPREAD["torch.autograd.grad"] = _told


def _tuple(tensors):
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def _inputs(inputs, name):
    if isinstance(inputs, (Tensor, GradientEdge)):
        return (inputs,)
    if type(inputs) is dict:
        inputs = inputs.values()
    elif isinstance(inputs, Mapping):
        raise TypeError(f"`inputs` argument to `{name}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not supported.")
    inputs = tuple(inputs)
    if not inputs:
        raise RuntimeError(f"`inputs` argument to `{name}()` cannot be empty.")
    return inputs


def _grads_tuple(grads, n):
    if grads is None:
        return (None,) * n
    return (grads,) if isinstance(grads, Tensor) else tuple(grads)


def _calculate_shape(output, grad, is_grads_batched):
    """The shapes of an output (a tensor or an edge) and of one gradient of it."""
    shape = output.node._input_metadata[output.output_nr].shape if isinstance(output, GradientEdge) else output.shape
    return Size(shape), grad.shape if not is_grads_batched else Size(grad.shape[1:])


def _shape_dtype(out):
    if not isinstance(out, (Tensor, GradientEdge)):
        raise AssertionError("Expected output to be a torch.Tensor")
    if isinstance(out, GradientEdge):
        meta = out.node._input_metadata[out.output_nr]
        return tuple(meta.shape), meta.dtype, True
    return tuple(sparse_gradients.size(out)), out.dtype, out._tl_needs


def _make_grads(roots, grads, batched):
    """Checked gradients, ones where a scalar needs one."""
    out = []
    for i, (root, g) in enumerate(zip(roots, grads)):
        shape, dtype, needs = _shape_dtype(root)
        if isinstance(g, Tensor):
            _check_grad((roots, grads), i, shape, dtype, g, batched)
            if isinstance(root, Tensor) and root.is_meta != g.is_meta:
                raise RuntimeError(f"invalid gradient at index {i} - expected device {root.device} but got {g.device}")
            out.append(sparse_gradients.fitted(g, root) if isinstance(root, Tensor) and sparse_gradients.is_sparse(root) else g)
        elif g is None:
            out.append(_there(root, _ones(shape, dtype)) if needs else None)
        else:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    return out


def _check_grad(given, i, shape, dtype, g, batched):
    from .._tensor import Size

    if batched and 0 in (*g.shape, 0)[:1]:
        g[0]  # torch looks at the first one, and so its error is that of an index
    have = tuple(sparse_gradients.size(g))[1:] if batched else tuple(sparse_gradients.size(g))
    if have != shape:
        k, i = _places(given, i)
        where = f"grad_output[{k}] has a shape of {Size(have[1:] if batched else have)} and output[{i}] has a shape of {Size(shape)}"
        if batched:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of the remaining "
                f"dimensions are expected to match the shape of corresponding output, but a mismatch was detected: {where}. If you only want some tensors "
                "in `grad_output` to be considered batched, consider using vmap.")
        raise RuntimeError(f"Mismatch in shape: {where}.")
    if dtype.is_complex != g.dtype.is_complex:
        k, i = _places(given, i)
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: grad_output[{k}] has a dtype of "
            f"{g.dtype} and output[{i}] has a dtype of {dtype}.")


def _places(given, i):
    """Where torch finds a gradient and its root: the first of their lists that is equal, and comparing tensors can be an error of its own."""
    roots, grads = given
    return list(grads).index(grads[i]), list(roots).index(roots[i])


def _ones(shape, dtype):
    spec = _ones_specs.get((shape, dtype))
    if spec is None:
        if any(n != 1 for n in shape):
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if dtype.category != FLOAT:
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
        spec = _ones_specs[shape, dtype] = spec_of(OPS["_ones"], (("size", shape), ("dtype", dtype)), ())
    return wrap(record_op(spec, ())[0])


def _there(root, seed):
    """A seed where its root is; a number goes with any."""
    key = root._tl_v.aval.device if isinstance(root, Tensor) and root.ndim else "cpu"
    return seed if key == "cpu" or devices.is_loose(key) else seed.to(key)


_ones_specs: dict = {}


def _roots(roots, grads):
    """[(place, gradient Value)] of an engine pass."""
    if len(grads) != len(roots):
        if len(grads) < len(roots):
            raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
        grads = grads[: len(roots)]
    out = []
    for i, (root, g) in enumerate(zip(roots, grads)):
        if isinstance(root, Tensor):
            _check_root(root, i)
            _watch(root, history(root))
        if g is None:
            continue
        shape, dtype, _ = _shape_dtype(root)
        if sparse_gradients.is_sparse(g) and not (isinstance(root, Tensor) and sparse_gradients.is_sparse(root)):
            out.append(_started(root, sparse_gradients.given(g, aval(shape, dtype, g._tl_v.aval.device), _place(root), i), i))
            continue
        v = g._tl_value()
        if v.aval.dtype is not dtype:
            v = record_op(cast_spec(dtype), (v,))[0]
        out.append(_started(root, _spread(v, root), i))
    return out


def _check_root(root, i):
    if isinstance(root, Tensor) and (not root._tl_needs or type(history(root).leaf) is Nowhere):
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")


def _started(root, g, i):
    """(place, gradient) of a root: the node of one whose data were replaced takes a gradient of what it gave itself, as torch's does."""
    if isinstance(root, GradientEdge):
        place = _place(root)
        return place, g if type(place) is not tuple else levels.in_pairs(g, type_at(*place))
    v = history(root)
    if v.leaf is not None:
        return v.leaf, g
    tape, slot, step = place_and_step(v)
    given = step.out_avals[slot - step.first]
    if v.aval.shape != given.shape:
        g = reduced_to(g, given.shape, i)
    if v.aval.dtype is not given.dtype:
        if v.aval.dtype.is_complex and not given.dtype.is_complex:
            raise real_gradient_wanted()
        g = record_op(cast_spec(given.dtype), (g,))[0]
    return (tape, slot), g if type(given) is not LeveledAval else levels.in_pairs(g, given)


def _spread(v, root):
    """A plain gradient of a tensor that lies on several devices, on these: what comes of it would lie on one, where an operator reads nothing else."""
    if "@" in v.aval.device or not isinstance(root, Tensor) or "@" not in root._tl_v.aval.device or v.aval.shape != root._tl_v.aval.shape:
        return v
    return record_op(spec_of(OPS["_spread_as"], (), ("T", "T")), [v, root._tl_value()])[0]


def _watch(root, v):
    """A root is often the last that holds a graph, with what people attached to it: that goes when it does."""
    if v.tape is not None and (v.tape.extra or v.tape.contexts):
        lifetimes.watch(root)


def _place(t):
    """Where a tensor or edge stands in the graph: a Leaf or (tape, slot)."""
    if isinstance(t, GradientEdge):
        if isinstance(t.node, AccumulateGrad):
            return t.node._tl_leaf
        return (t.node._tl_tape, t.node._tl_first + t.node._tl_tensor_of(t.output_nr))
    v = history(t)
    return v.leaf if v.leaf is not None else place_of(v)


CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause a memory leak. We "
    "recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
    "your parameters to None after use to break the cycle and avoid the leak. (Triggered internally at /pytorch/torch/csrc/autograd/engine.cpp:1315.)")


def _warn_cycle():
    say_once(CYCLE)


for _f, _asked in ((grad, (2, (), ())), (backward, (1, ("inputs",), ("grad_variables",)))):
    overriding.rerouted(_f, f"torch.autograd.{_f.__name__}")
    overriding.named(_f, overriding.REROUTE[_f])
    overriding.RELEVANT[_f] = _asked

__all__ = ["backward", "grad"]
