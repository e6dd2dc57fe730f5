"""What a structure that came once leaves behind (_core/sightings.py)."""

import gc

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute, record, sightings, worth


@pytest.fixture(autouse=True)
def poor():
    """Nothing compiled, and no credit to compile at first sight."""
    execute.clear_caches()
    saved = worth.credit[0]
    worth.credit[0] = 0
    yield
    worth.credit[0] = saved
    execute.clear_caches()


FUNCTIONS = torch.tanh, torch.sin, torch.exp, torch.neg
W = torch.full((3,), 0.5, requires_grad=True)


def step(number):
    """A structure for each number; the gradient of a sum."""
    x = W
    for _ in range(7):
        number, k = divmod(number, 4)
        x = FUNCTIONS[k](x * 0.5)
    x.sum().backward()
    g = W.grad.tolist()
    W.grad = None
    return g


def kept():
    return record.ROOT_NODES[0], len(execute._programs), len(record.ROOT.next)


def test_nothing_but_a_hash():
    step(0)
    before, objects = kept(), None
    for number in range(1, 201):
        step(number)
        if number == 20:
            gc.collect()
            objects = len(gc.get_objects())
    assert kept() == before
    assert len(sightings._seen) == 201
    gc.collect()
    assert len(gc.get_objects()) - objects < 100


def test_what_comes_again_is_kept_and_compiled_in_time(monkeypatch):
    expected = step(77)
    start = dict(execute.stats)
    monkeypatch.setattr(worth, "spent", [1e9, 1])  # compiling is dear
    for _ in range(9):
        assert step(77) == pytest.approx(expected, rel=1e-6)
        worth.credit[0] = 0
        assert execute.stats["compiles"] == start["compiles"]
        assert len(execute._programs) == 1
    monkeypatch.setattr(worth, "spent", [1e-3, 1e12])  # and has paid off now
    for _ in range(3):
        assert step(77) == pytest.approx(expected, rel=1e-6)
    assert execute.stats["compiles"] == start["compiles"] + 1
    assert execute.stats["hits"] == start["hits"] + 2


def test_structures_that_share_a_beginning_stay_when_another_goes():
    for _ in range(3):
        step(5)
    nodes = kept()
    programs = set(execute._programs)
    step(5 + 4**6)
    assert kept() == nodes and set(execute._programs) == programs
    start = execute.stats["op_by_op"]
    step(5)
    assert execute.stats["op_by_op"] == start + 1
    assert kept() == nodes


def test_a_graph_outlives_its_structure():
    x = torch.full((2,), 2.0, requires_grad=True)
    y = (x * x).sin().sum()
    value = y.item()  # the tape ends here, its structure is forgotten
    step(9)
    y.backward()
    assert x.grad.tolist() == pytest.approx((2 * x * (x * x).cos()).tolist())
    assert value == pytest.approx((x * x).sin().sum().item())


def test_the_bound_on_programs_takes_a_new_one_first(monkeypatch):
    """Pruning may drop the very program that runs; nothing is left to forget then."""
    real = execute._remember

    def pruned(program):
        real(program)
        program.prefix.programs.pop(program.mask)
        execute._programs.pop((program.prefix, program.mask))

    monkeypatch.setattr(execute, "_remember", pruned)
    assert step(3) == step(3)
