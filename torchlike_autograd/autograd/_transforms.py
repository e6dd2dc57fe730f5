"""The transformations of torch.func over functions of tensors (layer 7).

A reverse-mode level (`grad`, `vjp`, `jacrev`) hands the function inputs of its own: leaves, or aliases of tensors that an outer level (or plain autograd)
differentiates, runs one backward pass to them, and cuts what leads to nothing but its own inputs from what it returns.  The pass gets a graph of its own only
where something outside can ask for it, so that one level alone runs as one compiled stage.  Forward mode (`jvp`, `jacfwd`) and maps are levels with a hidden
dim (`_core/levels.py`); all of them nest, and compose with `backward()`.
"""

from __future__ import annotations

import functools
import weakref

from .._core import apart, belonging, crossing, levels, outlived, overriding, tangents_off  # noqa: F401 - apart gives `.data`
from .._core.chains import written_repeats
from .._core.composite import named
from .._core.dtypes import FLOAT
from .._core.duals import DualView, written
from .._core.duals import end as end_duals
from .._core.pytree import flatten, tree_map, unflatten
from .._core.record import mark_seen, thread
from .._core.shapes import row_strides
from .._core.storage import View, as_detached, as_leaf, cell_of
from .._core.versions import as_recorded
from .._functions.create import zeros, zeros_like
from .._tensor import Tensor, _new, wrap
from . import forward_ad
from ._captured import forget_history, put_back, run
from ._run import pull as run_pass
from ._saving import disabled_message, restore_disabled, set_disabled
from ._vmap import name_of, vmap
from .grad_mode import enable_grad, is_grad_enabled


class _Reverse(levels.enter):
    """A reverse-mode level: its own leaves, and whether results can be differentiated outside of it; later: whether what is pulled back after it may be."""

    def __init__(self, later=False):
        super().__init__("grad")
        self.leaves, self.starts, self.outer = [], {}, is_grad_enabled()
        self.kept = later or self.outer
        self.level.leaves, self.level.transform = self.leaves, weakref.ref(self)
        self.recording = levels.Recording()
        self.forward = thread.state.extra.get(tangents_off.FORWARD)  # inside of which Function's it is

    def __enter__(self):
        self.recording.__enter__()
        self.hooks_refused = disabled_message()
        set_disabled("torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case.")
        self.mode = enable_grad()
        self.mode.__enter__()
        super().__enter__()
        self.held = outlived.Held(self.level)
        return self

    def __exit__(self, *exc):
        super().__exit__(*exc)
        levels.ENDED.update(self.leaves)
        self.mode.__exit__(*exc)
        restore_disabled(self.hooks_refused)
        self.recording.__exit__(*exc)

    def fresh(self, x):
        """A tensor of this level over the memory of `x`, which shows what is written to it beside autograd."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        v = x._tl_value()
        if v.aval.dtype.category < FLOAT:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if v.needs and self.kept:
            own = x.view_as(x)
            if levels.dual(v) is None:      # what is written to its memory beside autograd leaves its history as it is
                own, alias = x.detach(), own
                own._tl_v, own._tl_view = alias._tl_v, View(None, () if own._tl_view is None else own._tl_view.chain, "argument")
            self.level.aliases[own._tl_v.tape, own._tl_v.slot] = v
            self.starts[id(own)] = own, wrap(own._tl_v)
            self.level.examples[id(own)] = x, own._tl_v
            return own
        t = _new(Tensor)
        t._tl_cell, t._tl_counter, t._tl_laid = cell_of(x), x._tl_counter, x._tl_laid
        t._tl_at = t._tl_cell.n
        t._tl_view = None if x._tl_view is None else View(None, x._tl_view.chain, "default")
        t._tl_v = as_detached(v)
        leaf = t._tl_leaf_point()
        t._tl_v = as_leaf(t._tl_v if t._tl_v is not v else v, leaf)
        mark_seen(t._tl_v, t._tl_counter)
        self.starts[id(t)] = t, wrap(t._tl_v)
        self.level.examples[id(t)] = x, t._tl_v
        if levels.dual(v) is not None:
            self.level.sources[id(t)] = x
        self.leaves.append(leaf)
        self.held.inputs.append(weakref.ref(t._tl_v))
        return t

    def release(self, *kept):
        """Tensors of the level that somebody holds are plain ones from now on; `kept`: what is differentiated later."""
        self.held.release(self.outer, self.leaves, [t._tl_value() for t in kept])

    def watch(self, args):
        """Arguments that the function may write to, and what they show."""
        return [(x, x._tl_value()) for x in args if isinstance(x, Tensor)]

    def settle(self, watched):
        """What was written to them stays as contents: the level's own history ends with it."""
        for x, before in watched:
            v = x._tl_value()
            if written(x, v, before) and v.needs and not self.outside(x):
                forget_history(x)

    def started(self, ts):
        """The level's own arguments as they were when the function was called, whatever was written to their memory since."""
        return [self.starts[id(t)][1] if id(t) in self.starts else t for t in ts]

    def outside(self, *ts):
        """Whether what led to these tensors can be differentiated outside of this level."""
        return self.outer and belonging.reaches([t._tl_value() for t in ts], self.leaves)

    def cut(self, x):
        """A result as it leaves the level."""
        if not isinstance(x, Tensor):
            return x
        v = x._tl_value()
        if not v.needs or self.outside(x):
            return x
        return wrap(as_detached(v))


