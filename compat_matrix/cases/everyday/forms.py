"""Forms of calls that few programs use: parameters by torch's own names, by their place, `out=`, other overloads; and what refuses them."""

from compat_matrix.cases.nn.script import script

START = """
x = torch.arange(1., 13.).reshape(1, 1, 3, 4)
y = torch.tensor([1., -2., 3.])
def out(label, f, dtype=torch.float32):
    o = torch.empty(0, dtype=dtype)
    look(label, lambda: (f(o), o))
"""

script("everyday.forms.out", START + """
out('narrow_copy', lambda o: torch.narrow_copy(y, 0, 1, 1, out=o))
out('linear', lambda o: F.linear(torch.ones(2), torch.ones(3, 2), out=o))
out('linear', lambda o: F.linear(torch.ones(2, 2), torch.ones(3, 2), torch.ones(3), out=o))
out('nonzero_static', lambda o: torch.nonzero_static(y, size=2, out=o), torch.int64)
out('nuclear_norm', lambda o: torch.nuclear_norm(torch.eye(2), out=o))
out('nuclear_norm', lambda o: torch.nuclear_norm(torch.eye(2), (0, 1), out=o))
out('select_copy', lambda o: torch.select_copy(y, 0, 1, out=o))
out('slice_copy', lambda o: torch.slice_copy(y, 0, 1, out=o))
out('slice_scatter', lambda o: torch.slice_scatter(y, torch.ones(1), 0, 1, 2, out=o))
out('orgqr', lambda o: torch.orgqr(torch.eye(2), torch.ones(2), out=o))
g = torch.ones(3, requires_grad=True)
look('needs no grad', lambda: torch.narrow_copy(g, 0, 1, 1, out=torch.empty(0)))
look('needs no grad', lambda: F.linear(g, torch.ones(2, 3), out=torch.empty(0)))
""")

script("everyday.forms.parts", START + """
def parts(f, *sizes):
    o = [torch.empty(s) for s in sizes]
    return f(o), o
look('split', lambda: (parts(lambda o: torch.split_copy(y, 2, out=o), 2, 1), torch.split_copy(y, 2), torch.split_copy(x[0, 0], 2, dim=1)))
look('sizes', lambda: (parts(lambda o: torch.split_with_sizes_copy(y, [2, 1], out=o), 0, 0), torch.split_with_sizes_copy(y, [1, 2])))
look('unbind', lambda: (parts(lambda o: torch.unbind_copy(y, out=o), 0, 0, 0), torch.unbind_copy(x[0, 0], 1)))
look('too few', lambda: torch.split_copy(y, 2, out=[torch.empty(2)]))
look('too few', lambda: torch.split_with_sizes_copy(y, [2, 1], out=[torch.empty(0)]))
look('too few', lambda: torch.unbind_copy(y, out=[torch.empty(0)]))
look('one', lambda: torch.unbind_copy(y, out=torch.empty(0)))
z = y.clone().requires_grad_()
look('gradient', lambda: ([t.grad_fn.name() for t in torch.split_copy(z, 2)], torch.autograd.grad(sum((i + 1) * t.sum() for i, t in enumerate(torch.unbind_copy(z * z))), z)))
""")

script("everyday.forms.no out", START + """
I = torch.tensor([1, 2])
for f, args in ((torch.bincount, (I,)), (torch.celu, (y,)), (torch.clone, (y,)), (torch.diag_embed, (y,)), (torch.dist, (y, y)), (torch.isinf, (y,)), (torch.isnan, (y,)),
                (torch.poisson, (y.abs(),)), (torch.relu, (y,)), (torch.rot90, (x[0, 0],)), (torch.select_scatter, (y, torch.tensor(3.), 0, 1)), (torch.trace, (torch.eye(2),)),
                (torch.index_put, (y, (torch.tensor([0]),), torch.tensor([5.]))), (torch.linalg.matrix_exp, (torch.eye(2),)), (torch.flip, (y, (0,))), (torch.roll, (y, 1)),
                (torch.masked_scatter, (y, y > 0, y)), (torch.diagonal_scatter, (torch.eye(2), torch.ones(2)))):
    look('refused', lambda: f(*args, out=torch.empty(0)))
look('values', lambda: (torch.index_put(y, (torch.tensor([0]),), torch.tensor([5.])), torch.index_put(y, (torch.tensor([0, 0]),), torch.ones(2), accumulate=True)))
look('values', lambda: (torch.select_scatter(y, torch.tensor(3.), 0, 1), torch.select_scatter(input=y, src=torch.tensor(3.), dim=0, index=-1)))
""")

