"""What a dense tensor of the host says to members for other layouts, quantized numbers and other devices; names that were removed."""

from compat_matrix.case import attempt, case
from compat_matrix.cases.nn.script import script


def first(f):
    """The class and first sentence of an error whose text goes on with what a build of torch can do."""
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e).partition(" This could be because")[0]


@case("everyday.elsewhere.parts")
def _(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for i, f in enumerate((torch.Tensor.coalesce, torch.Tensor.is_coalesced, torch.Tensor.indices, torch.Tensor.values, torch.Tensor.crow_indices, torch.Tensor.col_indices,
              torch.Tensor.ccol_indices, torch.Tensor.row_indices, torch.values_copy, torch.indices_copy, torch.crow_indices_copy, torch.col_indices_copy,
              torch.ccol_indices_copy, torch.row_indices_copy)):
        yield f"no such part {i}", attempt(lambda f=f: f(x))
    for i, f in enumerate((torch.Tensor.int_repr, torch.Tensor.q_scale, torch.Tensor.q_zero_point, torch.Tensor.q_per_channel_axis, torch.Tensor.q_per_channel_scales,
              torch.Tensor.q_per_channel_zero_points, torch.Tensor.qscheme, torch.int_repr, torch.q_scale, torch.q_zero_point, torch.q_per_channel_axis,
              torch.q_per_channel_scales, torch.q_per_channel_zero_points)):
        yield f"not quantized {i}", first(lambda f=f: f(x))


@case("everyday.elsewhere.operations")
def _(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    calls = {"sparse_mask": lambda: x.sparse_mask(x), "resize_as_sparse_": lambda: x.resize_as_sparse_(x), "torch.resize_as_sparse_": lambda: torch.resize_as_sparse_(x, x),
             "sparse_resize_": lambda: x.sparse_resize_((2, 2), 1, 1), "and clear": lambda: x.sparse_resize_and_clear_((2, 2), 1, 1),
             "to_padded_tensor": lambda: x.to_padded_tensor(0.0), "smm": lambda: x.smm(x), "torch.smm": lambda: torch.smm(x, x), "sspaddmm": lambda: x.sspaddmm(x, x),
             "torch.sspaddmm": lambda: torch.sspaddmm(x, x, x), "smm of 3": lambda: x.smm(3), "mask of 3": lambda: x.sparse_mask(3), "padding": lambda: x.to_padded_tensor("a"),
             "stream": lambda: x.record_stream(3)}
    for name, f in calls.items():
        yield name, first(f)


script("everyday.elsewhere.to_dense", """
x, y = torch.tensor([[1., 2.], [3., 4.]]), torch.ones(2, requires_grad=True)
look('itself', lambda: (x.to_dense() is x, y.to_dense() is y, x.to_dense(masked_grad=True) is x, x.to_dense(dtype=torch.float32) is x))
look('another dtype', lambda: (x.to_dense(torch.float64), torch.autograd.grad(y.to_dense(torch.float64).sum(), y)))
look('no dtype', lambda: x.to_dense(3))
look('dequantize', lambda: (x.dequantize() is x, torch.tensor([1, 2]).dequantize(), x.double().dequantize()))
look('no derivative', lambda: (y.dequantize().requires_grad, y.double().dequantize().dtype))
look('flags', lambda: (x.is_ipu, x.is_maia, x.is_mtia, x.is_vulkan, x.is_distributed(), torch.is_distributed(x), x.is_shared(), x.const_data_ptr() == x.data_ptr()))
look('ipu', lambda: x.ipu())
look('xpu', lambda: x.xpu())
look('mtia', lambda: x.mtia())
""")

script("everyday.elsewhere.removed", """
x = torch.eye(2)
look('eig', lambda: x.eig())
look('eig', lambda: torch.eig(x, True))
look('symeig', lambda: x.symeig(eigenvectors=True))
look('symeig', lambda: torch.symeig(x))
look('lstsq', lambda: x.lstsq(x))
look('lstsq', lambda: torch.lstsq(x, x))
look('solve', lambda: x.solve(x))
look('solve', lambda: torch.solve(x, x))
look('matrix_rank', lambda: torch.matrix_rank(x, 1e-3, True))
look('reinforce', lambda: x.reinforce(1))
""")

script("everyday.elsewhere.resize", """
x, y = torch.arange(4.).reshape(2, 2), torch.tensor([1., 2.], requires_grad=True)
look('values', lambda: (x.resize(4), x.resize_as(torch.ones(4)), x.t().resize(4)))
for sizes in ((5,), (), ((4,),), ([2, 2],)):
    look('refused', lambda: x.resize(*sizes))
look('refused', lambda: x.resize_as(torch.ones(3)))
look('memory', lambda: (x.resize(4).zero_(), x))
look('gradient', lambda: (r := (y * 2).resize(2, 1), r.grad_fn.name(), torch.autograd.grad((r * torch.tensor([[3.], [4.]])).sum(), y)))
look('leaf', lambda: (y.resize(2).requires_grad, y.resize_as(torch.ones(2, 1)).shape))
""")

script("everyday.elsewhere.module_load", """
p, x = nn.Parameter(torch.ones(2)), torch.zeros(2)
with torch.no_grad():
    look('copied', lambda: (p.module_load(torch.tensor([3., 4.])), p))
    look('cast', lambda: p.module_load(torch.tensor([5, 6])))
    look('shape', lambda: p.module_load(torch.ones(3)))
look('leaf', lambda: p.module_load(x))
look('assigned', lambda: (r := p.module_load(x, assign=True), type(r).__name__, r.requires_grad, r.data_ptr() == x.data_ptr()))
look('requires grad', lambda: (r := x.module_load(torch.ones(2, requires_grad=True)), r.requires_grad))
""")

script("everyday.elsewhere.hash_tensor", """
H, x, i = torch.hash_tensor, torch.tensor([[1.5, 2.], [-3., 4.25]]), torch.tensor([[1, 2], [4, -9]])
look('values', lambda: [str(t) for t in (H(x), H(i), x.hash_tensor(), H(x, 1, keepdim=True), i.hash_tensor(dim=[0, 1]), H(i, 0), H(torch.tensor([True, False])), H(torch.tensor(1.5)),
                        H(torch.tensor([1.5, 2.5]).half()), H(torch.tensor([0.1, 3])), H(torch.tensor([200, 3], dtype=torch.uint8)), H(torch.tensor(-0.0)), H(torch.zeros(0, 2), 1))])
look('mode', lambda: H(x, mode=1))
look('mode', lambda: H(x, mode='a'))
look('dim', lambda: x.hash_tensor(5))
look('dim', lambda: x.hash_tensor((0, 0)))
look('empty', lambda: H(torch.tensor([])))
look('empty dim', lambda: H(torch.zeros(0, 2), 0))
look('complex', lambda: H(torch.tensor([1 + 2j])))
""")
