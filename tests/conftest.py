"""Every test runs under strict JAX and leaves no state behind."""

import gc
import itertools
import pathlib
import sys

import jax
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))  # for compat_matrix, which is not installed

import torchlike_autograd as torch  # noqa: E402
from torchlike_autograd._core import config, record, rng, worth  # noqa: E402


def _state():
    s = record.thread.state
    return {"grad": s.grad, "inference": s.inference, "settings": {**config._state, "default_dtype": config.default_dtype()},
            "torch": sys.modules.get("torch"), "finders": list(sys.meta_path)}


_COUNT = itertools.count(1)
_TESTS_A_FREEZE = 50  # a collection walks every object of the process: by the thousandth test, compiled programs of seconds' worth


@pytest.fixture(autouse=True)
def quick_collections():
    """Sets what outlived the tests so far (compiled programs, caches) apart, so that the tests that call `gc.collect()` walk their own objects."""
    yield
    if next(_COUNT) % _TESTS_A_FREEZE == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def sealed():
    """Fails the test that leaves a mode, a setting or a module behind; seeds and restores the generator."""
    before, stream = _state(), rng.get_rng_state()
    torch.manual_seed(0)
    worth.forget()  # all tests look at the counters on one line
    yield
    rng.set_rng_state(stream)
    after = _state()
    changed = [k for k in before if before[k] != after[k]]
    record.thread.state.grad = True
    for k, v in before["settings"].items():
        config.set(k, v)
    assert not changed, f"the test left behind: {changed}"


class Counts:
    """Differences of the executor's counters over a block."""

    def __enter__(self):
        self.start = dict(torch.stats())
        return self

    def __exit__(self, *exc):
        end = dict(torch.stats())
        for k in end:
            setattr(self, k, end[k] - self.start[k])


@pytest.fixture
def counts():
    return Counts


@pytest.fixture
def credit():
    """Compiling is not held back by what other tests have spent, nor others by this one."""
    before = worth.credit[0]
    worth.credit[0] = worth.CREDIT_START
    yield
    worth.credit[0] = before
