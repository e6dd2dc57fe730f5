"""torch._dynamo.test_case (layer 8): the test case of `common_utils`; there is no tracer to reset around a test."""

from __future__ import annotations

from .._core import publish as _publish
from ..testing._internal.common_utils import TestCase, run_tests

__all__ = ["TestCase", "run_tests"]
__getattr__ = _publish.missing("torch._dynamo.test_case")
