"""Which tangents require grad (layer 3): those that PyTorch computes from what does.

The tangent of a linear function is that function of tangents: it has a graph only where one of these has one. That of any other reads primals too. Which
is which is a fact about PyTorch's formulas and not about derivatives: that of `mul` reads both factors, also where one is constant, that of `clamp` none.
What is not known to be linear counts as reading them, so that no gradient is lost.
"""

from __future__ import annotations

from .._ops.lift import MoveSpec, levels_of
from .behind import before
from .record import INPLACE, slot_table

# Operators whose tangents PyTorch computes from tangents alone (measured over its op database, 2.13), without the endings of overloads.
_LINEAR_NAMES = """
    _adaptive_avg_pool2d _adaptive_avg_pool3d _add_number _as_strided _as_strided_ _as_strided_copy _conj _copy_ _fft_c2c _fft_c2r _fft_r2c _fill_
    _fw_primal _index _index_put _index_put_impl _index_put_repeated _mask_put _masked_filled _masked_select _narrow_copy _neg_view _reshape_alias
    _select_copy _select_scatter _slice _slice_copy _slice_scatter _squeeze_ _squeezed _t_ _to_copy _to_device _transpose_ _unsafe_index _unsafe_index_put
    _unsafe_view _unsqueeze_ _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_lanczos2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d
    _upsample_nearest_exact3d _whole _zero_ _written adaptive_max_pool2d adaptive_max_pool3d add alias alias_copy amax amin aminmax as_strided_scatter
    avg_pool2d avg_pool3d block_diag cat channel_shuffle clamp clamp_max clamp_min clone col2im complex conj_physical constant_pad_nd cummax cummin cumsum
    deg2rad diag_embed diagonal diagonal_copy diagonal_scatter embedding expand expand_copy fill flip fmax fmin frac fractional_max_pool2d
    fractional_max_pool3d frexp gather im2col index_add index_copy index_fill index_select kthvalue masked_fill masked_scatter max max_pool2d_with_indices
    max_pool3d_with_indices max_unpool2d max_unpool3d maximum mean median min minimum mode msort nan_to_num nanmedian nansum native_channel_shuffle neg
    nll_loss2d_forward nll_loss_forward permute permute_copy pixel_shuffle pixel_unshuffle put rad2deg reflection_pad1d reflection_pad2d reflection_pad3d
    repeat replication_pad1d replication_pad2d replication_pad3d roll rot90 rsub scatter scatter_add select sort split split_copy split_with_sizes
    split_with_sizes_copy squeeze squeeze_copy stack sub sum t t_copy take topk trace transpose transpose_copy tril triu unbind unbind_copy unfold
    unfold_copy unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d
    upsample_nearest2d upsample_nearest3d upsample_trilinear3d view view_as_complex view_as_real view_copy where"""
_LINEAR = frozenset(_LINEAR_NAMES.split())

# Operators whose tangents are zeros; `sgn` of real numbers.  In place it is the tangent there that is filled with these.
_CONSTANT = {"bernoulli", "ceil", "floor", "floor_divide", "round", "sgn", "sign", "trunc"}

# Of others the arguments that no tangent reads.
_ADDED = {
    "addbmm": "self", "addcdiv": "self", "addcmul": "self", "addmm": "self", "addmv": "self", "addr": "self", "baddbmm": "self", "convolution": "bias",
    "native_layer_norm": "bias"}
_LINEAR_OVERLOADS = {"fmod.Scalar", "lerp.Scalar", "remainder.Scalar"}


_PARTS = ("primal", "tangent")