def _recorded(f):
    """`f` outside of inference mode."""

    def wrapped(*args):
        with levels.Recording():
            return f(*args)

    return wrapped


# Arguments by number

def _numbers(argnums, n):
    if isinstance(argnums, int):
        return (_number(argnums, n),)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    found = tuple(_number(a, n) for a in argnums)
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _number(a, n):
    if not isinstance(a, int):
        raise RuntimeError(f"argnum must be int, got: {type(a)}")
    if not -n <= a < n:
        raise RuntimeError(f"Got argnum={a}, but only {n} positional inputs")
    return a % n


def _chosen(argnums, args):
    """What is differentiated: one argument, or a tuple of them."""
    nums = _numbers(argnums, len(args))
    return args[nums[0]] if isinstance(argnums, int) else tuple(args[i] for i in nums)


def _replaced(argnums, args, new):
    nums = _numbers(argnums, len(args))
    out = [None if i in nums else _classless(x) for i, x in enumerate(args)]
    for i, x in zip(nums, (new,) if isinstance(argnums, int) else new):
        out[i] = x
    return tuple(out)


def _classless(tree):
    """Arguments that are not differentiated, as a function sees them inside: tensors of subclasses are plain ones over the same memory."""
    return tree_map(_plain, tree) if overriding.ACTIVE else tree


def _plain(x):
    return x.as_subclass(Tensor) if isinstance(x, Tensor) and overriding.overrides(type(x)) else x


def _with_aux(out, has_aux, where):
    """(output, aux)."""
    if not has_aux:
        return out, None
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{where}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return out


def _left(leave, aux):
    """The tensors of `aux` outside of the level; RuntimeError for anything else in it."""
    leaves, tree = flatten(aux)
    for x in leaves:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return unflatten([leave(x) for x in leaves], tree)


# Reverse mode

ARRIVING = [_Reverse.fresh]  # what makes a tensor of a level of an argument: (transformation, argument) -> tensor


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives (gradient, value) of a function with a scalar result; with has_aux (gradient, (value, aux))."""

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        with _Reverse() as level:
            mine, tree = flatten(_chosen(argnums, args))
            mine = [ARRIVING[-1](level, x) for x in mine]
            where = "grad_and_value(f)(*args)"
            others = level.watch(flatten((args, kwargs))[0])
            out, aux = _with_aux(run(func, *_replaced(argnums, args, unflatten(mine, tree)), **_classless(kwargs)), has_aux, where)
            if not isinstance(out, Tensor):
                raise RuntimeError(f"{where}: Expected f(*args) to return a Tensor, got {type(out)}")
            if out.dim():
                raise RuntimeError(f"{where}: Expected f(*args) to return a scalar Tensor, got tensor with {out.dim()} dims. Maybe you wanted to use the vjp "
                                   "or jacrev APIs instead?")
            create = level.outside(out)
            gs = _pull(level, [out], level.started(mine), None, create, create)
        result = unflatten([level.cut(g) for g in gs], tree)
        value = level.cut(out)
        level.settle(others)
        aux = _left(level.cut, aux) if has_aux else None
        del out, gs, mine
        level.release()
        return (result, (value, aux)) if has_aux else (result, value)

    return wrapped


def _pull(level, outs, xs, gs, create, retain=True):
    """Gradients of `xs`, zeros where there is none."""
    pairs = [(o, g) for o, g in zip(outs, gs or [None] * len(outs)) if o._tl_needs]
    found = (None,) * len(xs)
    if pairs:
        outs, gs = zip(*pairs)
        found = run_pass(outs, xs, gs, create, level.level.mark, retain)
    return [zeros_like(x.detach()) if g is None else g for g, x in zip(found, xs)]


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of a function with a scalar result; with has_aux (gradient, aux)."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        g, value = both(*args, **kwargs)
        return (g, value[1]) if has_aux else g

    return wrapped


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function from cotangents to gradients), and with has_aux a third: aux."""
    return _vjp(func, primals, None, has_aux)


