"""The spellings: every row of the table that they answer (`compat_matrix/oracle_spellings` says where the answers come from)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import spellings
from torchlike_autograd.dialects import oneflow, oneflow_first

TABLE = spellings.read()


@pytest.mark.parametrize("spelling", spellings.SPELLINGS)
@pytest.mark.parametrize("name", TABLE["rows"])
def test_row(name, spelling):
    expected = TABLE["rows"][name][spelling]
    if expected is None:
        pytest.skip("the table has no answer")
    got = spellings.answer(name, spellings.spelling(spelling))
    assert spellings.agrees(expected, got), got


@pytest.mark.parametrize("name", spellings.read()["rows"])
def test_the_first_spelling_does_what_todays_does(name):
    assert not spellings.first_as_today(name, spellings.read()["rows"][name], spellings.spelling("oneflow first"))


def test_every_row_has_a_body_and_every_spelling_a_column():
    assert set(TABLE["rows"]) == set(spellings.BODIES)
    assert all(set(row) == set(spellings.SPELLINGS) for row in TABLE["rows"].values())


@pytest.mark.parametrize("name", TABLE["signatures"])
def test_signatures(name):
    for spelling, text in TABLE["signatures"][name].items():
        assert spellings.takes(text, spellings.signature(spellings.spelling(spelling), name))


def test_other_names_are_the_packages():
    import torchlike_autograd as torch

    assert oneflow.ones is oneflow_first.ones is torch.ones
    assert oneflow.autograd.Function is torch.autograd.Function
    x = oneflow.ones(2, requires_grad=True)
    with oneflow.no_grad():
        assert not (x * 2).requires_grad
