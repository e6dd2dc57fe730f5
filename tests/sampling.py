"""How much of the large tables `pytest` runs: a sample by default, everything with ``TLA_TESTS=all``."""

import os

EVERYTHING = os.environ.get("TLA_TESTS") == "all"


def sample(items, step):
    """Every `step`-th of the items."""
    return list(items) if EVERYTHING else list(items)[::step]
