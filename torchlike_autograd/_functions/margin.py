"""torch.nn.functional's losses of margins and similarities (layer 7)."""

from __future__ import annotations

from .._core.composite import composite, named
from .._core.shapes import broadcast
from .._ops import loss as _loss_ops
from .._tensor import Tensor
from .arguments import handed, no_tensor
from .create import full_like, result_type
from .loss import CODES, code_of, fixed, legacy_reduction, reduce_by, shown

_ops = _loss_ops
_add, _sub, _mul, _neg, _div, _sum = (named(n) for n in ("add", "sub", "mul", "neg", "div", "sum"))
_where, _clamp_min = named("where"), named("clamp_min")


@composite("torch.hinge_embedding_loss")
def hinge_embedding_loss_(input, target, margin=1.0, reduction=0):
    """input where the target is 1, max(0, margin - input) where it is -1."""
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        raise no_tensor("hinge_embedding_loss", input=input, target=target)
    zero = full_like(input, 0)
    # torch 2.13: the margin takes the dtype of the input first, and integers stay integers
    far = _where(named("ne")(target, 1), _clamp_min(_sub(full_like(input, margin), input), 0), zero)
    return reduce_by(_add(far, _where(named("ne")(target, -1), input, zero)), reduction)


@composite("torch.nn.functional.hinge_embedding_loss")
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where the target is 1, max(0, margin - input) where it is -1."""
    return hinge_embedding_loss_(input, target, margin, code_of(reduction, size_average, reduce))


@composite("torch.margin_ranking_loss")
def margin_ranking_loss_(input1, input2, target, margin=0.0, reduction=0):
    """max(0, -target * (input1 - input2) + margin)."""
    *_, margin, reduction = handed("torch.margin_ranking_loss", input1, input2, target, margin, reduction)
    difference = _sub(input1, input2)  # computed first
    return reduce_by(_clamp_min(_add(_mul(_neg(target), difference), margin), 0), reduction)


@composite("torch.nn.functional.margin_ranking_loss")
def margin_ranking_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)."""
    code = code_of(reduction, size_average, reduce)
    if input1.ndim != input2.ndim or input1.ndim != target.ndim:
        raise RuntimeError(f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {shown(input1)}, "
                           f"input2: {shown(input2)}, target: {shown(target)} ")
    return margin_ranking_loss_(input1, input2, target, margin, code)


@composite("torch.cosine_similarity", "torch.nn.functional.cosine_similarity")
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The product of x1/|x1| and x2/|x2|, each norm at least eps (which changes no gradient)."""
    common = result_type(x1, x2)
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common.char_name}")
    size = broadcast(tuple(x1.shape), tuple(x2.shape))
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    parts = []
    for x in (x1.to(common), x2.to(common)):
        x = x if tuple(x.shape) == size else x.expand(size)
        norm = named("linalg_vector_norm")(x, 2, (dim,), True)
        parts.append(_div(x, named("_bounded_norm")(norm, float(eps))))
    return _sum(_mul(*parts), dim)


@composite("torch.cosine_embedding_loss")
def cosine_embedding_loss_(input1, input2, target, margin=0.0, reduction=0):
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
    if not (isinstance(input1, Tensor) and isinstance(input2, Tensor) and isinstance(target, Tensor)):
        raise no_tensor("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    if input1.dtype.is_complex or input2.dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")
    return reduce_by(named("_cosine_embedding")(input1, input2, target, float(margin)), reduction)


@composite("torch.nn.functional.cosine_embedding_loss")
def cosine_embedding_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
    return cosine_embedding_loss_(input1, input2, target, margin, code_of(reduction, size_average, reduce))


@composite("torch.triplet_margin_loss")
def triplet_margin_loss_(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    """max(0, |a - p| - |a - n| + margin); with `swap` the nearer of |a - n| and |p - n|."""
    if not (isinstance(anchor, Tensor) and isinstance(positive, Tensor) and isinstance(negative, Tensor)):
        raise no_tensor("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
                           f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs")
    distance = named("pairwise_distance")
    near, far = distance(anchor, positive, p, eps), distance(anchor, negative, p, eps)
    if swap:
        far = named("minimum")(far, distance(positive, negative, p, eps))
    return reduce_by(_clamp_min(_sub(_add(near, margin), far), 0), reduction)


def _check_margin(margin):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


@composite("torch.nn.functional.triplet_margin_loss")
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
    """max(0, |anchor - positive| - |anchor - negative| + margin)."""
    code = code_of(reduction, size_average, reduce)
    _check_margin(margin)
    return triplet_margin_loss_(anchor, positive, negative, margin, float(p), eps, swap, code)


@composite("torch.nn.functional.triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    """The triplet loss of any distance."""
    _check_margin(margin)
    distance = distance_function or named("pairwise_distance")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
                           f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = named("minimum")(far, distance(positive, negative))
    return reduce_by(_clamp_min(_sub(_add(near, margin), far), 0), code_of(reduction))


@composite("torch.nn.functional.multi_margin_loss")
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """max(0, margin - x[target] + x[i])^p over the other classes."""
    code = code_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    fixed("multi_margin_loss", weight=weight)
    return named("multi_margin_loss")(input, target, p, margin, weight, code)


@composite("torch.nn.functional.multilabel_margin_loss")
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Margins between the target classes and all others."""
    return named("multilabel_margin_loss_forward")(input, target, code_of(reduction, size_average, reduce))[0]


@composite("torch.nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The binary cross entropy of every class, averaged over the classes."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    log_sigmoid = named("log_sigmoid")
    loss = _neg(_add(_mul(target, log_sigmoid(input)), _mul(1 - target, log_sigmoid(_neg(input)))))
    if weight is not None:
        loss = _mul(loss, weight)
    axis = input.ndim - 1
    loss = _div(_sum(loss, axis), input.size(axis))
    if reduction not in CODES:
        raise ValueError(f"{reduction} is not valid")
    return reduce_by(loss, CODES[reduction])