def _vjp(func, primals, argnums, has_aux):
    where = "vjp(f, *primals)"
    with levels.Reservation() as held, _Reverse(later=True) as level:
        whole = primals if argnums is None else _chosen(argnums, primals)
        mine, tree = flatten(whole)
        mine = [ARRIVING[-1](level, x) for x in mine]
        args = unflatten(mine, tree)
        others = level.watch(flatten(primals)[0])
        out, aux = _with_aux(run(func, *(args if argnums is None else _replaced(argnums, primals, args))), has_aux, where)
        outs, out_tree = flatten(out)
        _only_tensors(outs, where)
        for o in outs:
            if o.dtype.category < FLOAT:
                raise RuntimeError(f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {o.dtype}")
        outs = [wrap(o._tl_value()) if any(o is x for x, _ in others) else o for o in outs]
        level.settle(others)
    mine = level.started(mine)
    held.hold()

    def pull(cotangents, retain_graph=True, create_graph=None):
        gs, given = flatten(cotangents)
        if given != out_tree:
            raise RuntimeError(f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: "
                               f"{given.pretty()}, primal output: {out_tree.pretty()}")
        assert held is not None
        outer = is_grad_enabled() if create_graph is None else create_graph
        create = outer and belonging.reaches([t._tl_value() for t in (*outs, *gs) if isinstance(t, Tensor)], level.leaves)
        found = [_cut(g, level.leaves, outer) for g in _pull(level, outs, mine, gs, create, retain_graph)]
        return unflatten(found, tree)

    results = unflatten([level.cut(o) for o in outs], out_tree)
    aux = _left(level.cut, aux) if has_aux else None
    level.release(*outs, *mine)
    return (results, pull, aux) if has_aux else (results, pull)


def _cut(g, leaves, outer):
    v = g._tl_value()
    return g if not v.needs or (outer and belonging.reaches([v], leaves)) else wrap(as_detached(v))


def _only_tensors(outs, where):
    if not outs or (len(outs) == 1 and outs[0] is None):
        raise RuntimeError(f"{where}: Expected f to be a function that has non-empty output (got output = {outs})")
    for o in outs:
        if not isinstance(o, Tensor):
            raise RuntimeError(f"{where}: expected f(*primals) to return only tensors, got unsupported type {type(o)}")


def _real(name, ts, what):
    for i, t in enumerate(ts):
        if isinstance(t, Tensor) and t.is_complex():
            raise RuntimeError(f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}")


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian by reverse mode: one batched backward pass (in chunks of `chunk_size` rows)."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    @_recorded
    def wrapped(*args):
        _real("jacrev", flatten(args)[0], "inputs")
        _numbers(argnums, len(args))
        found = _vjp(func, args, argnums, has_aux)
        out, pull = found[0], found[1]
        outs, out_tree = flatten(out)
        _real("jacrev", outs, "outputs")
        with crossing.beyond(outs):  # the graph behind the arguments may hold maps that have ended
            rows, tree = flatten(_rows(lambda *units: pull(unflatten(units, out_tree)), _units(outs), chunk_size))
        sizes = [o.numel() for o in outs]
        split = [row.split(sizes, 0) for row in rows]
        parts = [unflatten([s[i].reshape(o.shape + s[i].shape[1:]) for s in split], tree) for i, o in enumerate(outs)]
        result = unflatten(parts, out_tree)
        return (result, found[2]) if has_aux else result

    return wrapped


def _rows(pull, units, chunk_size):
    """The gradients for each row of the units, stacked; one row at a time goes without a map, so that it may do what a map does not allow."""
    if chunk_size != 1:
        return vmap(pull, chunk_size=chunk_size)(*units)
    found = [flatten(pull(*(u[i] for u in units))) for i in range(len(units[0]))]
    return unflatten([named("stack")(list(column)) for column in zip(*(row for row, _ in found))], found[0][1])


def _units(ts):
    """Unit vectors over the elements of all tensors: one batch for each tensor."""
    total, start, out = sum(t.numel() for t in ts), 0, []
    for t in ts:
        unit = zeros(total, t.numel(), dtype=t.dtype, device=t.device)
        unit.diagonal(-start).fill_(1)
        out.append(unit.view(total, *t.shape))
        start += t.numel()
    return out


# Forward mode

_JVP = "jvp(f, primals, tangents)"


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), the derivative along `tangents`), and with has_aux a third: aux."""
    return _jvp(func, primals, tangents, None, strict, has_aux)


def _jvp(func, primals, tangents, argnums, strict, has_aux):
    chosen = primals if argnums is None else _chosen(argnums, primals)
    if not isinstance(chosen, tuple) and argnums is None:
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    xs, tree = flatten(chosen)
    ts, other = flatten(tangents)
    if tree != other:
        raise RuntimeError(f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, "
                           f"tangents also must be. Got primals with structure {tree} and tangents with structure {other}")
    for what, flat in (("primals", xs), ("tangents", ts)):
        if not flat:
            raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
        for t in flat:
            if not isinstance(t, Tensor):
                raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(t)}")
    levels.refuse_forward("forward_ad" in thread.state.extra)
    with levels.Recording(), tangents_off.On(), levels.enter(levels.DUAL, randomness="jvp") as level:
        duals = [_dual(level, x, t) for x, t in zip(xs, ts)]
        before, args = [d._tl_v for d in duals], unflatten(duals, tree)
        others = [] if argnums is None else [(x, x._tl_value()) for x in flatten(primals)[0] if isinstance(x, Tensor) and not any(x is y for y in xs)]
        out, aux = _with_aux(run(func, *(args if argnums is None else _replaced(argnums, primals, args))), has_aux, _JVP)
        outs, out_tree = flatten(out)
        _only_tensors(outs, _JVP)
        if strict and any(not levels.has(o._tl_value(), level) for o in outs):
            raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True.")
        parts = [_parts(level, o) for o in outs]
        for x, t, d, v in zip(xs, ts, duals, before):
            if written(d, d._tl_value(), v):
                _written(level, x, t, d)
        for x, v in others:
            if x._tl_value() is not v:
                _settled(level, x, v)
        aux = _left(lambda a: unpack(level, a)[0], aux) if has_aux else None
        end_duals(level.key)
    primal = unflatten([p for p, _ in parts], out_tree)
    tangent = unflatten([zeros_like(p) if t is None else t for p, t in parts], out_tree)
    return (primal, tangent, aux) if has_aux else (primal, tangent)


def _dual(level, x, t):
    """`make_dual`, which subclasses and modes are told of."""
    return forward_ad.make_dual(x, t) if _told(x, t) else make_dual(level, x, t)


def _parts(level, x):
    """`unpack`, of plain tensors after subclasses and modes were told."""
    if not _told(x):
        return unpack(level, x)
    return tuple(p if p is None else wrap(p._tl_value()) for p in forward_ad.unpack_dual(x))


def _told(*ts):
    return bool(overriding.here.modes) or any(overriding.overrides(type(t)) for t in ts)


def _written(level, x, t, dual):
    """A dual tensor that was written to: its primal and its tangent share the memory of what it was made of."""
    p, own = unpack(level, dual)
    v = levels.shared_primal(dual._tl_value(), levels.levels_of(x._tl_value().aval), p._tl_value())
    p, beside = p if v is None else wrap(v), type(dual._tl_view) is DualView      # it was detached: what was written to that is no part of the history
    (x.detach() if beside else x).copy_(p.detach() if beside else p)
    if not beside or dual._tl_view.tangent_written:
        t.copy_(zeros_like(t) if own is None else own)


def _settled(level, x, before):
    """An argument without a tangent that was written to: it, or what it is a view of, keeps the primal of what it got."""
    x = x if x._tl_view is None or x._tl_view.base is None else x._tl_view.base
    v = x._tl_value()
    if levels.has(v, level):
        p = levels.move("primal", level, [v])
        shared = levels.shared_primal(v, levels.levels_of(before.aval), p)
        put_back(x, p if shared is None else shared)


def make_dual(level, x, t):
    """A dual tensor of a level."""
    for what, part in (("primal", x), ("tangent", t)):
        if part.dtype.category < FLOAT:
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {part.dtype}")
    if t.shape != x.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of "
                           f"size {list(x.shape)} while the given forward gradient is of size {list(t.shape)}.")
    if t.dtype != x.dtype:
        if t.is_complex() and not x.is_complex():
            raise NotImplementedError(f"jvp with a complex tangent ({t.dtype}) of a real primal ({x.dtype})")  # complex through linear operators in PyTorch
        t = t.to(x.dtype)
    out = wrap(levels.move("join", level, [x._tl_value(), t._tl_value()]))
    cell_of(x)
    mark_seen(out._tl_v, x._tl_counter)   # what saves it has saved the primal
    if x._tl_view is not None or x._tl_laid is not None:
        laid = x._tl_geometry()
        if any(n > 1 and s == 0 for n, s in zip(x.shape, laid[0])) and laid[0] != t._tl_geometry()[0]:
            raise written_repeats()     # the tangent would be copied to where the primal shows one element several times
        if laid != (row_strides(x.shape), 0):
            out._tl_laid = laid
    return out


def unpack(level, x):
    """(primal, tangent or None) of a tensor in a level."""
    v = x._tl_value()
    if not levels.has(v, level):
        return x, None
    return wrap(levels.move("primal", level, [v])), wrap(levels.move("tangent", level, [v]))


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives the Jacobian by forward mode: all columns at once."""

    @functools.wraps(func)
    @_recorded
    def wrapped(*args):
        _real("jacfwd", flatten(args)[0], "inputs")
        xs, tree = flatten(args if argnums is None else _chosen(argnums, args))
        kept = []

        def push(*units):
            found = _jvp(func, args, unflatten(units, tree), argnums, False, has_aux)
            outs, out_tree = flatten(found[1])
            _real("jacfwd", outs, "outputs")
            kept[:] = [out_tree]
            return (tuple(outs), found[2]) if has_aux else tuple(outs)

        found = vmap(push, randomness=randomness)(*_units(xs))
        columns, aux = (found[0], tree_map(lambda a: a[0], found[1])) if has_aux else (found, None)
        parts = [unflatten([c.movedim(0, -1).reshape(c.shape[1:] + x.shape) for c, x in zip(column.split([x.numel() for x in xs], 0), xs)], tree)
                 for column in columns]
        result = unflatten(parts, kept[0])
        return (result, aux) if has_aux else result

    return wrapped