script("everyday.forms.names", START + """
look('avg_pool', lambda: (F.avg_pool2d(x, 2, None), F.avg_pool2d(x, 2, stride=None), F.avg_pool3d(x, 1, None), torch.avg_pool1d(x[0], 2, stride=None)))
look('one_hot', lambda: F.one_hot(input=torch.tensor([1]), num_classes=2))
look('one_hot', lambda: F.one_hot(tensor=torch.tensor([1])))
look('norms', lambda: (torch.linalg.matrix_norm(input=torch.eye(2)), torch.linalg.norm(input=torch.eye(2), ord='nuc'), torch.linalg.matrix_exp(input=torch.eye(2))))
look('norms', lambda: torch.linalg.norm(A=torch.eye(2)))
look('copy_', lambda: torch.zeros(3).copy_(other=y))
look('copy_', lambda: torch.zeros(3).copy_(y, non_blocking=True))
look('isin', lambda: (torch.isin(element=1, test_elements=torch.tensor([1])), torch.isin(elements=torch.tensor([1]), test_element=1), torch.isin(1, torch.tensor([2]))))
look('orgqr', lambda: (torch.orgqr(input=torch.eye(2), input2=torch.ones(2)), torch.eye(2).orgqr(input2=torch.ones(2))))
look('orgqr', lambda: torch.orgqr(torch.eye(2), tau=torch.zeros(2)))
look('fork_rng', lambda: type(torch.random.fork_rng(device_type='cuda')).__name__)
look('new_empty_strided', lambda: (y.new_empty_strided((2, 2), (1, 2)).stride(), y.new_empty_strided((2, 2), (1, 2), dtype=torch.float64, device='cpu').dtype))
""")

script("everyday.forms.repeat_interleave", START + """
look('counts', lambda: (torch.repeat_interleave(repeats=torch.tensor([1, 2])), torch.repeat_interleave(torch.tensor([1, 2]), output_size=3)))
look('wrong size', lambda: torch.repeat_interleave(torch.tensor([1, 2]), output_size=4))
look('entries', lambda: (torch.repeat_interleave(input=y, repeats=2), torch.repeat_interleave(y, torch.tensor([1, 0, 2])), torch.repeat_interleave(x[0, 0], 2, dim=1)))
look('nothing', lambda: torch.repeat_interleave())
z = y.clone().requires_grad_()
look('gradient', lambda: torch.autograd.grad((torch.repeat_interleave(z, torch.tensor([1, 0, 2])) * torch.tensor([1., 2., 3.])).sum(), z))
""")

script("everyday.forms.result_type", START + """
T, i = torch.result_type, torch.tensor([1])
look('values', lambda: (T(y, i), T(i, 1.5), T(1, i), T(1, 2.5), T(1, 1), T(True, i), T(i, 1j), T(y.double(), torch.tensor(1.))))
look('names', lambda: (T(tensor=y, other=1), T(scalar=1, tensor=y), T(scalar1=1, scalar2=1.), T(y, other=i)))
look('refused', lambda: T(tensor=1, other=1))
look('refused', lambda: T(y))
""")

