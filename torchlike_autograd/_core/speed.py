"""The optional C module (layer 0): `native` is `_torchlike_speed`, or None where it was not built, was built from other sources, or is switched off.

It holds the remembered paths of `hot.py`, `bind.py` and `record.py` in C, over the same Python objects; the package does the same without it, only
slower.  The environment variable TLA_NATIVE=0 switches it off.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

FOLDER = Path(__file__).parent / "native"


def source_hash() -> str:
    """What identifies the C sources beside this file; compiled into the module that was built from them."""
    return hashlib.sha256(b"".join(p.read_bytes() for p in sorted(FOLDER.glob("*.[ch]")))).hexdigest()


def _load():
    if os.environ.get("TLA_NATIVE", "1") == "0":
        return None
    try:
        import _torchlike_speed
    except ImportError:
        return None
    return _torchlike_speed if _torchlike_speed.source == source_hash() else None


native = _load()

__all__ = ["native", "source_hash"]
