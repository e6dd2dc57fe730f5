"""torch.nn.modules.adaptive (layer 8)."""

from __future__ import annotations

import itertools
from collections import namedtuple

from ..._core.composite import named
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax over many classes: frequent ones in the head, rare ones in clusters with smaller projections."""

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or len(set(cutoffs)) != len(cutoffs)
                or any(int(c) != c for c in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between "
                             "1 and n_classes-1")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        made = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, hidden, bias=False, **made), Linear(hidden, size, bias=False, **made)))

    def reset_parameters(self):
        """New values for all projections."""
        self.head.reset_parameters()
        for projection, output in self.tail:
            projection.reset_parameters()
            output.reset_parameters()

    def forward(self, input_, target_):
        """(log probabilities of the targets, their negative mean)."""
        single = target_.dim() == 0
        if not single and target_.dim() != 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if not single and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != (1 if single else 2):
            raise RuntimeError("1D target tensor expects 2D input tensors, but found inputs with size" if not single else
                               "0D target tensor expects 1D input tensors, but found inputs with size", input_.size())
        input = input_.unsqueeze(0) if single else input_
        target = target_.unsqueeze(0) if single else target_
        if target.numel() and (int(target.min()) < 0 or int(target.max()) >= self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, {target.max().item()}] "
                               "were found. ")
        head = F.log_softmax(self.head(input), dim=1)
        output, column = input.new_zeros(target.size(0)), target.new_empty(target.size(0))
        bounds = [0, *self.cutoffs]
        for i, (low, high) in enumerate(itertools.pairwise(bounds)):
            mask = (target >= low) & (target < high)
            rows = mask.nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            if i == 0:
                column.index_copy_(0, rows, target[mask])
                continue
            inside = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            column.index_fill_(0, rows, self.shortlist_size + i - 1)
            output.index_copy_(0, rows, inside.gather(1, (target[mask] - low).unsqueeze(1)).squeeze(1))
        output += head.gather(1, column.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _get_full_log_prob(self, input, head_output):
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, :self.shortlist_size]]
        for i in range(self.n_clusters):
            place = self.shortlist_size + i
            parts.append(F.log_softmax(self.tail[i](input), dim=1) + head[:, place:place + 1])
        return named("cat")(parts, 1)

    def log_prob(self, input):
        """Log probabilities of all classes, (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The most probable class of each row."""
        head = self.head(input)
        best = head.argmax(dim=1)
        if bool((best < self.shortlist_size).all()):
            return best
        return self._get_full_log_prob(input, head).argmax(dim=1)