script("everyday.forms.trapezoid", START + """
m = torch.tensor([[1., 2., 4.], [3., 1., 0.]])
for f in (torch.trapezoid, torch.trapz, torch.cumulative_trapezoid):
    look('values', lambda: (f(y), f(y, dx=2), f(y, torch.tensor([0., 1., 3.])), f(y=y, x=y), f(m, dim=0), f(m, torch.tensor([0., 1., 3.]), dim=1), f(m, m * m, dim=-1)))
    look('refused', lambda: f(y, dx=None))
    look('refused', lambda: f(y, y, dx=2))
    look('refused', lambda: f(y, 2.))
    z = y.clone().requires_grad_()
    look('gradient', lambda: torch.autograd.grad(f(z * z, torch.tensor([0., 1., 3.])).sum(), z))
""")

script("everyday.forms.subtract", START + """
z = y.clone().requires_grad_()
for f in (torch.subtract, torch.sub):
    look('values', lambda: (f(y, y, alpha=2), f(y, 1, 2), f(y, 1.5, alpha=2), f(1, y)))
    look('tensors', lambda: f(y, y, 2))
    look('gradient', lambda: (f(z, 3, 2).grad_fn.name(), torch.autograd.grad(f(z, 3, 2).sum(), z)))
look('method', lambda: (y.subtract(1, 2), y.clone().subtract_(1, 2), y.sub(1, 2), y.clone().sub_(1, 2)))
look('tensors', lambda: y.subtract(y, 2))
look('twin', lambda: (w := z * 1, w.subtract_(1, 2).grad_fn.name(), torch.autograd.grad(w.sum(), z)))
look('dtype', lambda: (torch.subtract(torch.tensor([1, 2]), 1, 2), torch.subtract(torch.tensor([1, 2]), 1.5, 2)))
look('twin dtype', lambda: torch.tensor([1, 2]).subtract_(1.5, 2))
look('bool', lambda: torch.subtract(torch.tensor([True]), True, 1))
""")

script("everyday.forms.set_num_threads", """
n = torch.get_num_threads()
look('refused', lambda: torch.set_num_threads(int=1))
for v in (0, 'a', True, 1.5):
    look('refused', lambda: torch.set_num_threads(v))
look('refused', lambda: torch.set_num_threads(1, 2))
look('refused', lambda: torch.set_num_threads())
look('told', lambda: (torch.set_num_threads(1), torch.get_num_threads()))
torch.set_num_threads(n)
""")

script("everyday.forms.elu_", START + """
z = y.clone().requires_grad_()
look('values', lambda: (F.elu_(y.clone(), 1, 2, 3), F.elu_(y.clone(), alpha=0.5), F.elu_(y.clone(), alpha=1, scale=2, input_scale=3)))
look('gradient', lambda: (w := z * 1, F.elu_(w, 0.5, 2, 3), w.grad_fn.name(), torch.autograd.grad((w * w).sum(), z)))
""")

script("everyday.forms.dtypes", """
for n in ('float32', 'bfloat16', 'complex64', 'int64', 'uint8', 'bool', 'float8_e4m3fn', 'complex32', 'float16', 'complex128', 'float64'):
    d = getattr(torch, n)
    look(n, lambda: (d.is_complex, d.is_floating_point, d.is_signed, d.itemsize, d.to_real(), isinstance(d, torch.dtype), str(d)))
    look('to_complex', lambda: d.to_complex())
look('memory formats', lambda: [(str(f), isinstance(f, torch.memory_format)) for f in (torch.contiguous_format, torch.channels_last, torch.channels_last_3d, torch.preserve_format)])
look('memory_format', lambda: torch.memory_format())
look('detach_', lambda: (w := torch.ones(2, requires_grad=True) * 2, torch.detach_(w) is w, w.requires_grad, w.grad_fn))
look('a view', lambda: torch.detach_((torch.ones(2, requires_grad=True) * 2)[0]))
x, y, z = torch.arange(3.), torch.ones(3), torch.tensor([2., 0., 1.])
look('map2_', lambda: (x.map2_(y, z, lambda a, b, c: a + b * c), x))
look('map2_', lambda: torch.ones(2, requires_grad=True).map2_(y, z, lambda a, b, c: a))
look('pin_memory', lambda: x.pin_memory())
look('is_pinned', lambda: x.is_pinned())
""")
