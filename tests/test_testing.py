"""torch.testing._internal: what PyTorch's own test files import runs here as they expect."""

import unittest

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd.testing._internal import common_device_type as devices
from torchlike_autograd.testing._internal import common_utils as utils


def run(cls):
    """(number of tests, names of those that fail, number of skipped ones)."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return result.testsRun, [t.id().rpartition(".")[2] for t, _ in result.failures + result.errors], len(result.skipped)


def test_parametrised_names():
    @utils.instantiate_parametrized_tests
    class Tests(utils.TestCase):
        @utils.parametrize("x", [1, 2])
        @utils.parametrize("d", [torch.float32, "a"])
        @utils.parametrize("p,q", [(None, len), utils.subtest((1, 2), name="n")])
        def test_a(self, x, d, p, q):
            self.assertNotEqual(x, 2)

    names = [n for n in dir(Tests) if n.startswith("test")]  # as torch 2.13 names them
    assert names == ["test_a_x_1_d_a_n", "test_a_x_1_d_a_p0_q0", "test_a_x_1_float32_n", "test_a_x_1_float32_p0_q0", "test_a_x_2_d_a_n", "test_a_x_2_d_a_p0_q0",
                     "test_a_x_2_float32_n", "test_a_x_2_float32_p0_q0"]
    count, failed, _ = run(Tests)
    assert count == 8
    assert all("x_2" in n for n in failed)
    assert len(failed) == 4


def test_device_types():
    class Tests(utils.TestCase):
        @devices.dtypes(torch.float32, torch.float64)
        @utils.parametrize("flag", [True, (1, 2)])
        def test_b(self, device, dtype, flag):
            self.assertEqual(torch.ones(2, device=device, dtype=dtype), [1, 1])

        @devices.onlyCUDA
        def test_c(self, device):
            self.fail("there is none")

    scope = {"Tests": Tests}
    devices.instantiate_device_type_tests(Tests, scope)
    assert "Tests" not in scope
    names = [n for n in dir(scope["TestsCPU"]) if n.startswith("test")]
    assert names == ["test_b_flag1_cpu_float32", "test_b_flag1_cpu_float64", "test_b_flag_True_cpu_float32", "test_b_flag_True_cpu_float64", "test_c_cpu"]
    assert run(scope["TestsCPU"]) == (5, [], 1)


@pytest.mark.parametrize(("x", "y", "equal"), [
    (torch.ones(2), torch.ones(2), True), (torch.ones(2), torch.ones(2).double(), False), (torch.ones(1), 1, True), (1.0, torch.ones(()), True),
    (torch.ones(2), [1.0, 1.0], True),
    ([1, torch.ones(2)], [1, torch.ones(2)], True), ({"a": 1}, {"a": 2}, False), ("a", "a", True), (None, None, True), (torch.ones(2), torch.ones(3), False),
    (1.0, 1.0 + 1e-9, True), (1, 2, False), (float("nan"), float("nan"), True), (torch.float32, torch.float32, True), ("float16", np.dtype("float16"), True),
    ({1}, {2}, False), (True, 1, True)])
def test_equal(x, y, equal):
    case = utils.TestCase()
    if equal:
        case.assertEqual(x, y)
    else:
        with pytest.raises(AssertionError):
            case.assertEqual(x, y)
        case.assertNotEqual(x, y)


def test_guards():
    with utils.set_default_dtype(torch.float64):
        assert torch.ones(1).dtype is torch.float64
    assert torch.ones(1).dtype is torch.float32
    torch.manual_seed(0)
    with utils.freeze_rng_state():
        a = torch.rand(2)
    assert torch.equal(torch.rand(2), a)
    assert utils.gradcheck(torch.sin, torch.ones(2, dtype=torch.float64, requires_grad=True))


def test_what_is_not_there_says_so():
    from torchlike_autograd.utils import cpp_extension

    with pytest.raises(NotImplementedError, match=r"torch\.utils"):
        cpp_extension.load_inline()


def test_logged_records():
    from torchlike_autograd.testing._internal import logging_utils as logs

    class Tests(logs.LoggingTestCase):
        @logs.make_logging_test(autograd=10)
        def test_debug(self, records):
            x = torch.ones(3, requires_grad=True)
            (x * 2).sum().backward()
            self.assertEqual(len(records), 3)
            self.assertIn("MulBackward0", self.getRecord(records, "Mul").getMessage())
            self.assertFalse(self.hasRecord(records, "Exp"))

        @logs.make_settings_test("+autograd")
        def test_variable(self, records):
            torch.ones(3, requires_grad=True).sin().sum().backward()
            self.assertEqual(len(records), 3)

        @logs.make_settings_test("autograd")
        def test_quiet(self, records):
            torch.ones(3, requires_grad=True).sin().sum().backward()
            self.assertEqual(records, [])

    assert run(Tests) == (3, [], 0)
    assert torch.autograd.graph.log.getEffectiveLevel() == 30


def test_recorded_texts_and_silence(tmp_path, monkeypatch):
    """`assertExpected` reads the file beside the test, `assertNotWarn` calls what it is given."""
    import sys
    import types
    import warnings

    class Tests(utils.TestCase):
        def test_there(self):
            self.assertExpected("a\nb", "part")

        def test_other(self):
            self.assertExpected("c", "part")

        def test_missing(self):
            with self.assertRaisesRegex(RuntimeError, "No expect file exists"):
                self.assertExpected("a")

        def test_quiet(self):
            self.assertNotWarn(lambda: None)

        def test_loud(self):
            self.assertNotWarn(lambda: warnings.warn("loud", stacklevel=1))

        def test_grad_mode(self):
            torch.set_grad_enabled(False)

        def test_process(self):
            self.assertIn(b"2.0", self.run_process_no_exception("import torch; print(torch.ones(2).sum().item())")[0])

    module = types.ModuleType("recorded_texts")
    module.__file__ = str(tmp_path / "recorded_texts.py")
    monkeypatch.setitem(sys.modules, "recorded_texts", module)
    Tests.__module__ = "recorded_texts"
    (tmp_path / "expect").mkdir()
    for name in ("test_there", "test_other"):
        (tmp_path / "expect" / f"{Tests.__qualname__}.{name}-part.expect").write_text("a\nb")
    assert run(Tests) == (7, ["test_loud", "test_other"], 0)
    assert torch.is_grad_enabled()


def test_advice_about_compiling_is_for_programs():
    """No test sees a warning that its own shapes brought about."""
    import warnings

    class Tests(utils.TestCase):
        def test_shapes(self):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                for n in range(1, 20):
                    torch.ones(n).mul(2).sum().item()
            self.assertEqual([str(w.message) for w in said], [])

    assert run(Tests) == (1, [], 0)
