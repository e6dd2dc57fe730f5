"""The optional C module; everything else about the package is in pyproject.toml."""

import runpy
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

core = Path("torchlike_autograd/_core")
speed = runpy.run_path(str(core / "speed.py"))
module = Extension(
    "_torchlike_speed",
    [str(core / "native" / "speed.c")],
    depends=sorted(map(str, (core / "native").glob("*.h"))),
    define_macros=[("SOURCE", f'"{speed["source_hash"]()}"')],
    libraries=[] if sys.platform == "win32" else ["m"],
    extra_compile_args=[] if sys.platform == "win32" else ["-ffp-contract=off", "-fno-math-errno"],  # each product and sum is rounded, as torch rounds
    optional=True,  # without a compiler the package is complete, only slower
)
setup(ext_modules=[] if sysconfig.get_config_var("Py_GIL_DISABLED") else [module])