def tangent_needs(v, key):
    """Whether the tangent of a dual Value, at a level as types hold it, requires grad."""
    if not v.needs or v.leaf is not None:  # a leaf asks for gradients of its primal
        return False
    if v.tape is None:
        return True
    seen, stack = set(), [(v.tape, v.slot)]
    while stack:
        place = tape, slot = stack.pop()
        if place in seen:
            continue
        seen.add(place)
        if slot < 0:
            stack += before(tape, slot)
            continue
        step, needs, a = slot_table(tape.prefix)[slot]
        if not needs or slot in tape.leaves or key not in levels_of(a):
            continue
        if step.kind != "op":
            return True
        for i in step.wanted:
            reads = _reads(step, i, key)
            if reads == "tangent":
                stack.append((tape, step.ins[i]))
            elif reads and _needs(tape, step.ins[i]):
                return True
    return False


class Ways:
    """Of the slots that a pass comes to those to which it comes through one part of dual numbers alone: what that part is not computed from gets no gradient.

    only: {slot: (level as types hold it, "primal" or "tangent")}; others: the slots to which it comes by another way too.
    """

    def __init__(self, prefix, roots):
        self.table, self.outside = slot_table(prefix), prefix.steps()[1]
        self.only, self.others = {}, set(roots)

    def reached(self, step, wanted, given):
        """The inputs among `wanted` that get a gradient, of those of the results `given`."""
        spec = step.form.spec if step.kind == "op" else None
        if type(spec) is MoveSpec and spec.how in _PARTS and self._dual(step.ins[0], spec.level):
            self._note(step.ins[0], (spec.level, spec.how))
            return wanted
        ways = {None if (slot := step.first + i) in self.others else self.only.get(slot) for i in given}
        way = ways.pop() if len(ways) == 1 else None
        if way is None or step.kind != "op":
            self.others.update(step.ins[i] for i in wanted)
            return wanted
        return tuple([i for i in wanted if self._reaches(step, i, *way)])

    def _reaches(self, step, i, key, part):
        slot, reads = step.ins[i], _reads(step, i, key) if part == "tangent" else _of_primal(step, i, key)
        if reads == part and self._dual(slot, key):
            self._note(slot, (key, part))
        elif reads is True or reads == "primal":
            self.others.add(slot)
        else:
            return False
        return True

    def _note(self, slot, way):
        if self.only.setdefault(slot, way) != way:
            self.others.add(slot)

    def _dual(self, slot, key):
        return key in levels_of(self.table[slot][2] if slot >= 0 else self.outside[-slot - 1].aval)


def _of_primal(step, i, key):
    """What the primal of a result is computed from of an input through which gradient flows: its primal, or nothing (False)."""
    spec = step.form.spec
    if type(spec) is MoveSpec and spec.how == "join" and spec.level == key:
        return i == 0
    return "primal"


def unpacks(prefix):
    """Whether any step of a prefix takes a part of a dual number."""
    out = prefix.memo.get("unpacks")
    if out is None:
        out = prefix.memo["unpacks"] = any(s.kind == "op" and type(s.form.spec) is MoveSpec and s.form.spec.how in _PARTS for s in prefix.steps()[0])
    return out


def _reads(step, i, key):
    """What the tangent of an operator reads of an input through which gradient flows: "tangent" alone, all (True), or nothing (False)."""
    form, spec = step.form, step.form.spec
    if type(spec) is MoveSpec and spec.how == "join" and spec.level == key:
        return i == 1
    if type(spec) is MoveSpec or getattr(spec, "arity", 0) or _linear(form.op, form.owners[i]):
        return "tangent"
    if form.op.name not in _CONSTANT or (form.op.name == "sgn" and form.avals[i].dtype.is_complex):
        return True
    return "tangent" if step.mode == INPLACE else False


def _linear(op, argument):
    name = op.key.partition(".")[0]
    return name in _LINEAR or op.key in _LINEAR_OVERLOADS or _ADDED.get(name) == argument


def _needs(tape, slot):
    if slot >= 0:
        return slot_table(tape.prefix)[slot][1]
    return tape.inputs[-slot - 1].needs if tape.open else tape.edges[-slot - 1] is not None


__all__ = ["Ways", "tangent_needs", "unpacks"]
