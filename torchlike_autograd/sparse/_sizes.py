"""Sparse tensors of another size (layer 8): `Tensor.new` of one, and the `resize` family."""

from __future__ import annotations

from .._core import dtypes, words
from .._core.errors import expected_options
from .._core.size import Size
from .._functions.legacy import _is_size, _sizes
from .._tensor import Tensor
from ._calls import PUBLIC, _become
from ._members import answers
from ._tensor import coo, is_sparse, made, nothing, places, refused

_OPTIONS = ("(*, torch.device device = None)", "(Tensor indices, Tensor values, *, torch.device device = None)",
            "(Tensor indices, Tensor values, tuple of ints size, *, torch.device device = None)", "(tuple of ints size, *, torch.device device = None)")


@answers("new")
def _new(s, *args, size=None, device=None):
    """The legacy constructor with the dtype of a sparse tensor: of nothing, of a size, or of indices and values (which keep their dtype)."""
    if not is_sparse(s):
        want = str(expected_options(Tensor.dtype.__get__(s), Tensor.dtype.__get__(args[0])))
        raise TypeError("Sparse".join(want.rsplit("Strided", 1)))
    if places(s).layout != "sparse_coo":
        raise RuntimeError("Cannot map DispatchKey SparseCsrCPU to a unique layout.")
    dtype = Tensor.dtype.__get__(s)
    if size is not None and not args:
        return nothing(_sizes(size), dtype, device)
    if not args:
        return nothing((0,), dtype, device)
    if all(_is_size(a) for a in args) or (len(args) == 1 and type(args[0]).__name__ == "Size"):
        return nothing(_sizes(args if _is_size(args[0]) else args[0]), dtype, device)
    if len(args) in (2, 3) and all(isinstance(a, Tensor) and not is_sparse(a) for a in args[:2]):
        if args[0].dtype is not dtypes.int64:
            raise RuntimeError(f"expected scalar type Long but found {args[0].dtype.char_name}")
        return coo(args[0], args[1], args[2] if len(args) == 3 else size, device=device)
    if len(args) == 1 and isinstance(args[0], (list, tuple)) and args[0] and all(_is_size(n) for n in args[0]):
        raise TypeError("SparseTensor.new(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided tensor and convert it to "
                        "sparse via to_sparse.")
    raise words.complaint("new", True, [words.Signature(o) for o in _OPTIONS], args, {}) or TypeError("new() received an invalid combination of arguments")


@answers("sparse_resize_and_clear_")
def _resize_and_clear_(s, size, sparse_dim, dense_dim):
    _fits(size, sparse_dim, dense_dim)
    return _become(s, nothing(size, Tensor.dtype.__get__(s), dense=dense_dim))


@answers("sparse_resize_")
def _resize_(s, size, sparse_dim, dense_dim):
    _fits(size, sparse_dim, dense_dim)
    at, held = places(s), Tensor.shape.__get__(s)
    if not held[0]:
        return _resize_and_clear_(s, size, sparse_dim, dense_dim)
    own, dense = len(at.own), list(held)[1:]
    for kind, before, after in (("sparse", own, sparse_dim), ("dense", len(dense), dense_dim)):
        if before != after:
            raise _not_so(f"changing the number of {kind} dimensions (from {before} to {after})")
    for kind, before, after in (("sparse", list(at.own), list(size)[:own]), ("dense", dense, list(size)[own:])):
        if any(a < b for a, b in zip(after, before, strict=True)):
            raise _not_so(f"shrinking the size of {kind} dimensions (from {before} to {after})")
    widened = [n for a, b in zip(reversed(list(size)[own:]), reversed(dense), strict=True) for n in (0, a - b)]
    values = PUBLIC["torch.nn.functional.pad"](Tensor.detach(s), widened) if any(widened) else Tensor.detach(s)
    return _become(s, made(values, at._replace(size=Size(size))))


@answers("resize_as_", "resize_as_sparse_")
def _resize_as_(s, other, **kwargs):
    if not is_sparse(s) or not is_sparse(other):
        raise refused(Tensor.resize_)
    at = places(other)
    return s if places(s).size == at.size and len(places(s).own) == len(at.own) else _resize_(s, at.size, len(at.own), len(at.size) - len(at.own))


def _fits(size, sparse_dim, dense_dim):
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError("'len(size) == sparse_dim + dense_dim' is not satisfied: "
                           f"len(size) = {len(size)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}")


def _not_so(what):
    return RuntimeError(
        f"{what} on a non-empty sparse tensor is not supported.\nYou could try the following options:\n"
        "1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.\n"
        "2. If you need to resize this tensor, you have the following options:\n"
        "    1. For both sparse and dense dimensions, keep the number of them constant and the size of them non-shrinking, and then try the same call again.\n"
        "    2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor.")
