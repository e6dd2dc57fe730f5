"""Creation functions and conversions between dtypes and libraries."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate

MAKES = {
    "tensor nested": "torch.tensor([[1, 2], [3, 4]])", "tensor scalar": "torch.tensor(3.5)",
    "tensor tuple": "torch.tensor((1.0, 2.0))", "tensor empty nested": "torch.tensor([[], []])",
    "tensor bool": "torch.tensor([True, False])",
    "tensor range": "torch.tensor(range(3))",
    "tensor of tensors": "torch.tensor([torch.tensor(1.0), torch.tensor(2.0)])",
    "tensor array": "torch.tensor(numpy.arange(3))",
    "tensor float array": "torch.tensor(numpy.ones(2, dtype=numpy.float32))",
    "tensor numpy scalar": "torch.tensor(numpy.float64(1.5))",
    "tensor list of arrays": "torch.tensor([numpy.ones(2), numpy.zeros(2)])",
    "tensor dtype": "torch.tensor([1, 2], dtype=torch.float64)",
    "tensor grad": "torch.tensor([1.0], requires_grad=True)",
    "tensor device": "torch.tensor([1.0], device='cpu')", "tensor big": "torch.tensor(2**62)",
    "tensor nan": "torch.tensor([nan, inf, -inf])", "zeros": "torch.zeros(2, 3)",
    "zeros tuple": "torch.zeros((2, 3))", "zeros list": "torch.zeros([2])", "zeros none": "torch.zeros(())",
    "zeros size": "torch.zeros(torch.Size([2, 1]))",
    "zeros keyword": "torch.zeros(size=(2,), dtype=torch.int32)", "ones": "torch.ones(2, 2, dtype=torch.bool)",
    "full": "torch.full((2, 2), 7)", "full tensor": "torch.full((2,), torch.tensor(3.0))",
    "full grad": "torch.full((2,), 1.5, requires_grad=True)",
    "eye": "torch.eye(3)", "eye rect": "torch.eye(2, 3, dtype=torch.int64)", "arange": "torch.arange(5)",
    "arange two": "torch.arange(2, 8)", "arange step": "torch.arange(1, 10, 3)",
    "arange float": "torch.arange(0, 1, 0.25)", "arange negative": "torch.arange(5, 0, -2)",
    "arange keyword": "torch.arange(start=1, end=4)",
    "arange empty": "torch.arange(3, 3)", "linspace": "torch.linspace(-1, 1, 5)",
    "linspace one": "torch.linspace(3, 9, 1)", "linspace keyword": "torch.linspace(0, 1, steps=3)",
    "linspace zero": "torch.linspace(0, 1, 0)", "logspace": "torch.logspace(0, 3, 4)",
    "logspace base": "torch.logspace(0, 3, 4, base=2)",
    "zeros_like": "torch.zeros_like(torch.ones(2, dtype=torch.float64))",
    "ones_like": "torch.ones_like(torch.tensor([[1, 2]]))", "full_like": "torch.full_like(torch.ones(2), 3)",
    "ones_like dtype": "torch.ones_like(torch.ones(2), dtype=torch.int64)",
    "like grad": "torch.zeros_like(torch.ones(2, requires_grad=True))",
    "new_tensor": "torch.ones(1).new_tensor([1, 2])", "new_zeros": "torch.ones(1).new_zeros(2, 3)",
    "new_ones": "torch.ones(1, dtype=torch.int64).new_ones((2,))",
    "new_full": "torch.ones(1).new_full((2,), 5)", "new_empty": "torch.ones(1).new_empty(2).shape",
    "from_numpy": "torch.from_numpy(numpy.array([1.0, 2.0]))",
    "from_numpy int": "torch.from_numpy(numpy.array([1, 2], dtype=numpy.int32))",
    "as_tensor list": "torch.as_tensor([1.0, 2.0])",
    "as_tensor dtype": "torch.as_tensor([1, 2], dtype=torch.float32)", "asarray": "torch.asarray([1, 2])",
    "scalar_tensor": "torch.scalar_tensor(2.5, dtype=torch.float64)",
    "complex": "torch.complex(torch.ones(2), torch.zeros(2))",
    "polar": "torch.polar(torch.ones(1), torch.zeros(1))", "tril_indices": "torch.tril_indices(3, 3)",
    "triu_indices": "torch.triu_indices(3, 3, 1)", "diag": "torch.diag(torch.tensor([1.0, 2.0]))",
    "diag_embed": "torch.diag_embed(torch.tensor([[1.0, 2.0]]))",
    "diagflat": "torch.diagflat(torch.tensor([[1, 2]]))", "vander": "torch.vander(torch.tensor([1, 2, 3]))",
    "meshgrid": "torch.meshgrid(torch.arange(2), torch.arange(3), indexing='ij')",
    "meshgrid xy": "torch.meshgrid(torch.arange(2), torch.arange(3), indexing='xy')",
    "cartesian": "torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))",
    "combinations": "torch.combinations(torch.tensor([1, 2, 3]))", "Tensor list": "torch.Tensor([1, 2])",
    "Tensor sizes": "torch.Tensor(2, 0)", "FloatTensor": "torch.FloatTensor([1, 2])",
    "LongTensor": "torch.LongTensor([1, 2])", "DoubleTensor": "torch.DoubleTensor([1, 2])",
    "BoolTensor": "torch.BoolTensor([1, 0])", "IntTensor": "torch.IntTensor([3])",
    "Tensor none": "torch.Tensor()", "hann_window": "torch.hann_window(4)",
    "atleast_2d": "torch.atleast_2d(torch.tensor(1.0))",
    "block_diag": "torch.block_diag(torch.ones(1, 2), torch.ones(2, 1))",
    "empty shape": "torch.empty(2, 3).shape", "empty_like": "torch.empty_like(torch.ones(2, 3)).shape",
    "frombuffer": "torch.frombuffer(bytearray(8), dtype=torch.int32)",
    "heaviside": "torch.heaviside(torch.tensor([-1.0, 0.0]), torch.tensor(0.5))",
    "bartlett": "torch.bartlett_window(4)",
    "empty_strided": "torch.empty_strided((2, 3), (1, 2)).stride()",
    "tensor float from int string": "torch.tensor([1, 2.0, True])",
    "cat nothing": "torch.cat([torch.tensor([]), torch.ones(2, 2)])",
    "zeros out": "torch.zeros(2, out=torch.ones(2))",
    "tensor of list of tensor": "torch.tensor([[torch.tensor(1), 2], [3, 4]])",
    "ones grad": "torch.ones(2, requires_grad=True)",
}
ERRORS = {
    "ragged": "torch.tensor([[1, 2], [3]])", "string": "torch.tensor('a')",
    "list of strings": "torch.tensor(['a'])", "none": "torch.tensor(None)", "nothing": "torch.tensor()",
    "dict": "torch.tensor({})", "object array": "torch.tensor(numpy.array([None]))",
    "negative size": "torch.zeros(-1)", "float size": "torch.zeros(1.5)", "string size": "torch.zeros('a')",
    "bad dtype": "torch.zeros(2, dtype=float32)", "dtype string": "torch.zeros(2, dtype='float32')",
    "arange nothing": "torch.arange()", "arange zero step": "torch.arange(0, 1, 0)",
    "arange wrong sign": "torch.arange(0, 5, -1)", "arange infinite": "torch.arange(0, inf)",
    "linspace steps": "torch.linspace(0, 1)", "linspace negative": "torch.linspace(0, 1, -1)",
    "eye negative": "torch.eye(-1)",
    "full nothing": "torch.full((2,))", "from_numpy list": "torch.from_numpy([1])",
    "from_numpy strings": "torch.from_numpy(numpy.array(['a']))", "overflow": "torch.tensor(2**70)",
    "overflow uint8": "torch.tensor(300, dtype=torch.uint8)",
    "int grad": "torch.tensor([1], requires_grad=True)", "device": "torch.zeros(1, device='nowhere')",
    "mixed depth": "torch.tensor([1, [2]])", "complex to float": "torch.tensor(1j, dtype=torch.float32)",
    "nan to int": "torch.tensor(nan, dtype=torch.int64)", "FloatTensor type": "torch.FloatTensor('a')",
    "from_numpy negative strides": "torch.from_numpy(numpy.arange(3)[::-1])",
    "complex parts": "torch.complex(torch.ones(2), torch.ones(2).double())", "cuda": "torch.zeros(1).cuda()",
    "tensor with list in dtype": "torch.tensor([1.5, 2.5], dtype=torch.int64)",
    "meshgrid": "torch.meshgrid(torch.ones(2, 2), indexing='ij')",
    "zeros with bool": "torch.zeros(True)", "zeros none": "torch.zeros(None)", "ones no args": "torch.ones()",
    "new_zeros": "torch.ones(1).new_zeros(-1)", "full size": "torch.full(2, 1.0)",
}


def makes(torch, expression):
    import numpy
    yield "value", evaluate(torch, expression, numpy=numpy)


def refuses(torch, expression):
    import numpy
    yield "error", attempt(lambda: evaluate(torch, expression, numpy=numpy))


each("tensor.create", makes, MAKES)
each("tensor.create_refused", refuses, ERRORS)

CONVERSIONS = {
    "float": "t.float()", "double": "t.double()", "half": "t.half()", "bfloat16": "t.bfloat16()",
    "int": "t.int()", "long": "t.long()", "short": "t.short()", "char": "t.char()", "byte": "t.abs().byte()",
    "bool": "t.bool()", "cfloat": "t.cfloat()", "cdouble": "t.cdouble()",
    "to dtype": "t.to(torch.float64)", "to string device": "t.to('cpu')",
    "to device": "t.to(torch.device('cpu'))", "to device dtype": "t.to('cpu', torch.int32)",
    "to other": "t.to(torch.ones(1, dtype=torch.float64))", "to keyword": "t.to(dtype=torch.float16)",
    "to keyword device": "t.to(device='cpu', dtype=torch.float64)",
    "type": "t.type(torch.float64)", "type string": "t.type('torch.LongTensor')", "type name": "t.type()",
    "type class": "t.type(torch.DoubleTensor)", "type_as": "t.type_as(torch.ones(1, dtype=torch.int64))",
    "cpu": "t.cpu()", "same": "t.to(torch.float32) is t", "float same": "t.float() is t",
    "cpu same": "t.cpu() is t",
    "copy": "t.to(torch.float32, copy=True) is t", "non_blocking": "t.to('cpu', non_blocking=True) is t",
    "numpy": "t.numpy()", "array": "numpy.asarray(t)", "array dtype": "numpy.array(t, dtype=numpy.float64)",
    "tolist": "t.tolist()", "list": "[v.item() for v in t]", "double numpy": "t.double().numpy()",
    "int numpy": "t.int().numpy()", "bool numpy": "(t > 0).numpy()",
    "zero dim numpy": "t[0].numpy()", "empty tolist": "t[:0].tolist()", "zero dim tolist": "t[0].tolist()",
    "nested tolist": "t.view(3, 1).tolist()", "int tolist": "t.long().tolist()",
    "bool tolist": "(t > 0).tolist()", "clone": "t.clone()", "contiguous": "t.contiguous() is t",
    "numpy function": "numpy.sin(t)", "numpy sum": "numpy.sum(t)",
    "numpy times tensor": "numpy.float64(2.0) * t",
    "array times tensor": "numpy.ones(3, dtype=numpy.float32) * t",
    "tensor times array": "t * numpy.ones(3, dtype=numpy.float32)", "view dtype": "t.view(torch.int32)",
    "resolve": "t.resolve_conj() is t", "round trip": "torch.from_numpy(t.numpy())",
    "pickle": "pickle.loads(pickle.dumps(t))", "deepcopy": "copy.deepcopy(t)", "copy module": "copy.copy(t)",
    "data": "t.data", "squeeze item": "t[:1].item()",
    "as_tensor": "torch.as_tensor(t) is t", "tensor of tensor": "t.new_tensor(t)",
    "stack of items": "torch.tensor([v for v in t])", "is_tensor": "torch.is_tensor(t)",
    "isinstance": "isinstance(t, torch.Tensor)", "isinstance float": "isinstance(t, torch.FloatTensor)",
    "isinstance long": "isinstance(t, torch.LongTensor)", "is_floating_point": "torch.is_floating_point(t)",
    "numel": "torch.numel(t)", "max of list": "max(t)", "sorted": "sorted(t)", "sum of list": "sum(t)",
    "math": "math.sqrt(t[2] + 3)", "format": "f'{t[0]:.2f}'", "format plain": "f'{t}'",
    "round": "round(t[0].item(), 3)", "int of": "int(t[0])", "float of": "float(t[1])", "bool of": "bool(t[0])",
    "abs": "abs(t)", "pos": "+t", "divmod": "attempt(lambda: divmod(t, 2))",
}


def converts(torch, expression):
    import copy
    import math
    import pickle

    import numpy
    t = torch.tensor([1.5, -2.5, 3.0])
    yield ("value",
        attempt(lambda: evaluate(torch, expression, t=t, numpy=numpy, copy=copy, pickle=pickle, math=math,
            attempt=attempt)))


each("tensor.convert", converts, CONVERSIONS)


@case("tensor.convert_gradients")
def _(torch):
    for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.to(getattr(torch, name))
        yield name, y.grad_fn.name() if y.grad_fn else None
        (y * 3).sum().real.backward()
        yield name + " grad", x.grad
    x = torch.tensor([1.0], requires_grad=True)
    yield "same dtype", x.to(torch.float32) is x, x.cpu() is x


@case("tensor.from_numpy_shares_memory")
def _(torch):
    import numpy
    a = numpy.zeros(3)
    t = torch.from_numpy(a)
    a[0] = 5
    yield "array write seen", t
    t[1] = 7
    yield "tensor write seen", a
    yield "tensor copies", torch.tensor(a).data_ptr() == t.data_ptr()


@case("tensor.numpy_refused")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    yield "requires grad", raises(lambda: x.numpy()), raises(lambda: __import__("numpy").asarray(x))
    yield "force", x.numpy(force=True)
    yield "non leaf", raises(lambda: (x * 2).numpy())
    yield "bfloat16", raises(lambda: torch.ones(2, dtype=torch.bfloat16).numpy())
    with torch.no_grad():
        yield "under no_grad", raises(lambda: x.numpy())


@case("tensor.copy_and_pickle")
def _(torch):
    import copy
    import pickle
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    for name, twin in [("deepcopy", copy.deepcopy(x)), ("pickle", pickle.loads(pickle.dumps(x))),
            ("copy", copy.copy(x))]:
        yield name, twin, twin.is_leaf, twin.grad, twin is x
    y = x * 2
    yield "non-leaf deepcopy", raises(lambda: copy.deepcopy(y))
    yield "non-leaf pickle", attempt(lambda: pickle.loads(pickle.dumps(y)))
    base = torch.arange(4.0)
    pair = copy.deepcopy([base, base[1:]])
    pair[0][1] = 50
    yield "sharing kept", pair[1]
    memo = copy.deepcopy({"a": base, "b": base})
    yield "identity kept", memo["a"] is memo["b"]
    p = torch.nn.Parameter(torch.ones(1))
    yield "parameter", copy.deepcopy(p), type(copy.deepcopy(p)).__name__
