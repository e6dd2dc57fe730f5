"""A layer imports only lower ones (the table is in the design, one line a layer here)."""

import ast
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2] / "torchlike_autograd"
LAYERS = [
    ("_core/errors", "_core/config", "_core/precision", "_core/lines", "_core/shown", "_core/pytree", "_core/enums"),
    ("_core/dtypes", "_core/shapes", "_core/devices", "_core/nothing", "_tensor_str"),
    ("_ops/",),
    ("_core/record", "_core/tangent_graphs", "_core/plan", "_core/program", "_core/execute", "_core/guards", "_core/levels", "_core/stages", "_core/placed"),
    ("_core/rng", "_core/chains", "_core/sharing", "_core/storage", "_core/nodes", "_core/layouts", "_core/lifetimes", "_core/outlived",
     "_core/written_views"),
    ("_tensor", "_tensor_members", "_tensor_values", "_core/printing", "_core/versions"),
    ("_core/autocasting", "_core/dispatch", "_core/bind", "_core/composite", "_core/publish", "_core/operators", "_core/indexing", "_core/engine",
     "_core/backward", "_core/copy_slices", "_core/crossing", "_core/hooks", "_core/leaving", "_core/walk", "_core/saved", "_core/spread", "_core/through",
     "_core/timeline", "_core/watch", "_core/listening", "_core/overloads"),
    ("_functions/", "_logging/", "autograd/", "random", "utils/"),
    ("_C/", "__config__", "_checks", "__future__", "_classes", "_custom_op/", "_custom_ops", "_settings", "_decomp/",
     "_dynamo/", "_functorch/", "_higher_order_ops/", "_control",
     "_inductor/", "_jit_internal", "_library/", "_pickled", "_subclasses/", "_vmap_internals", "accelerator", "amp/", "backends/", "compiler", "cpu/", "cuda/",
     "distributions/", "fft", "func", "functional", "functorch/", "futures",
     "fx/", "hub", "jit/", "library", "linalg", "masked", "mps", "mtia", "multiprocessing", "nn/", "onnx/",
     "ops", "optim/", "overrides", "profiler/", "quasirandom", "return_types", "serialization", "signal/", "sparse/", "special", "storage", "testing/",
     "torch_version", "types", "utils/data/", "utils/serialization/", "utils/model_zoo", "utils/flop_counter", "utils/module_tracker", "version", "xpu"),
    ("ao/", "dropin", "interop", "quantization/", "utils/tensorboard/", "visualize", "_drawing/", "distributed/"),
    ("dialects/",),
    ("_api", "_prims_common/", "nn/attention/block_mask", "nn/attention/flex_attention", "__init__", "__main__"),
]


def layer(path):
    """The layer of a module path relative to the package, or None for packages' empty inits."""
    best = None
    for i, names in enumerate(LAYERS):
        for n in names:
            if (path.startswith(n) if n.endswith("/") else path == n or (path.startswith(n + "_") and n == "_core/rng")) and (best is None or len(n) > best[1]):
                best = (i, len(n))
    return None if best is None else best[0]


def imports(path):
    """Module-level relative imports of a file, as package paths."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level]
            module = "/".join([*base, *(node.module.split(".") if node.module else [])])
            for name in node.names:
                full = f"{module}/{name.name}".lstrip("/")
                yield full if (ROOT / (full + ".py")).exists() else module, node.lineno


def test_imports_go_down():
    bad = []
    for path in sorted(ROOT.rglob("*.py")):
        own = str(path.relative_to(ROOT).with_suffix(""))
        mine = layer(own)
        if mine is None:
            continue
        for target, line in imports(path):
            other = layer(target)
            if other is not None and other > mine:
                bad.append(f"{own}:{line} imports {target}")
    assert not bad, "\n".join(bad)


def test_torch_is_never_imported():
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = ([a.name for a in node.names] if isinstance(node, ast.Import)
                     else [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else [])
            assert not any(n == "torch" or n.startswith("torch.") for n in names), f"{path}: {names}"
