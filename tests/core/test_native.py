"""The C module and the Python that it shortens do the same: the same cases without it, and what it makes by itself compared slot by slot."""

import gc
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import torchlike_autograd as torch
from sampling import EVERYTHING
from torchlike_autograd._core import execute, lifetimes, record, rng_math, rng_stream, worth
from torchlike_autograd._core.speed import native, source_hash

ROOT = pathlib.Path(__file__).resolve().parents[2]
AREAS = ("engine", "hooks", "inplace", "modes", "views", "function")
needs_native = pytest.mark.skipif(native is None, reason="the C module is not built here: everything else ran without it")


def _run(code, **env):
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True)


WITHOUT = """
from compat_matrix import pool, work
from compat_matrix.run import BAD, show
bad = [r for r in pool.run([id for area in {areas!r} for id in work.ids(area)][::{step}]) if r.status in BAD]
raise SystemExit("\\n".join(map(show, bad)) or None)
"""


@needs_native
def test_cases_without_the_module():
    """The pure Python ways, which stand where there is no compiler."""
    done = _run(WITHOUT.format(areas=AREAS, step=1 if EVERYTHING else 8), TLA_NATIVE="0")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_native
def test_a_script_compiles_its_step_once_without_the_module():
    environment = {**os.environ, "TLA_NATIVE": "0"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "0", "-k", "step_once and nothing", str(ROOT / "tests/core/test_ends.py")],
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_native
def test_new_tape_is_a_tape():
    state = record.thread.state
    ours, theirs = native.new_tape(state), record.Tape(state)
    for name in record.Tape.__slots__:
        if name not in ("__weakref__", "serial"):
            a, b = getattr(ours, name), getattr(theirs, name)
            assert type(a) is type(b) and a == b, name
    assert theirs.serial == ours.serial + 1


@needs_native
def test_values_and_tensors_have_every_field():
    x = torch.ones(2) + 1
    y = x + x
    for name in record.Value.__slots__:
        assert name == "__weakref__" or hasattr(y._tl_v, name)
    assert vars(y) == {}


def test_switched_off():
    assert _run("from torchlike_autograd._core.speed import native; print(native)", TLA_NATIVE="0").stdout == "None\n"


@needs_native
def test_other_sources_are_refused():
    code = ("import _torchlike_speed as s, torchlike_autograd._core.speed as speed; assert speed._load() is s\n"
            "speed.source_hash = lambda: 'other'; assert speed._load() is None")
    done = _run(code)
    assert done.returncode == 0, done.stderr
    assert native.source == source_hash()


@needs_native
def test_error_in_a_run_leaves_the_next_one_whole():
    """What a compiled program raises comes out, and the record is whole again."""
    worth.credit[0] = worth.CREDIT_MAX  # compiled at first sight, whatever ran before
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def step():
        (x * 3).sum().backward()
        out, x.grad = x.grad.tolist(), None
        return out

    assert [step() for _ in range(4)] == [[3.0, 3.0]] * 4
    before = {p: p.runs for p in execute._programs.values()}
    step()
    (program,) = [p for p in execute._programs.values() if p.runs > before[p]]
    good = program.compiled
    assert good is not None

    def bad(*arrays):
        raise FloatingPointError("planted")

    program.compiled = bad
    with pytest.raises(FloatingPointError, match="planted"):
        step()
    program.compiled = good
    x.grad = None
    assert step() == [3.0, 3.0]


def test_subclasses_keep_their_class_and_state():
    class Mine(torch.Tensor):
        pass

    x = torch.tensor([1.0, 2.0])
    y = x.as_subclass(Mine)
    assert type(y) is Mine and y.tolist() == [1.0, 2.0]
    x.add_(1)
    assert y.tolist() == [2.0, 3.0]  # the same memory
    assert type(Mine([1.0])) is Mine


def test_indices_and_operands_that_the_shortcuts_do_not_take():
    x = torch.ones(3)
    assert x[1].item() == 1.0
    for index in (2**70, -(2**70), 3, -4):
        with pytest.raises((IndexError, ValueError)):
            x[index]
    assert (2 - x).tolist() == [1.0] * 3
    for wrong in ((x,), (x, 1, 2)):
        with pytest.raises(TypeError):
            torch.Tensor.__rsub__(*wrong)
    assert (x * 2).tolist() == [2.0] * 3



