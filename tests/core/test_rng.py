"""The random streams against what PyTorch drew (recorded by ``compat_matrix/record_rng.py``)."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import pickle
import threading
import warnings
import zlib
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from torchlike_autograd._core import rng, rng_integers, rng_math

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "rng_oracle.json").read_text())
BY_LIBM = {
    "normal",
    "scattered_normal",
    "normal_tensor",
    "exponential",
    "cauchy",
    "log_normal",
    "standard_gamma",
}


def dtype_of(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def array(spec):
    values, dtype = spec
    return np.array(values, dtype_of(dtype))


def full(spec):
    value, shape, dtype = spec
    return np.full(shape, value, dtype_of(dtype))


def filler(function):
    """A draw that fills a shape, with the dtype given by name."""
    return lambda g, shape, dtype, **others: function(g, shape=shape, dtype=dtype_of(dtype), **others)


DRAWS = {
    "uniform": filler(rng.uniform),
    "normal": filler(rng.normal),
    "scattered_normal": filler(lambda g, **arguments: rng.normal(g, contiguous=False, **arguments)),
    "randint": filler(rng.randint),
    "random_full": filler(rng.random_full),
    "randperm": lambda g, n, dtype: rng.randperm(g, n, dtype_of(dtype)),
    "bernoulli": filler(rng.bernoulli),
    "bernoulli_array": filler(lambda g, p, **arguments: rng.bernoulli(g, array(p), **arguments)),
    "exponential": filler(rng.exponential),
    "geometric": filler(rng.geometric),
    "cauchy": filler(rng.cauchy),
    "log_normal": filler(rng.log_normal),
    "multinomial": lambda g, probs, **others: rng.multinomial(g, array(probs), **others),
    "poisson": lambda g, rates: rng.poisson(g, full(rates)),
    "binomial": lambda g, count, prob: rng.binomial(g, full(count), full(prob)),
    "standard_gamma": lambda g, alpha: rng.standard_gamma(g, full(alpha)),
    "normal_tensor": lambda g, **arguments: rng.normal_tensor(
        g,
        **{key: array(value) if isinstance(value, list) else value for key, value in arguments.items()},
    ),
}


def ulps(got, expected) -> float:
    """The largest distance in units of the last place; complex values by their parts."""
    if got.dtype.kind == "c":
        got, expected = got.view(got.real.dtype), expected.view(got.real.dtype)
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    return float(np.max(np.abs(got - expected) / np.spacing(np.abs(expected)), initial=0))


def check_value(name: str, got, recorded) -> None:
    """Bit-equal; float64 values may differ in the last bits, as versions of the C library do."""
    shape, dtype, *parts = recorded
    assert list(got.shape) == shape and got.dtype == dtype_of(dtype)
    assert got.flags.c_contiguous and got.flags.writeable
    data = got.tobytes()
    whole = len(parts) == 1
    if parts[-1] == (data.hex() if whole else hashlib.sha256(data).hexdigest()):
        return
    assert name in BY_LIBM and got.dtype in (np.float64, np.complex128), "not the recorded bits"
    expected = np.frombuffer(bytes.fromhex("".join(parts[:2])), got.dtype)
    flat = got.reshape(-1)
    assert ulps(flat if whole else np.concatenate([flat[:8], flat[-8:]]), expected) <= 2


def check_place(generator, recorded) -> None:
    """The stream stands where torch left it, with the same normal waiting."""
    digest, waiting = recorded
    state = generator.get_state()
    normal = state[5024:5032].copy()
    state[5024:5032] = 0
    assert hashlib.sha256(state.tobytes()).hexdigest()[:32] == digest
    assert (generator.pending_normal is None) == (waiting is None)
    if waiting is not None:
        assert ulps(normal.view(np.float64), np.frombuffer(bytes.fromhex(waiting), np.float64)) <= 2


def run_draws(generator, draws) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(from|to - 1) is out of bounds")
        for name, arguments, recorded in draws:
            check_value(name, DRAWS[name](generator, **arguments), recorded)


def program_id(program) -> str:
    kinds = sorted({name for name, _, _ in program["draws"]})
    return f"{program['seed']}-{kinds[0] if len(kinds) == 1 else 'mixed'}"


@pytest.mark.parametrize("program", ORACLE["programs"], ids=program_id)
def test_a_program_of_draws_gives_torchs_numbers(program):
    generator = rng.Generator().manual_seed(program["seed"])
    assert generator.initial_seed() == program["initial"]
    run_draws(generator, program["draws"])
    check_place(generator, program["after"])


@pytest.mark.parametrize("case", ORACLE["states"], ids=lambda case: f"seed{case['seed']}")
def test_states_are_torchs_bytes_and_can_be_loaded(case):
    state = np.frombuffer(zlib.decompress(base64.b64decode(case["state"])), np.uint8)
    generator = rng.Generator().manual_seed(case["seed"])
    rng.uniform(generator, case["words"], np.float32)
    rng.normal(generator, case["normals"], np.float32)
    assert (generator.get_state() == state).all()
    loaded = rng.Generator()
    loaded.set_state(state)
    assert (loaded.get_state() == state).all() and loaded.initial_seed() == case["seed"]
    run_draws(loaded, case["draws"])


@pytest.mark.parametrize("case", ORACLE["errors"], ids=lambda case: case[0])
def test_wrong_arguments_fail_with_torchs_words(case):
    name, arguments, kind, message = case
    with pytest.raises(Exception) as caught:
        DRAWS[name](rng.Generator(), **arguments)
    assert (type(caught.value).__name__, str(caught.value)) == (kind, message)


def test_an_unseeded_generator_has_torchs_seed():
    assert rng.Generator().initial_seed() == ORACLE["unseeded"]
    assert rng.Generator("cuda:0").device == "cuda:0"


@pytest.mark.parametrize(
    "seed, kind, message",
    [
        (2**64, ValueError, "Overflow when unpacking long long"),
        (-(2**63) - 1, ValueError, "Overflow when unpacking long long"),
        (1.5, RuntimeError, "manual_seed expected a long, but got float"),
        (True, RuntimeError, "manual_seed expected a long, but got bool"),
        ("a", RuntimeError, "manual_seed expected a long, but got str"),
    ],
)
def test_seeds_out_of_range(seed, kind, message):
    with pytest.raises(kind, match=message):
        rng.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "state, kind, message",
    [
        (
            np.zeros(10, np.uint8),
            RuntimeError,
            "CPUGeneratorImplState of size 5056 but found .* to be 10",
        ),
        (np.zeros(5056, np.uint8), RuntimeError, "Invalid mt19937 state"),
        (np.zeros(5056, np.float32), TypeError, "RNG state must be a torch.ByteTensor"),
    ],
)
def test_states_that_are_none(state, kind, message):
    with pytest.raises(kind, match=message):
        rng.Generator().set_state(state)


def test_seed_is_new_each_time_and_is_the_initial_seed():
    generator = rng.Generator()
    seeds = {generator.seed() for _ in range(5)}
    assert len(seeds) == 5 and generator.initial_seed() in seeds


def test_seeding_forgets_the_waiting_normal():
    generator = rng.Generator().manual_seed(1)
    first = rng.normal(generator, 1, np.float32)
    assert generator.pending_normal is not None
    assert rng.normal(generator.manual_seed(1), 1, np.float32) == first


def test_clone_state_continues_apart():
    generator = rng.Generator("cuda").manual_seed(3)
    rng.normal(generator, 3, np.float32)
    other = generator.clone_state()
    assert other.device == "cuda"
    assert (rng.normal(generator, 20, np.float32) == rng.normal(other, 20, np.float32)).all()
    rng.uniform(other, 1, np.float32)
    assert (other.get_state() != generator.get_state()).any()


def test_copies_and_pickles_continue_apart():
    generator = rng.Generator("cuda").manual_seed(3)
    rng.normal(generator, 3, np.float32)
    for other in (copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))):
        assert other.device == "cuda" and (other.get_state() == generator.get_state()).all()


def test_the_default_generator():
    before = rng.get_rng_state()
    try:
        assert rng.manual_seed(-1.0) is rng.default_generator
        assert rng.initial_seed() == 2**64 - 1
        state = rng.get_rng_state()
        first = rng.uniform(rng.default_generator, 4, np.float32)
        rng.set_rng_state(state)
        assert (rng.uniform(rng.default_generator, 4, np.float32) == first).all()
        assert rng.seed() == rng.initial_seed() != 2**64 - 1
    finally:
        rng.set_rng_state(before)


def test_looking_ahead_moves_nothing():
    generator = rng.Generator().manual_seed(3)
    state = generator.get_state()
    words = generator.look_ahead(1000)
    assert (generator.get_state() == state).all()
    assert (generator.long_words(1000) == words).all()


def test_draws_without_values_leave_the_stream_alone():
    generator = rng.Generator().manual_seed(3)
    rng.normal(generator, 1, np.float32)
    state = generator.get_state()
    for dtype in (np.float16, np.float32, np.complex64):
        rng.normal(generator, (0, 3), dtype)
        rng.uniform(generator, (2, 0), dtype)
    rng.randperm(generator, 0)
    rng.randperm(generator, 1)
    rng.poisson(generator, np.zeros((0,), np.float32))
    assert (generator.get_state() == state).all()


def test_threads_take_whole_draws_in_turn():
    generator, drawn = rng.Generator().manual_seed(5), []

    def work():
        for _ in range(50):
            drawn.append(rng.uniform(generator, 100, np.float64))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = rng.uniform(rng.Generator().manual_seed(5), (200, 100), np.float64)
    assert {row.tobytes() for row in drawn} == {row.tobytes() for row in expected}


def test_imprecise_bounds_warn():
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^11\), 2\^11\]"):
        rng.randint(rng.Generator(), 0, 5000, 2, np.float16)


def test_inside_out_is_a_permutation():
    places = np.random.default_rng(0).integers(0, np.arange(1, 101))
    expected = []
    for i, place in enumerate(places.tolist()):
        expected.append(i)
        expected[i], expected[place] = expected[place], i
    assert rng_integers._inside_out(places).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000, 20_000])
def test_the_shuffle_without_a_loop_is_the_shuffle(n):
    steps = np.arange(n - 1)
    places = steps + np.random.default_rng(n).integers(0, n - steps)
    assert (rng_integers._permuted(n, places) == rng_integers._swapped(n, places)).all()


def exact_fma(a: float, b: float, c: float, dtype):
    """Reference: exact rational arithmetic, rounded once."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    guess = dtype(float(exact))  # at most one neighbour away from the nearest
    near = [guess, np.nextafter(guess, dtype(np.inf)), np.nextafter(guess, dtype(-np.inf))]
    return min(near, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(f"u{x.itemsize}")) & 1))


