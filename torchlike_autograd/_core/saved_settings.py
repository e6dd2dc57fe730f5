"""What nodes save besides tensors (layer 6): the arguments of the call, and what torch keeps of the types of its tensors."""

from __future__ import annotations

from .._ops.pull_saved import result_name
from .._ops.schema import REQUIRED
from . import layouts, shapes
from .backward import number_at
from .saved_strides import strides_at


def setting(node, name):
    """`node._saved_<name>` of what is no tensor."""
    step = node._tl_step()
    form = step.form
    if name in _RECURRENT and form.op.name == "_rnn_layer_fused":
        return _RECURRENT[name](form)
    if name in _SCALES and "upsample" in form.op.name:
        scales = form.spec.statics.get("scales")
        return None if scales is None else scales[_SCALES[name]]
    param = next((q for q in form.op.params if q.name == name), None)
    if param is not None:
        return _unsigned(param.kind, _argument(node._tl_tape, step, name))
    if name in _ABSENT:
        return _ABSENT[name](form)
    if name in _GEOMETRY and getattr(form.op, "links", ()):
        shape, numbers = form.avals[0].shape, [number_at(node._tl_tape, s) for s in step.ins if type(s) is tuple]
        return layouts.read_again(form.op.links, numbers, shape, strides_at(node._tl_tape, step.ins[0], shape))[_GEOMETRY.index(name)]
    if name.endswith("_sym_strides"):
        return _strides(node, name[: -len("_sym_strides")])
    for ending, read in _OF_TYPES.items():
        if name.endswith(ending):
            owner = name[: -len(ending)]
            if owner in form.owners:
                return read(form.avals[form.owners.index(owner)])
    if name.endswith("_sym_sizes_opt"):  # of what may be missing
        owner = name[: -len("_sym_sizes_opt")]
        return tuple(form.avals[form.owners.index(owner)].shape) if owner in form.owners else (0,)
    head, mark, rest = name.partition("_sym_argsize_")
    if mark:
        made = {result_name(form.op, k): a for k, a in enumerate(form.out_avals)}
        a = form.avals[form.owners.index(head)] if head in form.owners else made[head]
        return a.shape[int(rest) if not rest.startswith("minus_") else -int(rest[6:])]
    raise NotImplementedError(f"_saved_{name} of {node.name()} is not there yet")


# Of the LSTM of a vendor's library, whose number among the kinds of recurrent layers is 2
_RECURRENT = {"mode": lambda form: 2, "batch_sizes": lambda form: (), "has_biases": lambda form: "b_ih" in form.owners,
              "hidden_size": lambda form: form.avals[form.owners.index("w_hh")].shape[1]}

_SCALES = {"scales": 0, "scales_d": -3, "scales_h": -2, "scales_w": -1}  # one number by dim, which torch keeps apart

_OF_TYPES = {
    "_sym_sizes": lambda a: a.shape,
    "_sym_numel": lambda a: shapes.numel(a.shape),
    "_numel": lambda a: shapes.numel(a.shape),
    "_dim": lambda a: a.ndim,
    "_scalar_type": lambda a: a.dtype,
}


def _correction(form):
    """What `var` and `std` make of `unbiased`."""
    unbiased = form.spec.statics.get("unbiased", True)
    return None if unbiased and "dim" not in form.spec.statics else int(unbiased)


def _bias_sizes(form):
    """The sizes of a convolution's bias, (0,) where there is none."""
    return form.avals[form.owners.index("bias")].shape if "bias" in form.owners else (0,)


_ABSENT = {"bias_sym_sizes_opt": _bias_sizes, "correction": _correction, "dim": lambda form: None, "dropout_p": lambda form: 0.0,
           "keepdim": lambda form: False}  # arguments that torch adds to shorter overloads


_GEOMETRY = ("size", "stride", "storage_offset")  # of a view that is read again from its base


def _strides(node, owner):
    """Strides of an input; none are kept of one that gets no gradient."""
    step = node._tl_step()
    i = step.form.owners.index(owner)
    return strides_at(node._tl_tape, step.ins[i], step.form.avals[i].shape) if i in step.wanted else ()


def _argument(tape, step, name):
    """The value of a parameter that is no tensor."""
    form = step.form
    if name == "stride" and form.spec.statics.get(name) is None:
        return ()  # of a pool without one, which has its kernel's
    if name in form.spec.statics:
        return form.spec.statics[name]
    if name in form.owners:
        i = form.owners.index(name)
        return number_at(tape, step.ins[i]) if type(step.ins[i]) is tuple else None
    param = next(q for q in form.op.params if q.name == name)
    if name in ("alpha", "beta", "value") and param.default is None:
        return 1  # torch's factor where none is given
    return None if param.default is REQUIRED else param.default


def _unsigned(kind, x):
    """Integers as torch shows those of an integer parameter: negative ones wrap."""
    if kind.startswith("int") and x is not None:
        if isinstance(x, tuple):
            return tuple(n % (1 << 64) for n in x)
        return x % (1 << 64)
    return x


__all__ = ["setting"]
