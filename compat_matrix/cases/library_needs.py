"""What libraries need to be imported and trained: older names of modules, and what they ask of them."""

import importlib

from compat_matrix.case import case


@case("library_needs.older_names_of_quantization")
def _(torch):
    """Each file below torch.quantization names what is in the file of the same name below torch.ao.quantization; functions keep the name they share with a file."""
    old, new = torch.quantization, torch.ao.quantization
    for file, names in (("observer", ("HistogramObserver", "MinMaxObserver", "PerChannelMinMaxObserver", "default_observer", "_with_args")), ("qconfig", ("QConfig",)),
                        ("fake_quantize", ("FakeQuantize", "default_fake_quant")), ("stubs", ("QuantStub", "DeQuantStub", "QuantWrapper")),
                        ("utils", ("calculate_qmin_qmax", "is_per_channel")), ("fuse_modules", ("fuse_modules",)), ("quantize", ("convert", "prepare", "quantize_dynamic"))):
        a, b = (importlib.import_module(f"{torch.__name__}.{where}.{file}") for where in ("quantization", "ao.quantization"))
        yield file, [getattr(a, n) is getattr(b, n) for n in names]
    yield "functions", [callable(f) for f in (old.fuse_modules, old.quantize, new.fuse_modules, new.quantize, old.convert, new.prepare_qat)]
    yield "packages", [getattr(old, n) is getattr(new, n) for n in ("MinMaxObserver", "FakeQuantize", "HistogramObserver", "QConfig", "prepare", "get_default_qconfig")]
    made = old.MinMaxObserver.with_args(dtype=torch.quint8)
    watch = made()
    watch(torch.tensor([-1.0, 3.0]))
    yield "observed", watch.calculate_qparams(), old.QConfig(weight=made, activation=made)._fields
    yield "with arguments", callable(old.HistogramObserver.with_args(bins=8))


@case("library_needs.quantized_layers_named")
def _(torch):
    """Libraries that can quantize their models name the layers when they are imported, used or not."""
    q = importlib.import_module(f"{torch.__name__}.nn.quantized")
    yield "classes", [isinstance(getattr(q, n), type) for n in ("BatchNorm2d", "Conv1d", "Conv2d", "Conv3d", "Linear", "Embedding")]
    yield "one and the same", q.Linear is q.Linear, torch.nn.quantized is q, hasattr(q, "Flatten"), issubclass(type("Own", (q.Linear,), {}), q.Linear)
