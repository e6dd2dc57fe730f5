"""The entries of the operators that draw: every name that takes a generator has one, and a wrong number or one too many is seen."""

import copy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import columns, draws, names

ELSEWHERE = "torch.utils.data."  # loaders and samplers, which cases ask


def test_every_name_that_takes_a_generator_has_an_entry():
    known, asked = names.read(), set()
    for entry in draws.entries().values():
        asked |= {p if p.startswith("torch.") else f"torch.{p}" for p in (entry["path"], *entry["also"])}
    takes = {n for n, fact in known.items() if any("generator" in s for s in fact.get("sigs", ())) and not n.startswith(ELSEWHERE)}
    assert sorted(takes - asked) == []


def test_torch_drew_for_each_and_for_no_entry_of_the_table():
    drew = {key for key, answer in columns.answers().items() if answer["seen"]["random stream"] != "fixed"}
    assert drew == set(draws.entries())


def test_a_wrong_stream_is_seen():
    for key in draws.entries():
        seen = columns.answers()[key]["seen"]
        assert not columns.compare(seen, seen)["random stream"]
        other = copy.deepcopy(seen)
        other["random stream"][0]["0"][1]["tensor"]["values"][0] += 0.5  # a number too many was taken
        assert columns.compare(seen, other)["random stream"] and columns.compare(seen, {**seen, "random stream": "fixed"})["random stream"]


def test_an_entry_that_draws_where_torchs_does_not_is_seen():
    seen = columns.answers()["abs"]["seen"]
    assert "random stream" not in columns.compare(seen, seen)
    assert columns.compare(seen, {**seen, "random stream": [1.0]})["random stream"]


def test_the_dtypes_of_every_entry_are_asked():
    assert [k for k, answer in columns.answers().items() if set(answer["seen"]["dtype rules"]) != set(columns.DTYPES)] == []
