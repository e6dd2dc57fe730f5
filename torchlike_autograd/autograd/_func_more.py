"""Smaller parts of torch.func (layer 7): functionalize, debug_unwrap, rearrange, batch norm without statistics."""

from __future__ import annotations

import functools

from .._core import levels
from .._core.composite import named
from .._core.record import thread
from .._tensor import Tensor, wrap

_REMOVE = ("mutations", "mutations_and_views")


def functionalize(func, *, remove="mutations"):
    """`func` as it is: what it records writes to no memory, whatever it does in place.  RuntimeError for another `remove`."""

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        if remove not in _REMOVE:
            raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
                               "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced with their out-of-place "
                               "equivalents.\n     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be replaced with "
                               "their non-aliasing counterparts, {view}_copy.\n")
        extra = thread.state.extra
        outer, extra[levels.FUNCTIONALIZED] = extra.get(levels.FUNCTIONALIZED), True
        try:
            return func(*args, **kwargs)
        finally:
            extra[levels.FUNCTIONALIZED] = outer

    return wrapped


def debug_unwrap(tensor, *, recurse=True):
    """What a tensor holds inside transformations: with the mapped dim (all of them: `recurse`) in front, and the primal of a dual one; others as they are."""
    if not isinstance(tensor, Tensor):
        raise TypeError("is_functorch_wrapped_tensor(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: "
                        f"torch.Tensor) -> bool\n\nInvoked with: {tensor}")
    for level in reversed(levels.running()):  # what a map was given is the tensor that it was given
        given, v = level.examples.get(id(tensor), (None, None))
        if given is None or tensor._tl_v is not v:
            break
        if not recurse or not (levels.levels_of(given._tl_value().aval) or any(id(given) in lv.examples for lv in levels.running())):
            return given
        tensor = given
    v = tensor._tl_value()
    own = sorted(levels.levels_of(v.aval), reverse=True)
    for key in own if recurse else own[:1]:
        v = levels.record_op(levels.MoveSpec("exit" if key[2] == levels.MAP else "primal", key, 0), [v])[0]
    grads = any(lv.kind == "grad" for lv in levels.running())
    return tensor if not own and not grads else wrap(v).detach() if grads else wrap(v)


def replace_all_batch_norm_modules_(root):
    """Let every batch norm below `root` use the statistics of its batch; returns `root`."""
    from ..nn.modules.batchnorm import _NormBase  # cycle: modules are made of tensors

    for module in root.modules():
        if isinstance(module, _NormBase):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


# rearrange

class DimensionBindError(Exception):
    """Sizes of named dims that do not fit."""


def rearrange(tensor, pattern, **axes_lengths):
    """Dims by name: `rearrange(x, "b (h w) c -> b c h w", h=8)`; a list of tensors is stacked first.  ValueError, DimensionBindError for what does not fit."""
    if not isinstance(tensor, Tensor):
        tensor = named("stack")(list(tensor))
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = map(_parsed, sides)
    if any("..." in group for group in left if group is not _DOTS):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    _check_names(left, right, axes_lengths)
    left, right = _without_dots(left, right, tensor.ndim)
    if len(left) != tensor.ndim:
        raise ValueError(f"Number of dimensions in pattern ({len(left)}) must be equal to the number of dimensions in the tensor ({tensor.ndim})")
    sizes = dict(axes_lengths)
    flat = [name for group in left for name in group]
    for group, n in zip(left, tensor.shape):
        _bind(group, n, sizes, flat)
    order = [flat.index(name) for group in right for name in group]
    out = tensor.reshape([sizes[name] for name in flat]).permute(order)
    return out.reshape([_product(sizes[name] for name in group) for group in right])


_DOTS = ["..."]  # the dims by themselves, not as one


def _parsed(text):
    """[[names of a dim], ...]; "..." stands alone, 1 and () are dims without a name."""
    out, group = [], None
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            group = []
        elif token == ")":
            out.append(group)
            group = None
        elif group is not None:
            group += [] if token == "1" else [token]
        else:
            out.append([] if token == "1" else _DOTS if token == "..." else [token])
    names = [n for g in out for n in g]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise ValueError(f"Indexing expression contains duplicate dimension '{twice}'")
    return out


def _check_names(left, right, lengths):
    a, b = ({n for g in side for n in g} for side in (left, right))
    if a ^ b:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {a ^ b}")
    if set(lengths) - a:
        raise ValueError(f"Identifiers not found in rearrange expression: {set(lengths) - a}")


def _without_dots(left, right, ndim):
    more = [f".{i}" for i in range(ndim - len([g for g in left if g is not _DOTS]))]
    alone = [[m] for m in more]

    def spread(side):
        out = []
        for group in side:
            out += alone if group is _DOTS else [[x for n in group for x in (more if n == "..." else [n])]]
        return out

    return spread(left), spread(right)


def _bind(group, n, sizes, flat):
    open_ = [name for name in group if name not in sizes]
    known = _product(sizes[name] for name in group if name in sizes)
    if len(open_) > 1:
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {' and '.join(f'd{flat.index(x)}' for x in open_)}")
    if n % known if known else n:
        raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {n} vs {tuple(sizes.get(name, '?') for name in group)}")
    if open_:
        sizes[open_[0]] = n // known if known else 0
    elif known != n:
        raise DimensionBindError(f"Dimension sizes to do not match ({n} != {known}) when matching dimension pack {group}")


def _product(sizes):
    out = 1
    for n in sizes:
        out *= n
    return out


__all__ = ["debug_unwrap", "functionalize", "rearrange", "replace_all_batch_norm_modules_"]
