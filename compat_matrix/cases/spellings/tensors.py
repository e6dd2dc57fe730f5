"""Methods of Tensor."""

from compat_matrix.case import case
from compat_matrix.probes import each, probe

M = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]
V = [0.5, -1.5, 2.0]
INTS = [3, 1, 2, 1]

DIFFERENTIABLE = {  # of m (a matrix) and v (a vector)
    "corrcoef": "m.corrcoef()", "cross": "v.cross(m[0], dim=0)", "diagflat": "v.diagflat(1)", "fliplr": "m.fliplr()", "flipud": "m.flipud()", "float_power": "(v * v).float_power(1.5)",
    "ger": "v.ger(m[1])", "inner": "v.inner(m[1])", "matrix_power": "m.matrix_power(3)", "moveaxis": "m.reshape(3, 1, 3).moveaxis(0, -1)", "narrow_copy": "m.narrow_copy(0, 1, 2)",
    "outer": "v.outer(m[2])", "prelu": "v.prelu(m[0, :1])", "qr": "m.qr()", "slogdet": "m.slogdet()", "svd": "m.svd()[1]", "swapdims": "m.swapdims(0, 1)",
    "take_along_dim": "m.take_along_dim(torch.tensor([[0, 2], [1, 1], [2, 0]]), 1)", "lu_solve": "m[:, :1].lu_solve(*torch.linalg.lu_factor(m.detach()))", "conj_physical": "v.conj_physical()",
    "resolve_neg": "v.resolve_neg()", "adjoint": "m.adjoint()", "as_strided_": "v.clone().as_strided_((2,), (2,))", "conj_physical_": "v.clone().conj_physical_()",
    "fill_diagonal_": "m.clone().fill_diagonal_(7.0)", "float_power_": "(v * v).float_power_(2)", "swapdims_": "m.clone().swapdims_(0, 1)", "chunk": "m.chunk(2, 1)",
    "tensor_split": "m.tensor_split(2)", "unflatten": "v.unflatten(0, (1, 3))"}

FACTS = {
    "allclose": "v.detach().allclose(v.detach() + 1e-9), v.detach().allclose(v.detach() + 1.0)", "bincount": "i.bincount(), i.bincount(minlength=6)", "dim_order": "m.dim_order(), m.t().dim_order()",
    "equal": "v.equal(v), v.equal(v + 1)", "is_cpu": "v.is_cpu", "is_meta": "v.is_meta", "is_mkldnn": "v.is_mkldnn", "is_mps": "v.is_mps", "is_neg": "v.is_neg()", "is_nested": "v.is_nested",
    "is_xla": "v.is_xla", "is_xpu": "v.is_xpu", "nonzero_static": "i.nonzero_static(size=5)", "new": "v.new([1.0, 2.0]).tolist(), v.new(2, 3).shape", "sparse_dim": "v.sparse_dim()",
    "bernoulli": "torch.full((4,), 0.5).bernoulli(), v.detach().bernoulli(0.5)", "multinomial": "torch.tensor([0.1, 0.7, 0.2]).multinomial(2)",
    "resize_as_": "torch.zeros(3, dtype=torch.float64).resize_as_(m.detach()[:1]).shape", "is_signed": "v.is_signed(), i.to(torch.uint8).is_signed()", "is_same_size": "v.is_same_size(m[0]), v.is_same_size(m)"}

each("spellings.tensor", lambda torch, expression: probe(torch, expression, m=M, v=V), DIFFERENTIABLE)


def fact(torch, expression):
    m, v, i = torch.tensor(M, dtype=torch.float64, requires_grad=True), torch.tensor(V, dtype=torch.float64, requires_grad=True), torch.tensor(INTS)
    yield "facts", eval(expression, {"torch": torch, "m": m, "v": v, "i": i})


each("spellings.tensor_facts", fact, FACTS)


@case("spellings.dtypes")
def _(torch):
    for name in ("float32", "float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool", "complex64", "complex128"):
        d = getattr(torch, name)
        yield name, d.is_complex, d.is_floating_point, d.is_signed, d.itemsize
    yield "pairs", torch.float32.to_complex(), torch.complex128.to_real()


@case("spellings.typed")
def _(torch):
    for name in ("ByteTensor", "CharTensor", "ShortTensor", "HalfTensor", "BFloat16Tensor"):
        made = getattr(torch, name)([1, 2])
        yield name, made, isinstance(made, getattr(torch, name)), made.type()
