"""Run the examples under real PyTorch and keep what they print.

``python -m compat_matrix.record_examples`` with an interpreter that has torch installed writes
``tests/data/examples_oracle.json``: the version of torch, and for every script of ``examples/``
the lines of its standard output. ``tests/test_examples.py`` compares ours with them.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET = ROOT / "tests" / "data" / "examples_oracle.json"


def torch_version() -> str:
    """Return the version of the installed torch, which must be the real one."""
    import torch

    if not hasattr(torch, "_C"):
        raise SystemExit("this needs PyTorch itself, not a module that stands in for it")
    return torch.__version__


def printed_by(script: pathlib.Path) -> list[str]:
    """Run one script and return the lines of its standard output."""
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{script.name} failed:\n{done.stderr}")
    return done.stdout.splitlines()


def main() -> None:
    """Record every example but those that are for JAX."""
    scripts = sorted(script for script in (ROOT / "examples").glob("*.py") if "import jax" not in script.read_text())
    record = {
        "torch": torch_version(),
        "scripts": {script.name: printed_by(script) for script in scripts},
    }
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{len(scripts)} scripts recorded in {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
