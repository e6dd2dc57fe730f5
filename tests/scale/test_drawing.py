"""`set_random("device")`: numbers that a device draws itself, on a second host device that stands for one, in a process of its own."""

import math

import pytest
from test_scale import answer_of

MANY = 20_000
# draw -> (mean, variance, least, largest that can come)
UNIFORM, NORMAL = (0.5, 1 / 12, 0.0, 1.0), (0.0, 1.0, -7.0, 7.0)
EXPECTED = {
    **{f"rand torch.{d}": UNIFORM for d in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")},
    **{f"randn torch.{d}": NORMAL for d in ("float16", "bfloat16", "float32", "float64")},
    **{f"randn torch.{d}": (0.0, 0.5, -5.0, 5.0) for d in ("complex64", "complex128")},
    **{f"{name}{more}": seen for more in ("", " mapped") for name, seen in {
        "uniform_": (1.0, 16 / 12, -1.0, 3.0), "normal_": (2.0, 9.0, -19.0, 23.0), "exponential_": (0.5, 0.25, 0.0, 10.0),
        "bernoulli_": (0.25, 3 / 16, 0.0, 1.0), "random_": (2.5, 35 / 12, 0.0, 5.0)}.items()},
    "dropout": (0.25, 1 / 48, 0.0, 0.3333333432674408), "bernoulli": (0.25, 3 / 16, 0.0, 1.0), "normal": (0.25, 25 / 16, -8.5, 9.0),
    "randint": (0.0, 2.0, -2.0, 2.0), "poisson": (0.25, 0.25, 0.0, 8.0), "randint far": (0.0, 1 / 3, -1.0, 1.0), "gumbel": (0.5, 0.25, 0.0, 1.0)}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What `run_drawing` answers."""
    return answer_of("run_drawing.py", 2, tmp_path_factory)


def test_distributions(found):
    assert set(found["moments"]) == set(EXPECTED)
    for name, (mean, variance, least, largest) in EXPECTED.items():
        seen = found["moments"][name]
        assert abs(seen[0] - mean) < 5 * math.sqrt(variance / MANY), name
        assert seen[1] == pytest.approx(variance, rel=0.06), name
        assert least <= seen[2] < seen[3] <= largest, name
    assert max(found["moments"][f"rand torch.{d}"][3] for d in ("float16", "bfloat16", "float32", "float64")) < 1, "rounding does not reach the upper bound"
    assert min(found["moments"][name][2] for name in ("exponential_", "exponential_ mapped")) > 0


def test_numbers_are_jax_s_for_the_key_of_seed_and_place(found):
    assert found["keys"] == {"equal": [True] * 6, "distinct": 10_000}


def test_states(found):
    seen = found["states"]
    assert seen["host"], "the host's stream is as it was"
    assert seen["bytes"] == [1, *[0] * 7, 4, *[0] * 7], "seed and offset, as PyTorch's CUDA generator has them"
    assert seen["again"] == [True] * 3 and seen["offset"] == 8 and seen["forked"] and seen["moves on"]
    assert seen["refused"] == [
        "RuntimeError: offset must be a multiple of 4", "RuntimeError: RNG state is wrong size", "RuntimeError: CPU Generator does not use offset",
        "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'", "NotImplementedError: \"check_uniform_bounds\" not implemented for 'Long'",
        "RuntimeError: uniform_ expects to return a [from, to) range, but found from=3 > to=1", "RuntimeError: normal expects std >= 0.0, but found std -1",
        "RuntimeError: Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an "
        "enhancement request to PyTorch.)", "RuntimeError: normal expects all elements of std >= 0.0",
        "RuntimeError: aten::rand(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.",
        "ValueError: random is 'host' or 'device', not 'dice'"]


def test_gradients_go_with_what_was_drawn(found):
    assert found["gradients"] == {"plain": True, "checkpoint": True, "functional": True, "same": True, "different": True,
                                  "filled": ["NormalBackward0", True], "asks": True, "like": [1, 2]}


def test_loops_are_compiled_once_and_draw_anew(found):
    assert found["loops"] == {"compiles": 0, "flushes": 1, "losses": 6, "rolled": True}


def test_the_host_draws_again_when_told(found):
    assert found["choice"] == ["device", True, "host"]
