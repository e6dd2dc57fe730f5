"""Programs that were recorded for the op table, lowered for other machines and split over eight devices.

`collect` runs a call and its backward pass and catches every program on its way to the compiler; `lowers` sends one through `jax.export` for CUDA and TPU
(nothing runs
there); `sharded` maps it over a batch of eight and compares the run on eight devices, the batch split among them, with the run on one.
"""

import warnings
from contextlib import contextmanager
from typing import NamedTuple

from compat_matrix import ops, spread

PLATFORMS = ("cuda", "tpu")
CALLS = 2  # samples of each entry
DEVICES = 8
TOLERANCE = {"float64": 1e-9, "complex128": 1e-9, "float32": 1e-5, "complex64": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}


class Caught(NamedTuple):
    """A program with what it was run on; part: "forward" or "pullback"."""

    part: str
    program: object
    floats: list
    ints: list
    arrays: list


@contextmanager
def catching(found, part):
    """Append every program that runs to `found`."""
    from torchlike_autograd._core import execute

    run = execute._execute

    def caught(program, tape):
        for v in tape.inputs:
            if v.array is None:
                v.tape.resolve(v)
        found.append(Caught(part[0], program, list(tape.floats), list(tape.ints), [tape.inputs[i].array for i in program.argument_indices]))
        return run(program, tape)
    execute._execute = caught
    try:
        yield
    finally:
        execute._execute = run


def collect(torch, entry):
    """The programs of an entry's first calls and of their backward passes."""
    from torchlike_autograd._core import execute

    found = []
    for call in entry["calls"][:CALLS]:
        execute.clear_caches()
        part, mine = ["forward"], []
        with warnings.catch_warnings(), catching(mine, part):
            warnings.simplefilter("ignore")
            try:
                one_call(torch, entry["path"], call, part)
            except Exception:  # what refuses to run has no program: the errors are compared elsewhere
                continue
        found += [c for c in mine if c.program.outs and any(s.kind in ("op", "backward") for s in c.program.steps)]
    return found


def one_call(torch, path, call, part):
    leaves = []
    out = ops.run(torch, path, call, leaves)
    outs = [o for o in ops.parts(out) if isinstance(o, torch.Tensor)]
    for o in outs:
        o.detach().numpy()
    live = [o for o in outs if o.requires_grad]
    if live and leaves:
        part[0] = "pullback"
        for g in ops.gradients(torch, live, leaves, False):
            if g is not None:
                g.detach().numpy()


def on_host(caught):
    """Whether a step must see its data (a shape that depends on it): such a call runs on the host with any device."""
    return any(s.kind == "op" and s.form.op.host for s in caught.program.steps)


def numbers(caught):
    import numpy as np

    return np.array(caught.floats, np.float64), np.array([i if -2**63 <= i < 2**63 else 0 for i in caught.ints], np.int64)


def lowers(caught):
    """{platform: None or why not}; one export for all where nothing stands in the way."""
    if exported(caught, PLATFORMS) is None:
        return dict.fromkeys(PLATFORMS)
    return {p: exported(caught, (p,)) for p in PLATFORMS}


def exported(caught, platforms):
    """None, or the first words of why a program cannot be exported for these platforms."""
    import jax
    from jax import export

    arguments = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in (*numbers(caught), *caught.arrays)]
    try:
        with jax.enable_x64(True):
            export.export(jax.jit(caught.program.function()), platforms=platforms)(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
    return None


def batched(array):
    """Eight of an array, each a little different where it holds fractions."""
    import numpy as np

    array = np.asarray(array)
    many = np.stack([array] * DEVICES)
    if many.dtype.kind in "fc":
        many = many * (1 + 0.01 * np.arange(DEVICES).reshape(-1, *[1] * array.ndim)).astype(many.real.dtype)
    return many.astype(array.dtype)


def sharded(caught):
    """None where the split run gives what one device gives; otherwise what differs."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = jax.devices()
    if len(devices) < DEVICES:
        raise RuntimeError(f"this needs {DEVICES} devices: XLA_FLAGS=--xla_force_host_platform_device_count={DEVICES}")
    if not caught.arrays:
        return None
    floats, ints = numbers(caught)
    run = caught.program.function()
    mesh = Mesh(np.array(devices[:DEVICES]), ("batch",))
    with jax.enable_x64(True), np.errstate(all="ignore"):
        many = [batched(a) for a in caught.arrays]
        mapped = jax.jit(lambda *arrays: jax.vmap(lambda *one: run(floats, ints, *one))(*arrays))
        alone = mapped(*[jax.device_put(a, devices[0]) for a in many])
        split = mapped(*[jax.device_put(a, NamedSharding(mesh, PartitionSpec("batch"))) for a in many])
        return next((text for a, b in zip(alone, split) if (text := differ(np.asarray(a), np.asarray(b)))), None)


def differ(a, b):
    import numpy as np

    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)} on one device, {b.dtype}{list(b.shape)} on eight"
    near = TOLERANCE.get(str(a.dtype), 0)
    if a.dtype.kind in "fcV":
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        same = np.allclose(a.astype(wide), b.astype(wide), rtol=near, atol=near, equal_nan=True)
    else:
        same = np.array_equal(a, b)
    return None if same else "other values on eight devices"


def columns(torch, entry):
    """{column: [what is wrong]} of one entry: "lowers for CUDA", "lowers for TPU" (each "forward: ..." or "pullback: ..."), "sharded", "spread"."""
    lines = spread.column(torch, entry)
    return programs(torch, entry) | ({} if lines is None else {"spread": lines})


def programs(torch, entry):
    """The columns about the programs of an entry's calls."""
    found = collect(torch, entry)
    device = [c for c in found if not on_host(c)]
    if not device:
        return {}
    out = {"lowers for CUDA": [], "lowers for TPU": [], "sharded": []}
    seen = set()
    for caught in device:
        if (text := str(caught.program)) in seen:
            continue
        seen.add(text)
        for platform, why in lowers(caught).items():
            if why:
                out[f"lowers for {platform.upper()}"].append(f"{caught.part}: {why}")
        why = attempt_sharded(caught)
        if why:
            out["sharded"].append(f"{caught.part}: {why}")
    return out


def attempt_sharded(caught):
    try:
        return sharded(caught)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