@pytest.mark.parametrize("dtype, fma", [(np.float32, rng_math.fma32), (np.float64, rng_math.fma64)])
def test_fused_multiply_add_rounds_once(dtype, fma):
    source = np.random.default_rng(1)
    a, b = (source.standard_normal(3000).astype(dtype) for _ in range(2))
    c = (-a * b * source.choice([0.1, 1.0, 1.0000001], 3000)).astype(dtype)  # with and without cancellation
    expected = [exact_fma(float(x), float(y), float(z), dtype) for x, y, z in zip(a, b, c, strict=True)]
    assert (fma(a, b, c) == np.array(expected)).all()


@pytest.mark.parametrize(
    "dtype, fma, a, b, c",
    [
        # a float64 sum falls half way between two float32, and what it lost decides
        (np.float32, rng_math.fma32, 1 + 2**-12, 1 + 2**-12, 2**-60),
        (np.float32, rng_math.fma32, 1 + 2**-12, 1 + 2**-12, -(2**-60)),
        (np.float32, rng_math.fma32, 1 + 2**-12, 1 + 3 * 2**-12, -(2**-60)),
        # the same for a float64 sum of the low parts
        (np.float64, rng_math.fma64, 1 + 2**-52, (1 - 2**-53) * 2**-53, 1.0),
        (np.float64, rng_math.fma64, -1 - 2**-52, (1 - 2**-53) * 2**-53, -1.0),
    ],
)
def test_fused_multiply_add_has_no_double_rounding(dtype, fma, a, b, c):
    arrays = (np.array([value], dtype) for value in (a, b, c))
    assert fma(*arrays)[0] == exact_fma(a, b, c, dtype)


@pytest.mark.parametrize("name", ["log", "log1p", "exp", "sin", "cos", "tan"])
def test_libm_and_its_slow_twin_agree(name):
    x = rng.uniform(rng.Generator().manual_seed(1), 500, np.float64) - (name == "log1p")
    assert (rng_math.libm(name, x) == rng_math._each(name, x)).all()


def test_a_million_normals_are_drawn_in_chunks(monkeypatch):
    calls, words = [], rng.Generator.words
    monkeypatch.setattr(rng.Generator, "words", lambda self, n: calls.append(n) or words(self, n))
    rng.normal(rng.Generator().manual_seed(0), 1_000_000, np.float32)
    assert sum(calls) == 1_000_000
    assert len(calls) < 100
