"""What libraries ask of seldom used modules when they are imported: torch.onnx's names for a program's own operators, stubs of models that can be quantized."""

import importlib
import warnings

from compat_matrix.case import case


def told(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


@case("libraries_import.quantization_stubs")
def _(torch):
    q = torch.ao.quantization
    yield "alias", torch.quantization.QuantStub is q.QuantStub, importlib.import_module(f"{torch.__name__}.ao.quantization.stubs").QuantStub is q.QuantStub
    quant, dequant = q.QuantStub(), q.DeQuantStub(qconfig=3)
    x = torch.ones(2, requires_grad=True)
    yield "stubs", repr(quant), repr(dequant), type(quant).__module__, quant(x) is x, dequant(x) is x, hasattr(quant, "qconfig"), dequant.qconfig
    torch.manual_seed(0)
    wrapped = q.QuantWrapper(torch.nn.Linear(2, 2).eval())
    yield "wrapper", repr(wrapped), wrapped.training, wrapped(torch.ones(1, 2)), list(wrapped.state_dict())
    yield "config", q.QConfig(1, 2), q.QConfig._fields, told(lambda: q.QConfig(torch.nn.ReLU(), 1))
    older = {name: importlib.import_module(f"{torch.__name__}.quantization.{name}") for name in ("observer", "fake_quantize", "qconfig", "stubs", "utils")}
    yield "older modules", older["observer"].MinMaxObserver is q.MinMaxObserver is torch.quantization.MinMaxObserver, older["qconfig"].QConfig is q.QConfig
    yield "older names", [hasattr(older["observer"], n) for n in ("HistogramObserver", "default_observer")], older["utils"].calculate_qmin_qmax(
        0, 255, True, torch.quint8, False), issubclass(older["fake_quantize"].FakeQuantize, torch.nn.Module)


@case("libraries_import.own_operators_exported")
def _(torch):
    onnx = torch.onnx
    helper = importlib.import_module(f"{torch.__name__}.onnx.symbolic_helper")
    for n in (9, 10, 11):
        yield n, importlib.import_module(f"{torch.__name__}.onnx.symbolic_opset{n}").__name__.rpartition(".")[2]

    @helper.parse_args("v", "i")
    def write(g, x, n):
        return x

    yield "decorated", write.__name__, write._arg_descriptors
    for name in ("mine::double_it", "mine", "a:b"):
        yield f"register {name}", told(lambda name=name: onnx.register_custom_op_symbolic(name, write, 11))
        yield f"forget {name}", told(lambda name=name: onnx.unregister_custom_op_symbolic(name, 11)), told(lambda name=name: onnx.unregister_custom_op_symbolic(name, 11))
    yield "error", issubclass(onnx.OnnxExporterError, RuntimeError), onnx.is_in_onnx_export()


@case("libraries_import.shapes_as_tensors")
def _(torch):
    operators = importlib.import_module(f"{torch.__name__}.onnx.operators")
    shape = operators.shape_as_tensor(torch.zeros(2, 3))
    yield "shape", shape, operators.reshape_from_tensor_shape(torch.arange(6.0), torch.tensor([3, 2])), operators.shape_as_tensor(torch.tensor(1.0))


@case("libraries_import.sizes_of_annotations")
def _(torch):
    annotations = importlib.import_module(f"{torch.__name__}.jit.annotations")
    yield "lists", [annotations.__dict__[f"BroadcastingList{n}"][int] is not None for n in (1, 2, 3)]


@case("libraries_import.below_public_names")
def _(torch):
    same = torch._has_compatible_shallow_copy_type
    x = torch.ones(2)
    yield "data", same(x, torch.ones(3).double()), same(x, torch.ones(2, device="meta")), same(torch.nn.Parameter(x), x)
    pin = importlib.import_module(f"{torch.__name__}.utils.data._utils.pin_memory").pin_memory
    yield "nothing to pin", pin([1, "a", {"b": 2.0}]), pin((1, None))


@case("libraries_import.older_amp")
def _(torch):
    root = f"{torch.__name__}.cuda.amp"
    modes, scaler, common = (importlib.import_module(f"{root}.{name}") for name in ("autocast_mode", "grad_scaler", "common"))
    old = importlib.import_module(root)
    yield "same", modes.autocast is old.autocast, scaler.GradScaler is old.GradScaler, modes.custom_fwd is old.custom_fwd, sorted(old.__all__)
    yield "where", [c.__module__.partition(".")[2] for c in (old.autocast, old.GradScaler)]
    yield "available", common.amp_definitely_not_available() is not torch.cuda.is_available()


@case("libraries_import.nodes_of_adaptive_log_softmax")
def _(torch):
    def walk(node, depth=0):
        if node is None or depth > 7:
            return []
        return [(depth, node.name()), *[line for n, _ in node.next_functions for line in walk(n, depth + 1)]]

    for targets in ([0, 3, 5], [0, 1, 0], [5, 5, 4], 3):
        torch.manual_seed(0)
        layer = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4], div_value=2.0)
        x = torch.linspace(-1, 1, 24).reshape(3, 8)
        x = (x if isinstance(targets, list) else x[0]).clone().requires_grad_()
        out = layer(x, torch.tensor(targets))
        out.loss.backward()
        yield str(targets), out.output, out.loss, x.grad, walk(out.output.grad_fn), [p.grad is None for p in layer.parameters()]


@case("libraries_import.nodes_of_a_correlation_transform")
def _(torch):
    transform = torch.distributions.transforms.CorrCholeskyTransform()
    x = torch.tensor([0.3, -0.2, 0.5], requires_grad=True)
    density = transform.log_abs_det_jacobian(x, transform(x))
    density.backward()
    yield "density", density, x.grad, density.grad_fn.name(), [n.name() for n, _ in density.grad_fn.next_functions]


@case("libraries_import.lower_names_of_errors_warnings_and_types")
def _(torch):
    yield "error", torch._C._LinAlgError is torch.linalg.LinAlgError, torch._C._LinAlgError.__mro__[1].__name__
    types = importlib.import_module(f"{torch.__name__}.nn.common_types")
    yield "types", [types.__dict__[f"_scalar_or_tuple_{n}_t"][int] == types.__dict__[f"_size_{n}_t"] for n in ("any", 1, 2, 3, 4, 5, 6)]
    yield "tensors", types._tensor_list_t == torch.Tensor | tuple[torch.Tensor, ...], types.T.__name__
    dynamo = importlib.import_module(f"{torch.__name__}._dynamo.utils")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for said in ("one thing", "one thing", "another"):
            dynamo.warn_once(said)
    yield "warned once", [(str(w.message), w.category.__name__) for w in heard], {"one thing", "another"} <= dynamo.warn_once_cache
    yield "without a device", torch.cuda._lazy_call(lambda: 1 / 0), torch.cuda._lazy_call(lambda: 1 / 0, seed=True), told(torch.cuda._lazy_init)
