"""The operators that draw, as data of the kind that the op table's samples are: their entries stand beside the table's in `columns`.

They are no entries of the table itself, as their numbers come from the generator of the host (`_core/rng.py`).  `entries()` gives {key: {"path": public
path, "calls": [...], "also": [other public paths]}}; torch answers each call for several seeds, with the next number of the generator, so that a draw that
takes too many or too few of its numbers is seen.
"""

from functools import cache


def tensor(values, *shape, of="float64", grad=False):
    """A tensor of a call."""
    return {"tensor": list(values), "shape": list(shape or (len(values),)), "of": of, "grad": grad}


def ramp(*shape, of="float64", grad=False):
    """A tensor of 0.1, 0.2, ..."""
    count = 1
    for n in shape:
        count *= n
    return tensor([round(0.1 * (i + 1), 1) for i in range(count)], *shape, of=of, grad=grad)


def call(*args, **kwargs):
    return {"args": list(args), "kwargs": kwargs}


def shape(*sizes):
    return {"tuple": list(sizes)}


def dtype(name):
    return {"dtype": name}


LEAF, CHANCES = ramp(3, 4, grad=True), ramp(9)
PLANES, VOLUMES = ramp(2, 3, 4, 4, grad=True), ramp(1, 2, 4, 4, 4, grad=True)
WAVES = tensor([(37 * i) % 101 / 10 for i in range(2 * 9 * 9)], 2, 9, 9, grad=True)
ROWS = ramp(2, 3, 4, grad=True)
EMPTY = {"float32": ramp(4, 5, of="float32"), "float64": ramp(20), "int64": tensor(range(20), of="int64"), "float16": ramp(7, of="float16")}
FULL = tensor([(37 * i * i) % 101 / 10 for i in range(20)], 5, 4)
HALF = 0.5
DROPPED = [call(LEAF, HALF, True), call(LEAF, 0.0, True), call(LEAF, 1.0, True), call(LEAF, 0.3, False)]

FACTORIES = {
    "rand": [call(4, 7, dtype=dtype("float64")), call(5), call(20, dtype=dtype("float32")), call(3, dtype=dtype("complex64"))],
    "randn": [call(5, dtype=dtype("float32")), call(20, dtype=dtype("float64")), call(3, dtype=dtype("complex128")), call(17)],
    "randint": [call(10, shape(6), dtype=dtype("int64")), call(-5, 5, shape(3, 2)), call(0, 2**40, shape(4)), call(9, shape(5), dtype=dtype("float32"))],
    "randperm": [call(10, dtype=dtype("int64")), call(70), call(1)],
    "rand_like": [call(ramp(3, 4)), call(ramp(20, of="float32"))],
    "randn_like": [call(ramp(3, 4)), call(ramp(20, of="float32"))],
    "randint_like": [call(ramp(3, 4), 10), call(ramp(6, of="float32"), -3, 9)],
    "normal": [call(ramp(3, 4), 2.0), call(0.5, ramp(5)), call(ramp(20), ramp(20)), call(1.0, 2.0, shape(18)), call(LEAF, ramp(3, 4, grad=True))],
    "bernoulli": [call(CHANCES), call(CHANCES, 0.3)],
    "multinomial": [call(CHANCES, 4), call(CHANCES, 12, replacement=True), call(ramp(2, 5, of="float32"), 3)],
    "poisson": [call(tensor([1.0, 4.0, 30.0], grad=True)), call(ramp(5, of="float32"))],
    "binomial": [call(tensor([10.0, 40.0, 3.0]), tensor([0.2, 0.5, 0.9]))],
    "_standard_gamma": [call(tensor([0.3, 1.0, 7.0], grad=True))],
    "_sample_dirichlet": [call(tensor([0.3, 1.0, 7.0], grad=True))],
}
DROPS = {  # {name: (calls, whether torch has it under `torch`, under nn.functional)}
    "dropout": (DROPPED, "both"), "alpha_dropout": (DROPPED, "both"), "feature_dropout": ([call(PLANES, HALF, True)], "torch"),
    "feature_alpha_dropout": ([call(PLANES, HALF, True)], "both"), "native_dropout": ([call(LEAF, HALF, True)], "torch"),
    "dropout1d": ([call(ROWS, HALF, True)], "F"), "dropout2d": ([call(PLANES, HALF, True)], "F"), "dropout3d": ([call(VOLUMES, HALF, True)], "F"),
    "rrelu": ([call(tensor([-1.0, 2.0, -3.0, 0.0], grad=True), 0.1, 0.4, True)], "both"), "gumbel_softmax": ([call(LEAF, 0.7), call(LEAF, 2.0, True)], "F"),
    "fractional_max_pool2d": ([call(WAVES, 2, shape(4, 5))], "F"), "fractional_max_pool3d": ([call(VOLUMES, 2, shape(2, 2, 2))], "F"),
}
FILLERS = {"uniform_": (-1, 2), "normal_": (2, 3), "exponential_": (1.5,), "geometric_": (0.3,), "cauchy_": (1, 2), "log_normal_": (0.5, 0.25),
           "random_": (3, 90), "bernoulli_": (0.4,)}
WHOLE = ("random_", "bernoulli_", "geometric_")  # of integers too
INITS = {"uniform_": (-1.0, 2.0), "normal_": (1.0, 2.0), "trunc_normal_": (), "xavier_uniform_": (), "xavier_normal_": (), "kaiming_uniform_": (),
         "kaiming_normal_": (), "orthogonal_": (), "sparse_": (0.3,)}


@cache
def entries():
    """Every operator that draws."""
    found = {f"draws.{name}": {"path": f"torch.{name}", "calls": calls, "also": [f"Tensor.{name}"] if name in ("bernoulli", "multinomial") else []}
             for name, calls in FACTORIES.items()}
    for name, (calls, where) in DROPS.items():
        main = f"torch.{name}" if where == "torch" else f"torch.nn.functional.{name}"
        found[f"draws.{name}"] = {"path": main, "calls": calls, "also": [f"torch.{name}"] if where == "both" else []}
    for name, numbers in FILLERS.items():
        kinds = EMPTY if name in WHOLE else {k: EMPTY[k] for k in EMPTY if k != "int64"}
        found[f"draws.{name}"] = {"path": f"Tensor.{name}", "calls": [call(t, *numbers) for t in kinds.values()], "also": []}
    for name, numbers in INITS.items():
        found[f"draws.init.{name}"] = {"path": f"torch.nn.init.{name}", "calls": [call(EMPTY["float32"], *numbers), call(ramp(5, 4), *numbers)], "also": []}
    found["draws.scaled_dot_product_attention"] = {"path": "torch.nn.functional.scaled_dot_product_attention", "also": [],
                                                   "calls": [call(ROWS, ROWS, ROWS, dropout_p=0.4)]}
    found["draws.svd_lowrank"] = {"path": "torch.svd_lowrank", "also": [], "calls": [call(FULL, 2)]}
    found["draws.pca_lowrank"] = {"path": "torch.pca_lowrank", "also": [], "calls": [call(FULL, 2)]}
    return found
