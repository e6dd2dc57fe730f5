"""Masks that are functions of positions, and what is known of their blocks (for torch.nn.attention.flex_attention, layer 12)."""

from __future__ import annotations

from ... import _api as torch
from ... import func

__all__ = ["BlockMask", "and_masks", "create_block_mask", "create_mask", "noop_mask", "or_masks", "over_positions"]


def noop_mask(batch, head, token_q, token_kv):
    """True: everything is seen."""
    return batch.new_ones(size=(), dtype=torch.bool, device=batch.device)


def _joined(mask_mods, join, start):
    if not all(callable(m) for m in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def joined(b, h, q_idx, kv_idx):
        out = b.new_full((), start, dtype=torch.bool) if torch.is_tensor(b) else torch.tensor(start)
        for mask in mask_mods:
            out = join(out, mask(b, h, q_idx, kv_idx))
        return out

    return joined


def and_masks(*mask_mods):
    """The mask of what all of these allow; RuntimeError for what cannot be called."""
    return _joined(mask_mods, lambda a, b: a & b, True)


def or_masks(*mask_mods):
    """The mask of what one of these allows; RuntimeError for what cannot be called."""
    return _joined(mask_mods, lambda a, b: a | b, False)


def over_positions(fn, shape, scores, device):
    """``fn(score, b, h, q, k)`` at all positions of a shape of four dims; ``fn(b, h, q, k)`` without `scores`."""
    given = () if scores is None else (0,)
    for places in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        fn = func.vmap(fn, in_dims=(*given, *places))
    grids = [torch.arange(n, device=device) for n in shape]
    return fn(*grids) if scores is None else fn(scores, *grids)


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The mask (B, H, Q_LEN, KV_LEN) of a function of positions, None for B or H counting as 1; for one that changes scores, what it makes of zeros."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    if mod_fn.__code__.co_argcount == 5:
        out = over_positions(mod_fn, shape, torch.zeros(shape, device=device), device)
        return torch.where(torch.isneginf(out), False, True)
    return over_positions(mod_fn, shape, None, device)


def _pair(size):
    return (size, size) if isinstance(size, int) else tuple(size)


def _ordered(dense):
    """(how many blocks of each row are there, their numbers first) of a mask of blocks."""
    dense = dense.to(torch.int32)
    return dense.sum(-1).to(torch.int32), torch.argsort(dense, dim=-1, descending=True, stable=True).to(torch.int32)


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128, _compile=False, separate_full_blocks=True,
                      compute_dq_write_order=False, dq_kv_order=True):
    """The `BlockMask` of a function of positions: which blocks of BLOCK_SIZE rows and columns it allows in part, and which wholly.

    TypeError for what cannot be called; NotImplementedError for an order of writes, which no kernel here has.
    """
    if not callable(mask_mod):
        raise TypeError(f"{mask_mod!r} is not a callable object")
    if compute_dq_write_order:
        raise NotImplementedError("torch.nn.attention.flex_attention.create_block_mask: there is no kernel here that writes in an order")
    rows, columns = _pair(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    mask = torch.nn.functional.pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    b, h, L, S = mask.shape
    counted = mask.reshape(b, h, L // rows, rows, S // columns, columns).sum(dim=(-3, -1))
    full = counted == rows * columns
    partial = (counted > 0) & ~full if separate_full_blocks else counted > 0
    return BlockMask.from_kv_blocks(*_ordered(partial), *(_ordered(full) if separate_full_blocks else (None, None)), BLOCK_SIZE=(rows, columns),
                                    mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN))


def _dense(count, indices, columns):
    """The mask of blocks of how many there are in each row and which."""
    present = torch.arange(indices.shape[-1], device=indices.device) < count.unsqueeze(-1)
    out = torch.zeros((*indices.shape[:-1], columns + 1), dtype=torch.int32, device=indices.device)
    return out.scatter(-1, torch.where(present, indices, columns).to(torch.int64), 1)[..., :columns]


class BlockMask:
    """Which blocks of a mask hold anything: for each row of blocks how many and which (`kv_num_blocks`, `kv_indices`), the same for blocks that are seen
    wholly (`full_...`), and by columns (`q_...`); `mask_mod` decides within blocks."""

    _TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")

    def __init__(self, seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, q_num_blocks, q_indices, full_q_num_blocks, full_q_indices,
                 BLOCK_SIZE=(128, 128), mask_mod=noop_mask):
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices = kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices, self.full_q_num_blocks, self.full_q_indices = q_num_blocks, q_indices, full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(cls, kv_num_blocks, kv_indices, full_kv_num_blocks=None, full_kv_indices=None, BLOCK_SIZE=128, mask_mod=None, seq_lengths=None,
                       compute_q_blocks=True):
        """A mask from what is known by rows; what is known by columns follows from it."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        size = _pair(BLOCK_SIZE)
        turned = [None] * 4
        if compute_q_blocks:
            columns = kv_indices.shape[-1]
            turned[:2] = _ordered(_dense(kv_num_blocks, kv_indices, columns).transpose(-2, -1))
            if full_kv_indices is not None:
                turned[2:] = _ordered(_dense(full_kv_num_blocks, full_kv_indices, columns).transpose(-2, -1))
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        return cls(seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *turned, BLOCK_SIZE=size,
                   mask_mod=noop_mask if mask_mod is None else mask_mod)

    def as_tuple(self, flatten=True):
        """Lengths, tensors, block size (two numbers apart where `flatten`) and function."""
        head, tail = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*head, *(getattr(self, n) for n in self._TENSORS), *tail, self.mask_mod)

    @property
    def shape(self):
        """(B, H, rows, columns) of the mask that is meant."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def __getitem__(self, index):
        """The mask of some of the batches, heads and rows of blocks; its function stays that of the whole mask."""
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in index)  # dims stay
        kept = {n: x if x is None else x[index] for n, x in ((n, getattr(self, n)) for n in self._TENSORS[:4])}
        return BlockMask.from_kv_blocks(**kept, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=None, seq_lengths=self.seq_lengths)

    def _adjust(self, new_q_len: int, new_kv_len: int):
        """The upper left corner of the mask; its function stays."""
        rows, columns = -(-new_q_len // self.BLOCK_SIZE[0]), -(-new_kv_len // self.BLOCK_SIZE[1])

        def corner(count, indices):
            return (None, None) if count is None else _ordered(_dense(count, indices, indices.shape[-1])[..., :rows, :columns])

        return BlockMask.from_kv_blocks(*corner(self.kv_num_blocks, self.kv_indices), *corner(self.full_kv_num_blocks, self.full_kv_indices),
                                        BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod, seq_lengths=(new_q_len, new_kv_len))

    def numel(self) -> int:
        """How many entries the mask has."""
        n = 1
        for d in self.shape:
            n *= d
        return n

    def to_dense(self):
        """The blocks that hold anything, int32, by rows and columns of blocks."""
        out = _dense(self.kv_num_blocks, self.kv_indices, self.kv_indices.shape[-1])
        if self.full_kv_num_blocks is not None:
            out = out | _dense(self.full_kv_num_blocks, self.full_kv_indices, self.full_kv_indices.shape[-1])
        return out

    def allows(self, rows, columns, device):
        """The mask (B, H, rows, columns): blocks seen wholly, and of the others that are there what the function says."""

        def spread(count, indices):
            blocks = _dense(count, indices, indices.shape[-1]).to(torch.bool)
            return blocks.repeat_interleave(self.BLOCK_SIZE[0], dim=-2).repeat_interleave(self.BLOCK_SIZE[1], dim=-1)[..., :rows, :columns]

        said = over_positions(self.mask_mod, (*self.kv_num_blocks.shape[:2], rows, columns), None, device)
        out = spread(self.kv_num_blocks, self.kv_indices) & said
        return out if self.full_kv_num_blocks is None else out | spread(self.full_kv_num_blocks, self.full_kv_indices)

    def sparsity(self) -> float:
        """The percentage of entries in blocks that hold nothing."""
        blocks = int(self.kv_num_blocks.sum()) + (0 if self.full_kv_num_blocks is None else int(self.full_kv_num_blocks.sum()))
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to(self, device):
        """The same on another device."""
        new = [x if x is None else x.to(device) for x in (getattr(self, n) for n in self._TENSORS)]
        return BlockMask(self.seq_lengths, *new, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)

    def __repr__(self):
        shapes = [f"    {n}={None if x is None else x.shape},\n" for n, x in ((n, getattr(self, n)) for n in self._TENSORS)]
        return (f"BlockMask(\n{''.join(shapes)}    BLOCK_SIZE={self.BLOCK_SIZE},\n    shape={self.shape},\n    sparsity={self.sparsity():.2f}%,\n"
                f"    mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}\n)")

    __str__ = __repr__
