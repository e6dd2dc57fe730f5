"""Printing, against texts recorded from torch (``data/print_oracle.json``)."""

import ast
import json
import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from torchlike_autograd import _tensor_str as printing

ORACLE = json.loads((Path(__file__).parent / "data" / "print_oracle.json").read_text())
CASES = ORACLE["cases"]
DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


@pytest.fixture(autouse=True)
def default_options():
    assert printing.get_printoptions() == DEFAULTS
    yield
    left = printing.get_printoptions()
    printing.set_printoptions(**DEFAULTS)
    assert left == DEFAULTS, "a test left other print options behind"


def numpy_type(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def array(case):
    dtype, shape = numpy_type(case["dtype"]), case["shape"]
    if case["data"] == "arange":
        return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    return np.frombuffer(bytes.fromhex(case["data"]), dtype).reshape(shape)


def replay(case):
    with printing.printoptions(**case["options"]):
        return printing.tensor_repr(array(case), dtype=case["dtype"], **case["facts"])


def case_name(case):
    return "-".join([case["dtype"], "x".join(map(str, case["shape"])) or "0d", *case["facts"]])


# ------------------------------------------------------------------------ the oracle


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_text(case):
    assert replay(case) == case["text"]


@pytest.mark.parametrize("case", ORACLE["scalars"], ids=lambda c: f"{c['dtype']}-{c['spec']}")
def test_scalar_format(case):
    value = np.frombuffer(bytes.fromhex(case["data"]), numpy_type(case["dtype"])).reshape(())
    if "text" in case:
        assert printing.scalar_format(value, case["spec"]) == case["text"]
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        printing.scalar_format(value, case["spec"])
    assert (caught.type.__name__, str(caught.value)) == (case["error"], case["message"])


def test_option_states():
    """Every call on top of the one before, as recorded."""
    with printing.printoptions():
        for state in ORACLE["states"]:
            printing.set_printoptions(**state["set"])
            now = {k: "inf" if v == math.inf else v for k, v in printing.get_printoptions().items()}
            assert now == state["then"], state["set"]


# ----------------------------------------------------------------- beyond the oracle


def test_cuda_device_comes_first():
    text = printing.tensor_repr(np.ones(2), dtype="float64", device="cuda:0", requires_grad=True)
    assert text == "tensor([1., 1.], device='cuda:0', dtype=torch.float64, requires_grad=True)"


def test_options_come_back_after_an_error():
    with pytest.raises(ZeroDivisionError), printing.printoptions(precision=1, sci_mode=True):
        raise ZeroDivisionError
    assert printing.get_printoptions() == DEFAULTS


def test_a_bad_precision_shows_when_printing():
    with printing.printoptions(precision=-1), pytest.raises(ValueError, match="missing precision"):
        printing.tensor_repr(np.float32(1.5), dtype="float32")


class EdgesOnly:
    """An array that counts what is read of it, and gives nothing away as a whole."""

    def __init__(self, *shape):
        self.shape, self.read = shape, 0

    def __getitem__(self, index):
        ends = np.broadcast_arrays(*index)
        self.read += ends[0].size
        return np.ravel_multi_index(ends, self.shape)


def test_only_the_edges_are_read():
    huge = EdgesOnly(10**5, 2, 10**6)
    text = printing.tensor_repr(huge, dtype="int64")
    assert huge.read == 6 * 2 * 6
    assert text.startswith("tensor([[[           0,            1,            2,  ...,")
    assert text.endswith("199999999998, 199999999999]]])")


def test_strided_and_big_endian_arrays():
    square = np.arange(12.0).reshape(3, 4)
    plain = printing.tensor_repr(np.ascontiguousarray(square.T[::-1]), dtype="float64")
    assert printing.tensor_repr(square.T[::-1], dtype="float64") == plain
    assert printing.tensor_repr(square.T[::-1].astype(">f8"), dtype="float64") == plain


def test_imports_only_numpy():
    tree = ast.parse(Path(printing.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not any(getattr(node, "level", 0) for node in imports)
    names = {getattr(node, "module", None) or node.names[0].name for node in imports}
    assert names - {"__future__", "collections.abc", "contextlib", "dataclasses",
                    "itertools", "math", "typing"} == {"numpy"}


# ------------------------------------------------------------------- test the tests


MUTANTS = {
    "a whole number without its point": ("_whole", lambda value: f"{value:.0f}"),
    "nothing is ever cut": ("_cuts", lambda shape: (False,) * len(shape)),
    "always fixed point": ("_float_style", lambda counted: "{:.4f}".format),
    "notes never wrap": ("_append_notes", lambda text, notes, indent: ", ".join([text, *notes])),
    "complex numbers by their real part": (
        "_complex_texts", lambda values: printing._float_texts(values.real)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_oracle_catches(name, monkeypatch):
    attribute, wrong = MUTANTS[name]
    monkeypatch.setattr(printing, attribute, wrong)
    assert any(replay(case) != case["text"] for case in CASES)
