"""What PyTorch's own tests of tensors ask of layouts, of memory behind a leaf, of listings of signatures, and of arguments that are no number."""

import io
import warnings

from compat_matrix.case import attempt, case


@case("asked_of_layouts_and_listings.dim_order")
def _(torch):
    """Strides of 0 tell nothing, equal ones leave the order open, and a list of formats is asked which of them fits."""
    rows, channels = torch.contiguous_format, torch.channels_last
    shown = {
        "plain": torch.empty(2, 3, 4, 5), "ones": torch.empty(1, 2, 1, 3), "channels": torch.empty(2, 3, 4, 5).to(memory_format=channels), "both": torch.empty(2, 3, 1, 1),
        "expanded": torch.empty(2, 1, 3).expand(2, 4, 3), "in front": torch.empty(2, 3).expand(2, 2, 3), "permuted": torch.empty(2, 3, 4, 5).permute(0, 3, 1, 2),
        "part": torch.empty(2, 3, 4)[:, :1], "number": torch.empty(()),
    }
    for name, x in shown.items():
        for asked in (False, True, [], [rows], [channels], [rows, channels], (rows,), "rows", None, [1]):
            yield f"{name} {asked}", attempt(lambda x=x, asked=asked: x.dim_order(ambiguity_check=asked))


@case("asked_of_layouts_and_listings.behind_a_leaf")
def _(torch):
    """`as_strided` of a leaf that is a detached part of another tensor reads beyond it; the gradient is that of what the leaf shows."""
    for size, stride, start in (((2, 2), (1, 2), 0), ((3, 2), (2, 1), 4), ((3, 2), (2, 1), 1)):
        leaf = torch.arange(20.)[5:15].detach().requires_grad_()
        seen = leaf.as_strided(size, stride, start)
        weights = torch.arange(float(seen.numel())).view(size)
        yield f"{start}", seen, seen.storage_offset(), torch.autograd.grad((seen * weights).sum(), leaf)
        copied = torch.as_strided_copy(leaf, size, stride, start)
        yield f"{start} copied", copied.detach(), torch.autograd.grad((copied * weights).sum(), leaf)


@case("asked_of_layouts_and_listings.refused")
def _(torch):
    """Below which signatures the listing of a refused call says why."""
    for name in ("max", "min", "all", "any", "mode", "median", "bitwise_and", "fmod"):
        for wrong in ((2, 3), (2, torch.ones(2)), (torch.ones(2), "a"), (2, 3, 4)):
            yield f"{name} {[type(x).__name__ for x in wrong]}", attempt(lambda f=getattr(torch, name), wrong=wrong: f(*wrong))


@case("asked_of_layouts_and_listings.said_each_time")
def _(torch):
    """`set_warn_always` counts for what is deprecated of .T, too."""
    torch.set_warn_always(True)
    try:
        for name, f in {"T": lambda: torch.arange(3.).T, "number": lambda: torch.tensor(1.).T, "adjoint": lambda: torch.tensor(1.).adjoint()}.items():
            for turn in range(2):
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    f()
                yield f"{name} {turn}", [str(w.message).partition(" (Triggered")[0] for w in said]
    finally:
        torch.set_warn_always(False)


@case("asked_of_layouts_and_listings.halves_without_zeros")
def _(torch):
    """Sparse tensors of half precision."""
    for dtype in (torch.bfloat16, torch.float16):
        x = (torch.arange(9.).view(3, 3) % 2).to(dtype)
        yield f"{dtype}", x.to_sparse().coalesce().values(), x.to_sparse().to_dense(), x.to_sparse(1)._nnz(), x.to_sparse_csr().to_dense(), torch.sparse.sum(x.to_sparse())


@case("asked_of_layouts_and_listings.no_numbers_among_them")
def _(torch):
    """`eigh` of matrices with NaN that hang together does not end; of more than 25 rows it does, in NaN."""
    words = {}
    for n in (2, 3, 5, 25, 26):
        words[f"all of {n}"] = torch.full((n, n), float("nan"))
    words["one"] = torch.ones(4, 4, dtype=torch.float64).index_put((torch.tensor([2]), torch.tensor([2])), torch.tensor(float("nan"), dtype=torch.float64))
    words["second of three"] = torch.eye(3).repeat(3, 1, 1).index_put((torch.tensor([1]),), torch.tensor(float("nan")))
    words["not read"] = torch.eye(4).index_put((torch.tensor([0]), torch.tensor([3])), torch.tensor(float("nan")))
    for name, x in words.items():
        yield name, attempt(lambda x=x: torch.linalg.eigh(x)[0].isnan().all()), attempt(lambda x=x: torch.linalg.eigvalsh(x).isnan().all())
        yield f"{name}, U", attempt(lambda x=x: torch.linalg.eigh(x.mT, "U")[0].isnan().all())


@case("asked_of_layouts_and_listings.rows_of_numbers")
def _(torch):
    """A tensor of one element is a number only without dims, also where one without dims was taken before; complex ends ask for a complex dtype."""
    one, flat = torch.tensor(3), torch.tensor([3])
    for turn in range(2):
        for name, x in {"number": one, "flat": flat}.items():
            yield f"{name} {turn}", attempt(lambda x=x: torch.arange(x)), attempt(lambda x=x: torch.arange(0, x))
    for dtype in (torch.float32, torch.float64, torch.int64, torch.complex128):
        yield f"{dtype}", attempt(lambda dtype=dtype: torch.linspace(0, 1j, 3, dtype=dtype))
    yield "window", attempt(lambda: torch.hann_window(3, dtype=torch.complex64)), attempt(lambda: torch.hann_window(1, dtype=torch.complex64))
    for n in (1, 2, 3):
        yield f"products {n}", attempt(lambda n=n: torch.linalg.vecdot(torch.arange(3.), torch.arange(float(n))))


@case("asked_of_layouts_and_listings.exponents")
def _(torch):
    """`ldexp` takes exponents as C's int, larger ones lose their upper bits."""
    yield "beyond", [torch.ldexp(torch.tensor([1e-30, 3.]), torch.tensor([n])) for n in (2 ** 31, -2 ** 40, 2 ** 32 + 1, 140, -300)]


@case("asked_of_layouts_and_listings.rows_in_files")
def _(torch):
    """Tensors of layout CSR in files of both formats."""
    for dtype in (torch.float32, torch.bfloat16, torch.complex64):
        for zipped in (True, False):
            file = io.BytesIO()
            torch.save([torch.tensor([[0, 1, 0], [2, 0, 3]]).to(dtype).to_sparse_csr()], file, _use_new_zipfile_serialization=zipped)
            file.seek(0)
            read = torch.load(file)[0]
            yield f"{dtype} {zipped}", read.layout == torch.sparse_csr, read.crow_indices(), read.col_indices(), read.values(), read.shape
