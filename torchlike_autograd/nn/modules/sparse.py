"""torch.nn.modules.sparse (layer 8): tables of vectors."""

from __future__ import annotations

from ..._functions.create import empty
from ...autograd.grad_mode import no_grad
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


def _checked_padding(padding_idx, num_embeddings, said="Padding_idx"):
    """The row that gets no gradient, counted from the front."""
    if padding_idx is None:
        return None
    if (padding_idx > 0 and padding_idx >= num_embeddings) or padding_idx < -num_embeddings:
        raise AssertionError(f"{said} must be within num_embeddings")
    return padding_idx if padding_idx >= 0 else num_embeddings + padding_idx


class _Table(Module):
    """What both tables have: the weight, and a row for padding."""

    def reset_parameters(self):
        """Normal values; zeros for padding."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


def _make_weight(table, shape, given, freeze, device, dtype):
    if given is None:
        table.weight = Parameter(empty(shape, device=device, dtype=dtype), requires_grad=not freeze)
        table.reset_parameters()
    else:
        if list(given.shape) != list(shape):
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        table.weight = Parameter(given, requires_grad=not freeze)


class Embedding(_Table):
    """Rows of a table by their indices."""

    __constants__ = ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"]

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False,
                 _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _checked_padding(padding_idx, num_embeddings)
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        _make_weight(self, (num_embeddings, embedding_dim), _weight, _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)

    def extra_repr(self):
        said = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            said += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            said += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            said += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            said += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return said + (", sparse=True" if self.sparse is not False else "")

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
        """A table of given vectors."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        return cls(num_embeddings=rows, embedding_dim=cols, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx, max_norm=max_norm,
                   norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


class EmbeddingBag(_Table):
    """Sums, means or maxima over bags of rows."""

    __constants__ = ["num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse", "include_last_offset",
                     "padding_idx"]

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
                 _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.padding_idx = _checked_padding(padding_idx, num_embeddings, "padding_idx")
        _make_weight(self, (num_embeddings, embedding_dim), _weight, False, device, dtype)
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
                               per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        said = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            said += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            said += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            said += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        said += f", mode={self.mode!r}"
        return said + (f", padding_idx={self.padding_idx}" if self.padding_idx is not None else "")

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
                        include_last_offset=False, padding_idx=None):
        """A table of given vectors."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        out = cls(num_embeddings=rows, embedding_dim=cols, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
                  scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse, include_last_offset=include_last_offset, padding_idx=padding_idx)
        out.weight.requires_grad = not freeze
        return out