def hessian(func, argnums=0):
    """A function that gives the second derivatives: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)


def linearize(func, *primals):
    """(func(*primals), the linear function of tangents that `jvp` gives there).

    The function is called twice, as in torch: for its value, and for its derivative along tangents to come.  That is linear in them, and what is linear is
    the adjoint of its adjoint: what is captured may change later.
    """
    out = func(*primals)
    given, expected = flatten(primals)
    for p in given:
        if p.dtype.category < FLOAT:
            raise ValueError(f"Expected primal to be floating point or complex, but got: {p.dtype}")

    def along(*tangents):
        return jvp(func, primals, tree_map(Tensor.clone, tangents))[1]  # which may be written to

    tangent, pull = vjp(along, *tree_map(_zeros, primals))
    with as_recorded():
        _, push = vjp(pull, tree_map(_zeros, tangent))

    def jvp_fn(*tangents):
        flat, found = flatten(tangents)
        if found != expected:
            raise RuntimeError(f"Expected the tangents {found} to have the same argspec as the primals {expected}")
        for i, (t, p) in enumerate(zip(flat, given)):
            for what in ("shape", "device", "dtype"):
                if getattr(t, what) != getattr(p, what):
                    raise RuntimeError(f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't match the {what} {getattr(p, what)} of the "
                                       "corresponding primal.")
        with as_recorded():
            return push(tangents)[0]

    return out, jvp_fn


def _zeros(t):
    return zeros_like(t.detach())


__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "name_of", "vjp", "vmap"]