EDGES = """
import torchlike_autograd as torch
from torchlike_autograd._core import execute, lifetimes, record, rng_math, rng_stream, worth


def calls():
    x, w = torch.ones(3, 2), torch.full((2,), 0.5, requires_grad=True)
    y = torch.tanh(x * w) * 2 + 3.5 + True
    z = (y * 2j).real.transpose(0, 1)
    values, places = y.max(1)
    a, b = z.split(1)
    with torch.no_grad():
        w.mul_(0.5)
        n = w + 7
    out = (values + a.sum() * b.sum() + n.sum()).neg()
    y.mul_(x)
    return out, places, y


calls()
execute.clear_caches()  # the Forms are known, the edges are not
kept = calls()
node = record.thread.state.tape.prefix
while node.parent is not None:
    step = node.step
    print(type(step).__name__, [(k, getattr(step, k)) for k in type(step).__slots__])
    names = ("size", "inputs", "numbers", "weight", "turned", "watched", "frees", "setup", "used", "aval", "needs", "first")
    print([(k, type(x).__name__, x) for k in names for x in [getattr(node, k, None)]], len(node.parent.next), node.parent.next.get(None))
    node = node.parent
"""


@needs_native
def test_new_edges_are_those_of_python():
    ours, general = _run(EDGES), _run(EDGES, TLA_NATIVE="0")
    assert ours.returncode == general.returncode == 0, ours.stderr + general.stderr
    assert ours.stdout == general.stdout
    assert ours.stdout.count("Step") > 15


@needs_native
def test_what_is_held_is_told_apart_alike():
    """Native and Python keys of what is attached differ, and agree, between the same situations."""
    x = torch.ones(2, requires_grad=True)
    first = x * 2
    second = first * 3
    for t in (first, second):
        t.register_hook(lambda g: g)
    third, tape = second.sum(), first._tl_v.tape
    keys = []

    def note(dying=None):
        keys.append((native.attached(tape, dying), lifetimes._attached(tape, dying)))

    note()
    note(first._tl_v.slot)  # its tensor is about to be gone
    value = first._tl_v
    note(value.slot)  # but somebody holds its Value
    del value
    node = second.grad_fn
    note()
    del node
    note()
    second = t = None
    note()
    for a, b in keys:
        assert [a == other for other, _ in keys] == [b == other for _, other in keys]
    assert len({a for a, _ in keys}) == 4
    assert third._tl_v.tape is tape


@needs_native
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (0.3, 1.7), (-2.0, 0.0)])
def test_normal_numbers_have_the_same_bits(mean, std):
    words = np.random.default_rng(0).integers(0, 1 << 24, (2, 4096), dtype=np.uint32)
    words[:, :4] = [[0, 1, (1 << 24) - 1, 1 << 23]] * 2
    uniform = (words.astype(np.float32) * np.float32(2.0**-24)).reshape(2, -1, 8).swapaxes(0, 1).reshape(-1)
    ours = rng_math.box_muller(uniform, mean, std)
    assert ours.view(np.uint32).tolist() == rng_math._box_muller(uniform, mean, std).view(np.uint32).tolist()


@needs_native
@pytest.mark.parametrize("name", ("log", "log1p", "exp", "sin", "cos", "tan"))
def test_the_c_library_has_the_bits_of_python(name):
    x = np.random.default_rng(0).uniform(1e-3, 6.3, 4096)[::2]  # with gaps between
    assert rng_math._each(name, x).tolist() == rng_math._each_by_python(name, x).tolist()


def test_generators_that_came_after_others_are_fresh():
    drawn = []
    for turn in range(3):
        made = [rng_stream.Generator().manual_seed(seed) for seed in (1, 2, 1)]
        drawn.append([g.words(1000).tolist() for g in made])
        assert drawn[turn][0] == drawn[turn][2] != drawn[turn][1]
    assert drawn[0] == drawn[1] == drawn[2]
    assert rng_stream.Generator().get_state().tolist() == rng_stream.Generator().get_state().tolist()


@needs_native
@pytest.mark.parametrize("name", ("unary", "view", "with_number", "binary", "twin"))
def test_what_is_no_tensor_is_refused(name):
    with pytest.raises(TypeError, match="expected a Tensor, not 'int'"):
        getattr(native, name)(None, 3, 4, None)


def test_views_while_a_mode_calls_the_operator_again():
    """What hears of a call may make the spec's links grow: those that it had before are gone then."""
    x = torch.randn(3, 2, 4)
    for net in (torch.nn.LSTM(4, 5), torch.nn.GRU(4, 5, 2), torch.nn.LSTM(4, 5, 3)):
        with torch.utils.flop_counter.FlopCounterMode(display=False):
            net(x)[0].sum().backward()
        gc.collect()
    with torch.utils.flop_counter.FlopCounterMode(display=False):
        for n in range(2, 9):
            assert len(torch.ones(n, 2).unbind(0)) == len(torch.ones(n, 2).split(1)) == n
    gc.collect()
