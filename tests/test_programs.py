"""Third-party programs: the table fits together; with TLA_PROGRAMS_CACHE=DIR (and a network the first time) they are run."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix.programs import __main__ as programs
from compat_matrix.programs import table

CACHE, TABLE = os.environ.get("TLA_PROGRAMS_CACHE"), table.read()


def test_the_table_fits_together():
    assert not table.strays(TABLE)


@pytest.mark.skipif(not CACHE, reason="TLA_PROGRAMS_CACHE names no folder to keep libraries in")
@pytest.mark.parametrize("name", TABLE)
def test_program(name):
    assert not programs.run({name: TABLE[name]}, CACHE, verbose=True)
