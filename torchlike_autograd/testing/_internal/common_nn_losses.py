"""Losses written out one element at a time (layer 8), to compare `torch.nn.functional` with."""

from __future__ import annotations

import importlib

_torch = importlib.import_module(__package__.split(".")[0])
__all__ = [
    "cosineembeddingloss_reference",
    "cross_entropy_loss_reference",
    "ctcloss_reference",
    "hingeembeddingloss_reference",
    "huberloss_reference",
    "kldivloss_reference",
    "loss_reference_fns",
    "marginrankingloss_reference",
    "multilabelmarginloss_reference",
    "multimarginloss_reference",
    "nlllossNd_reference",
    "nllloss_reference",
    "smoothl1loss_reference",
    "softmarginloss_reference",
    "tripletmarginloss_reference",
]


def _reduced(x, reduction):
    return x.mean() if reduction == "mean" else x.sum() if reduction == "sum" else x


def kldivloss_reference(input, target, reduction="mean", log_target=False):
    """KL divergence."""
    result = target.exp() * (target - input) if log_target else _torch.where(target > 0, target * (target.clamp_min(1e-300).log() - input), 0)
    return result.sum() / input.size(0) if reduction == "batchmean" else _reduced(result, reduction)


def nlllossNd_reference(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Negative log likelihood of (N, C, ...) and (N, ...)."""
    weight = _torch.ones(input.size(1), dtype=input.dtype) if weight is None else weight
    flat, classes = input.movedim(1, -1).reshape(-1, input.size(1)), target.reshape(-1).tolist()
    none = input.new_zeros(())
    terms = [none if c == ignore_index else -flat[i, c] * weight[c] for i, c in enumerate(classes)]
    total = sum((weight[c] for c in classes if c != ignore_index), none)
    out = _torch.stack(terms).reshape(target.shape)
    return out.sum() / total if reduction == "mean" else _reduced(out, reduction)


def nllloss_reference(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Negative log likelihood, of one example too."""
    if input.dim() > 1:
        return nlllossNd_reference(input, target, weight, ignore_index, reduction)
    out = nlllossNd_reference(input.unsqueeze(0), target.unsqueeze(0), weight, ignore_index, reduction)
    return out.squeeze(0) if reduction == "none" else out


def cross_entropy_loss_reference(input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """Cross entropy of class indices or probabilities."""
    dim, count = (1 if input.dim() > 1 else 0), input.size(1 if input.dim() > 1 else 0)
    logs = input.log_softmax(dim)
    weight = _torch.ones(count, dtype=input.dtype) if weight is None else weight
    spread = weight.reshape((1,) * dim + (-1,) + (1,) * (input.dim() - dim - 1))
    if target.shape == input.shape and target.is_floating_point():
        target = target * (1 - label_smoothing) + label_smoothing / count
        out = -(logs * target * spread).sum(dim)
        return out.sum() / (input.numel() // count) if reduction == "mean" else _reduced(out, reduction)
    plain = nllloss_reference(logs, target, weight, ignore_index, reduction)
    if label_smoothing == 0:
        return plain
    smooth = (-(logs * spread).sum(dim)).masked_fill(target == ignore_index, 0.0)
    total = sum(weight[c] for c in target.reshape(-1).tolist() if c != ignore_index)
    smooth = smooth.sum() / total if reduction == "mean" else _reduced(smooth, reduction)
    return (1 - label_smoothing) * plain + label_smoothing / count * smooth


def smoothl1loss_reference(input, target, reduction="mean", beta=1.0):
    """Square below `beta`, straight above."""
    d = (input - target).abs()
    return _reduced(d if beta == 0 else _torch.where(d < beta, 0.5 * d**2 / beta, d - 0.5 * beta), reduction)


def huberloss_reference(input, target, reduction="mean", delta=1.0):
    """Square below `delta`, straight above."""
    d = (input - target).abs()
    return _reduced(_torch.where(d < delta, 0.5 * d**2, delta * (d - 0.5 * delta)), reduction)


def _rows(input, target):
    return [(input, target)] if input.dim() < 2 else list(zip(input, target, strict=True))


def _of_rows(terms, input, reduction):
    out = _torch.stack(terms)
    return _reduced(out if input.dim() > 1 else out.squeeze(0), reduction)


def _multilabel(x, target):
    wanted = []
    for c in target.reshape(-1).tolist():
        if c < 0:
            break
        wanted.append(c)
    x = x.reshape(-1)
    return sum(((1 - x[c] + x[i]).clamp_min(0) for c in wanted for i in range(len(x)) if i not in wanted), x.new_zeros(())) / len(x)


def multilabelmarginloss_reference(input, target, reduction="mean"):
    """Margin loss of several classes an example."""
    return _of_rows([_multilabel(x, t) for x, t in _rows(input, target)], input, reduction)


def multimarginloss_reference(input, target, p=1, margin=1, weight=None, reduction="mean"):
    """Margin loss of one class an example."""
    def one(x, t):
        c = int(t)
        factor = 1.0 if weight is None else weight[c]
        return sum((factor * (margin - x[c] + x[i]).clamp_min(0) ** p for i in range(len(x)) if i != c), x.new_zeros(())) / len(x)

    rows = [(input, target)] if input.dim() < 2 else list(zip(input, target, strict=True))
    return _of_rows([one(x, t) for x, t in rows], input, reduction)


def hingeembeddingloss_reference(input, target, margin=1.0, reduction="mean"):
    """Hinge embedding."""
    return _reduced(_torch.where(target == 1, input, (margin - input).clamp_min(0)), reduction)


def softmarginloss_reference(input, target, reduction="mean"):
    """Soft margin."""
    return _reduced((1 + (-input * target).exp()).log(), reduction)


def cosineembeddingloss_reference(input1, input2, target, margin=0, reduction="mean"):
    """Cosine embedding."""
    cos = (input1 * input2).sum(-1) / ((input1**2).sum(-1) * (input2**2).sum(-1)).sqrt()
    return _reduced(_torch.where(target == 1, 1 - cos, (cos - margin).clamp_min(0)), reduction)


def tripletmarginloss_reference(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction="mean"):
    """Triplet margin."""
    near, far = _torch.pairwise_distance(anchor, positive, p, eps), _torch.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = _torch.minimum(far, _torch.pairwise_distance(positive, negative, p, eps))
    return _reduced((margin + near - far).clamp_min(0), reduction)


def marginrankingloss_reference(input1, input2, target, margin=0, reduction="mean"):
    """Margin ranking."""
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def _ctc(logs, labels, blank):
    """Minus the log of the sum over alignments, by the forward recursion over labels with blanks between."""
    path = [blank]
    for c in labels:
        path += [c, blank]
    alpha = [logs[0, c] if i < 2 else logs.new_full((), float("-inf")) for i, c in enumerate(path)]
    for row in logs[1:]:
        before, alpha = alpha, []
        for i, c in enumerate(path):
            ways = before[max(i - 1, 0):i + 1]
            if i > 1 and c != blank and c != path[i - 2]:
                ways = [before[i - 2], *ways]
            alpha.append(_torch.logsumexp(_torch.stack(ways), 0) + row[c])
    return -_torch.logsumexp(_torch.stack(alpha[-2:]), 0)


def ctcloss_reference(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean"):
    """Connectionist temporal classification."""
    lengths, start, out = [int(n) for n in target_lengths], 0, []
    for i, n in enumerate(lengths):
        labels = (targets[i, :n] if targets.dim() > 1 else targets[start:start + n]).tolist()
        start += n
        out.append(_ctc(log_probs[:int(input_lengths[i]), i].double(), labels, blank))
    out = _torch.stack(out).to(log_probs.dtype)
    return (out / _torch.tensor(lengths, dtype=out.dtype).clamp_min(1)).mean() if reduction == "mean" else _reduced(out, reduction)


loss_reference_fns = {
    "KLDivLoss": kldivloss_reference, "KLDivLoss_log_target": lambda *a, **k: kldivloss_reference(*a, **k, log_target=True), "NLLLoss": nllloss_reference,
    "NLLLossNd": nlllossNd_reference, "SmoothL1Loss": smoothl1loss_reference, "HuberLoss": huberloss_reference,
    "MultiLabelMarginLoss": multilabelmarginloss_reference, "HingeEmbeddingLoss": hingeembeddingloss_reference,
    "SoftMarginLoss": softmarginloss_reference, "MultiMarginLoss": multimarginloss_reference, "CosineEmbeddingLoss": cosineembeddingloss_reference,
    "TripletMarginLoss": tripletmarginloss_reference, "MarginRankingLoss": marginrankingloss_reference, "CTCLoss": ctcloss_reference,
    "CrossEntropyLoss": cross_entropy_loss_reference}
