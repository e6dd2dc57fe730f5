"""Rules of a test over operators (layer 8): samples that it skips, or is expected to fail with."""

from __future__ import annotations

import contextlib
import re
import unittest
from dataclasses import dataclass

running: list = []  # the rules of the test that runs, innermost last


@dataclass
class SampleRule:
    """Which operators and samples are meant: two functions, of (device, operator) and of (device, sample)."""

    op_match_fn: object = None
    sample_match_fn: object = None
    name: str = ""

    def fits(self, device, op, sample):
        """Whether the rule is about this sample."""
        return (self.op_match_fn is None or bool(self.op_match_fn(device, op))) and bool(self.sample_match_fn(device, sample))


@dataclass
class XFailRule(SampleRule):
    """Samples that the test fails with, by this class of exception and words that match."""

    error_type: type = Exception
    error_msg: str = ".*"

    @property
    def type(self):
        """What the rule is called."""
        return "xfail"

    @contextlib.contextmanager
    def get_context(self, test_case):
        """A context whose body must raise as said."""
        with test_case.assertRaisesRegex(self.error_type, re.compile(self.error_msg, re.DOTALL)):
            yield


@dataclass
class SkipRule(SampleRule):
    """Samples that the test leaves out."""

    @property
    def type(self):
        """What the rule is called."""
        return "skip"

    @contextlib.contextmanager
    def get_context(self, test_case):
        """A context that skips."""
        raise unittest.SkipTest("Skipped!")
        yield


def sample_skips_and_xfails(rules):
    """A decorator: these rules hold for the samples of a test that asks for them with `use_subtests=True`."""

    def decorate(fn):
        if hasattr(fn, "sample_skips_and_xfails"):
            raise RuntimeError("Multiple sets of sample_skips_and_xfails defined")
        fn.sample_skips_and_xfails = rules
        return fn

    return decorate


def with_subtests(op, device, samples, wanted):
    """The samples, with their contexts where `wanted`."""
    held = running[-1] if running else ()
    if not wanted:
        if held:
            raise RuntimeError("Sample-specific skips / xfails require use_subtests=True.")
        return samples
    return [(s, _subtest(s, i), _expected(device, op, s, held)) for i, s in enumerate(samples)]


def _subtest(sample, i):
    return lambda test_case: test_case.subTest(sample=sample.name or "", idx=i)


def _expected(device, op, sample, rules):
    rule = next((r for r in rules if r.fits(device, op, sample)), None)
    return (lambda test_case: contextlib.nullcontext()) if rule is None else rule.get_context
