"""Attributes, truth, numbers out of tensors, printing."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate

T = "torch.arange(6.0).reshape(2, 3)"
LOOKS = {
    "shape": "t.shape", "size": "t.size()", "size dim": "t.size(1)", "size negative": "t.size(-1)",
    "size keyword": "t.size(dim=0)", "dim": "t.dim()", "ndim": "t.ndim", "ndimension": "t.ndimension()",
    "numel": "t.numel()", "nelement": "t.nelement()", "len": "len(t)", "stride": "t.stride()",
    "stride dim": "t.stride(0)",
    "dtype": "t.dtype", "device": "t.device", "device type": "t.device.type", "device index": "t.device.index",
    "layout": "str(t.layout)", "itemsize": "t.itemsize", "element_size": "t.element_size()",
    "nbytes": "t.nbytes", "is_cuda": "t.is_cuda", "is_sparse": "t.is_sparse", "is_quantized": "t.is_quantized",
    "is_contiguous": "t.is_contiguous()",
    "storage_offset": "t.storage_offset()", "T": "t.T", "mT": "t.mT", "H": "t.H",
    "is_floating_point": "t.is_floating_point()", "is_complex": "t.is_complex()", "is_signed": "t.is_signed()",
    "is_same_size": "t.is_same_size(t)", "equal": "torch.equal(t, t + 0)",
    "equal shapes": "torch.equal(t, t[0])", "allclose": "torch.allclose(t, t + 1e-9)",
    "isclose": "torch.isclose(t, t + 1e-3)", "get_device": "t.get_device()", "shape index": "t.shape[0]",
    "shape slice": "t.shape[1:]", "shape equal": "t.shape == (2, 3)",
    "shape unpack": "(lambda a, b: a * b)(*t.shape)", "shape numel": "t.shape.numel()",
    "shape plus": "t.shape + (1,)", "shape list": "list(t.shape)", "shape str": "str(t.shape)",
    "shape type": "isinstance(t.shape, tuple)",
    "dtype str": "str(t.dtype)", "dtype repr": "repr(torch.int64)", "dtype equal": "t.dtype == torch.float32",
    "dtype same": "torch.float is torch.float32",
    "dtype flags": "(t.dtype.is_floating_point, t.dtype.is_complex, t.dtype.itemsize, t.dtype.is_signed)",
    "long alias": "torch.long is torch.int64", "double alias": "torch.double is torch.float64",
    "half alias": "torch.half is torch.float16",
    "finfo": "(torch.finfo(torch.float32).eps, torch.finfo(torch.float64).max, torch.finfo(torch.float16).tiny)",
    "finfo default": "torch.finfo().bits",
    "iinfo": "(torch.iinfo(torch.int8).min, torch.iinfo(torch.int64).max, torch.iinfo(torch.uint8).bits)",
    "hash": "hash(t) == hash(t)", "in set": "t in {t}", "eq none": "t == None", "ne": "(t != t).any()",
    "eq string": "t == 'a'", "is": "t is t", "id dict": "{t: 1}[t]", "is_leaf": "t.is_leaf",
    "requires_grad": "t.requires_grad",
    "grad": "t.grad", "grad_fn": "t.grad_fn", "version": "t._version", "output_nr": "t.output_nr",
    "is_inference": "t.is_inference()", "data_ptr": "t.data_ptr() == t.data_ptr()", "class": "type(t)",
    "class name": "type(t).__name__", "module name": "type(t).__module__",
    "doc": "isinstance(torch.Tensor.add.__doc__, str)", "type": "t.type()", "int type": "t.int().type()",
    "bool type": "(t > 0).type()", "double type": "t.double().type()",
    "parameter": "torch.nn.Parameter(t)", "parameter type": "type(torch.nn.Parameter(t)).__name__",
    "parameter isinstance": "isinstance(torch.nn.Parameter(t), torch.Tensor)",
    "parameter no grad": "torch.nn.Parameter(t, requires_grad=False).requires_grad",
    "parameter ops": "type(torch.nn.Parameter(t) * 2).__name__",
    "parameter data": "torch.nn.Parameter(t).data.requires_grad",
    "Variable": "isinstance(t, torch.autograd.Variable)",
    "Variable call": "torch.autograd.Variable(t, requires_grad=True).requires_grad",
    "broadcast_shapes": "torch.broadcast_shapes((2, 1), (3,))",
    "constants": "(torch.pi, torch.e, torch.inf, torch.isnan(torch.tensor(torch.nan)).item())",
    "device str": "str(torch.device('cpu'))", "device repr": "repr(torch.device('cpu', 0))",
    "device equal": "torch.device('cpu') == t.device", "device from index": "torch.device('cpu:0').index",
    "cuda available": "torch.cuda.is_available()",
    "is_grad_enabled": "torch.is_grad_enabled()",
    "memory_format": "t.is_contiguous(memory_format=torch.contiguous_format)", "dim order": "t.t().stride()",
    "dense_dim": "t.dense_dim()", "size type": "type(t.size()).__name__", "iter type": "type(iter(t)).__name__",
    "contains": "3.0 in t", "contains tensor": "t[0] in t", "contains not": "9 in t",
    "contains string": "attempt(lambda: 'a' in t)", "bool attribute": "t.retains_grad",
    "retains": "t.requires_grad_().retains_grad", "set operations": "len({t, t, t.clone()})",
    "dir": "all(n in dir(t) for n in ('backward', 'grad', 'numpy', 'add_', 'shape'))",
    "version string": "torch.__version__[:2]", "nonexistent": "attempt(lambda: t.no_such_thing)",
    "module nonexistent": "attempt(lambda: torch.no_such_thing)",
    "set attribute": "setattr(t, 'mine', 5) or t.mine", "numpy priority": "t.__array_priority__",
    "sparse none": "t.is_sparse_csr", "shape of zero dim": "torch.tensor(1.0).shape",
    "len of size": "len(t.shape)", "size in": "3 in t.shape", "size hash": "hash(t.shape) == hash((2, 3))",
    "bits": "torch.float16.itemsize", "result_type": "torch.result_type(t, 1)",
    "is_nonzero": "torch.is_nonzero(torch.tensor([1.0]))", "is_storage": "torch.is_storage(t)",
    "typename": "torch.typename(t)", "typename long": "torch.typename(t.long())",
}


def looks(torch, expression):
    t = evaluate(torch, T)
    yield "value", evaluate(torch, expression, t=t, attempt=attempt)


each("tensor.look", looks, LOOKS)
NUMBERS = {
    "item float": "torch.tensor(1.5).item()", "item int": "torch.tensor([3]).item()",
    "item bool": "torch.tensor([[True]]).item()", "item complex": "torch.tensor(1j).item()",
    "item half": "torch.tensor(0.5).half().item()", "item many": "torch.ones(2).item()",
    "item none": "torch.ones(0).item()", "float": "float(torch.tensor(2))",
    "float many": "float(torch.ones(2))", "float one": "float(torch.ones(1, 1))",
    "int": "int(torch.tensor(2.9))", "int negative": "int(torch.tensor(-2.9))",
    "int nan": "int(torch.tensor(nan))", "int inf": "int(torch.tensor(inf))", "int many": "int(torch.ones(2))",
    "index": "[1, 2, 3][torch.tensor(1)]", "index float": "[1][torch.tensor(0.0)]",
    "index bool": "[1, 2][torch.tensor(True)]", "index many": "[1][torch.tensor([0, 1])]",
    "bool": "bool(torch.tensor(0.0))", "bool many": "bool(torch.ones(2))",
    "bool none": "bool(torch.ones(0))", "bool one": "bool(torch.tensor([[2]]))",
    "if": "1 if torch.tensor([1.0, 0.0]) > 0 else 2", "and": "torch.tensor(True) and 5",
    "not": "not torch.tensor(0)", "complex": "complex(torch.tensor(1 + 2j))",
    "complex many": "complex(torch.ones(2))", "len zero dim": "len(torch.tensor(1))",
    "iter zero dim": "list(iter(torch.tensor(1)))", "round": "round(torch.tensor(2.567), 1)",
    "range": "list(range(torch.tensor(2)))",
    "float requires grad": "float(torch.ones(1, requires_grad=True))",
    "item requires grad": "torch.ones(1, requires_grad=True).item()",
    "tolist requires grad": "torch.ones(1, requires_grad=True).tolist()",
    "math floor": "__import__('math').floor(torch.tensor(1.7))",
    "format": "'{:.3f}'.format(torch.tensor(1.23456))", "format many": "'{:.3f}'.format(torch.ones(2))",
    "format int": "'{:d}'.format(torch.tensor(3))", "format width": "f'{torch.tensor(3.5):>8}'",
    "format requires grad": "f'{torch.ones(1, requires_grad=True)}'", "percent": "'%.2f' % torch.tensor(1.5)",
    "percent d": "'%d' % torch.tensor(3)", "chained comparison": "0 < torch.tensor(1) < 2",
    "max builtin": "max(torch.tensor(1), torch.tensor(2))", "min builtin list": "min(torch.tensor([3, 1, 2]))",
    "sum builtin": "sum(torch.tensor([1, 2, 3]))", "any builtin": "any(torch.tensor([0, 1]))",
    "size many": "torch.ones(2).size(1)", "dim_range": "torch.ones(2, 2).size(2)",
    "pow python": "pow(torch.tensor(2), 3)", "float to int index": "torch.arange(3)[torch.tensor(1.0).int()]",
    "is_nonzero many": "torch.is_nonzero(torch.ones(2))",
    "trunc": "__import__('math').trunc(torch.tensor(-1.5))", "reversed": "list(reversed(torch.tensor([1, 2])))",
    "hash of list": "hash((torch.tensor(1),)) is not None",
    "index requires grad": "[1, 2][torch.ones(1, requires_grad=True).long()]",
    "repeat by": "[0] * torch.tensor(2)", "string times": "'a' * torch.tensor(3)",
}


def number(torch, expression):
    yield "value", attempt(lambda: evaluate(torch, expression))


each("tensor.number", number, NUMBERS)
PRINTS = {
    "scalar": "torch.tensor(1.5)", "int scalar": "torch.tensor(3)", "bool": "torch.tensor([True, False])",
    "vector": "torch.tensor([1.0, 2.5, -3.25])", "integers as float": "torch.tensor([1.0, 2.0])",
    "matrix": "torch.arange(6).reshape(2, 3)", "cube": "torch.arange(8.0).reshape(2, 2, 2)",
    "double": "torch.tensor([0.1], dtype=torch.float64)", "half": "torch.tensor([0.1], dtype=torch.float16)",
    "int32": "torch.tensor([1], dtype=torch.int32)", "complex": "torch.tensor([1 + 2j, -0.5j])",
    "nan": "torch.tensor([nan, inf, 1.0])", "large": "torch.tensor([1e10, 1.0])",
    "small": "torch.tensor([1e-10, 1.0])", "empty": "torch.tensor([])", "empty shape": "torch.zeros(0, 3)",
    "requires grad": "torch.ones(2, requires_grad=True)", "grad_fn": "torch.ones(2, requires_grad=True) * 2",
    "clone": "torch.ones(2, requires_grad=True).clone()",
    "sum": "torch.ones(2, requires_grad=True).sum()", "long": "torch.arange(2000)",
    "wide": "torch.arange(40.0)", "big matrix": "torch.zeros(100, 100)",
    "negative": "torch.tensor([-1.0, 2.0])", "mixed magnitude": "torch.tensor([0.001, 1000.0])",
    "parameter": "torch.nn.Parameter(torch.ones(2))", "size": "torch.Size([1, 2])", "dtype": "torch.float32",
    "device": "torch.device('cpu')", "zero dim grad": "torch.tensor(1.0, requires_grad=True).exp()",
    "ints aligned": "torch.tensor([1, 100, -5])", "scientific": "torch.tensor([1.23456e-7, 9.87e8])",
    "view": "torch.ones(2, 2, requires_grad=True).view(4)", "uint8": "torch.tensor([1], dtype=torch.uint8)",
    "bfloat16": "torch.tensor([1.5], dtype=torch.bfloat16)", "bool scalar": "torch.tensor(True)",
    "nested empty": "torch.zeros(2, 0)", "float int mix nan": "torch.tensor([1.0, nan])",
    "copyslices": "(lambda t: t.__setitem__(0, torch.ones(1, requires_grad=True)[0]) or t)(torch.zeros(2))",
    "index": "torch.arange(3.0, requires_grad=True)[1:]", "minus zero": "torch.tensor([-0.0, 0.0])",
    "inf only": "torch.tensor([inf, -inf])", "tiny": "torch.tensor(1e-45)",
    "max values": "torch.max(torch.tensor([[1.0, 2.0]]), 1)", "sort": "torch.sort(torch.tensor([2, 1]))",
    "complex grad": "torch.tensor([1j], requires_grad=True)",
    "double grad": "torch.tensor([1.0], dtype=torch.float64, requires_grad=True)",
    "ones matrix": "torch.ones(3, 3)", "generator name": "type(torch.Generator()).__name__",
}


def printed(torch, expression):
    value = evaluate(torch, expression)
    yield "repr", repr(value)
    yield "str", str(value)


each("tensor.printed", printed, PRINTS)


@case("tensor.printed_options")
def _(torch):
    t = torch.tensor([1.23456789, 1e-5])
    torch.set_printoptions(precision=2)
    yield "precision", repr(t)
    torch.set_printoptions(sci_mode=True)
    yield "sci", repr(t)
    torch.set_printoptions(profile="default")
    torch.set_printoptions(threshold=3, edgeitems=1)
    yield "threshold", repr(torch.arange(6))
    torch.set_printoptions(profile="default")
    yield "default", repr(t)


@case("tensor.subclass_and_attributes")
def _(torch):
    t = torch.ones(2)
    t.note = "kept"
    yield "attribute", t.note, attempt(lambda: (t * 1).note)
    class Mine(torch.Tensor):
        pass
    m = torch.ones(2).as_subclass(Mine)
    yield "subclass", type(m).__name__, type(m + 1).__name__, isinstance(m, torch.Tensor)


@case("tensor.comparison_operators")
def _(torch):
    a, b = torch.tensor([1, 2, 3]), torch.tensor([3.0, 2.0, 1.0])
    yield "operators", a == b, a != b, a < b, a <= b, a > b, a >= b
    yield "numbers", a == 2, 2 == a, a > 1.5, 2 <= a, a == True  # noqa: E712, SIM300
    yield ("methods", a.eq(b), a.ne(b), a.lt(b), a.le(b), a.gt(b), a.ge(b), torch.eq(a, 2),
        torch.not_equal(a, b), torch.less(a, b))
    yield "nan", torch.tensor([float("nan")]) == torch.tensor([float("nan")]), torch.tensor([float("nan")]) != 1
    yield ("logic", (a > 1) & (b > 1), (a > 1) | (b > 1), ~(a > 1), (a > 1) ^ (b > 1), (a > 1).logical_and(b),
        torch.logical_xor(a, b))


@case("tensor.reflected_and_scalar_operators")
def _(torch):
    t = torch.tensor([2.0, 4.0])
    yield "left", 1 + t, 1 - t, 3 * t, 8 / t, 9 // t, 7 % t, 2 ** t
    yield "right", t + 1, t - 1, t * 3, t / 8, t // 3, t % 3, t ** 2
    yield ("ints", 7 // torch.tensor([2]), 7 % torch.tensor([4]), 1 << torch.tensor([3]), 5 & torch.tensor([4]),
        5 | torch.tensor([2]), 5 ^ torch.tensor([1]), 16 >> torch.tensor([2]))
    yield "bool", True + torch.tensor([1]), t * True
    yield ("unsupported", raises(lambda: t + "a"), raises(lambda: "a" + t), raises(lambda: t + None),
        raises(lambda: t + [1, 2]), raises(lambda: {} * t), raises(lambda: t @ 2))
    import numpy
    yield "numpy scalars", t + numpy.float64(1), numpy.float32(2) * t, t * numpy.int64(3)


@case("tensor.apply_and_map")
def _(torch):
    yield "apply_", torch.tensor([1.0, 2.0]).apply_(lambda v: v * 3)
    yield "map_", torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), lambda a, b: a * b)


@case("tensor.save_and_load")
def _(torch):
    import io
    buffer = io.BytesIO()
    torch.save({"a": torch.tensor([1.0, 2.0]), "n": 3, "p": torch.ones(1, dtype=torch.int64)}, buffer)
    buffer.seek(0)
    back = torch.load(buffer)
    yield "back", back["a"], back["n"], back["p"]


@case("tensor.namedtuples")
def _(torch):
    t = torch.tensor([[1.0, 3.0], [4.0, 2.0]])
    m = t.max(1)
    yield "max", m.values, m.indices, m[0], len(m), type(m).__name__
    values, indices = t.sort(0)
    yield "sort", values, indices, t.sort(0).indices
    yield ("others", t.min(0).values, t.median(1).values, t.mode(1).values, t.topk(1).indices,
        t.kthvalue(1).values, t.cummax(0).indices, torch.aminmax(t).min)
    yield "is tuple", isinstance(m, tuple)
