"""Compiled programs are bounded: by their number and by the memory that they map; what is kept is found again, what is dropped is let go."""

import gc
import weakref

import jax
import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import config, execute, room, worth

pytestmark = pytest.mark.usefixtures("credit")


@pytest.fixture
def fresh():
    execute.clear_caches()
    yield
    config.set("cache_size", 512)
    execute.clear_caches()


def _step(n):
    x = torch.ones(n, requires_grad=True)
    (x * 2).sin().sum().backward()
    return x.grad.sum().item()


def _train(w, steps):
    for _ in range(steps):
        w.grad = None
        (w.tanh() * 3).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
    return w.sum().item()


def test_a_loop_finds_its_program_again_after_others_were_dropped(counts, fresh):
    w = torch.ones(3, requires_grad=True)
    _train(w, 20)
    config.set("cache_size", 8)
    for n in range(2, 30):
        _step(n)
    assert len(execute._programs) <= 8
    with counts() as c:
        _train(w, 20)
    assert c.compiles == 0


def _executables():
    gc.collect()
    return len(jax.devices("cpu")[0].client.live_executables())


def test_a_process_that_maps_much_memory_lets_programs_go(monkeypatch, counts, fresh):
    monkeypatch.setattr(worth, "waits", lambda program: False)
    monkeypatch.setattr(room, "BETWEEN", 8)
    before = _executables()
    with counts() as c:
        values = [_step(n) for n in range(2, 14)]
    assert c.compiles == 12 and _executables() - before >= 12
    monkeypatch.setattr(room, "most", lambda: 2)
    again = [_step(n) for n in range(14, 34)]
    assert _executables() - before < 16 and len(execute._programs) < 16
    assert [_step(n) for n in range(2, 14)] == values and again == [pytest.approx(values[0] / 2 * n) for n in range(14, 34)]


def test_clearing_lets_all_programs_go(monkeypatch, fresh):
    monkeypatch.setattr(worth, "waits", lambda program: False)
    for n in range(2, 8):
        _step(n)
    programs = [*map(weakref.ref, execute._programs.values())]
    assert len(programs) >= 6
    execute.clear_caches()
    gc.collect()
    assert not any(p() for p in programs)


def test_memory_is_given_back_after_long_work(monkeypatch):
    """Compiling and the first run of a long program leave gigabytes in the C library."""
    given = []
    monkeypatch.setattr(room, "_c_library", lambda name: given.append if name == "malloc_trim" else None)
    room.give_back(room.LONG / 2)
    assert given == []
    monkeypatch.setattr(room, "LONG", 0.0)
    x = torch.ones(5, requires_grad=True)
    x.cosh().sum().backward()
    assert x.grad.sum().item() > 5
    assert len(given) == 1


def test_memory_is_kept_by_steps_that_are_always_long(monkeypatch, counts, fresh):
    """What a step gives back it gets again page by page in the next one."""
    given = []
    monkeypatch.setattr(worth, "waits", lambda program: False)
    w = torch.ones(3, requires_grad=True)
    _train(w, 4)
    monkeypatch.setattr(room, "_c_library", lambda name: given.append if name == "malloc_trim" else None)
    monkeypatch.setattr(room, "LONG", 0.0)
    with counts() as c:
        for _ in range(6):
            w.grad = None
            (w.tanh() * 3).sum().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
    assert c.compiles == 0 and c.flushes >= 5 and given == []


@pytest.mark.parametrize("said", ["", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"])
def test_the_c_library_is_told_to_keep_memory_unless_the_environment_says_otherwise(monkeypatch, said):
    told = []
    monkeypatch.setattr(room, "_c_library", lambda name: (lambda *args: told.append((name, *args))))
    for name in room._SAID:
        monkeypatch.delenv(name, raising=False)
    if said:
        monkeypatch.setenv(said, "1")
    room.keep.__wrapped__()
    assert told == ([] if said else [("mallopt", -1, room.KEPT), ("mallopt", -3, room.KEPT)])
