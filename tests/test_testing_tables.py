"""The list of operators for tests: samples that run, tests made of it, Functions and operators with right gradients."""

import operator
import unittest

import numpy as np
import pytest

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd.autograd.gradcheck import GradcheckError
from torchlike_autograd.testing._internal import common_device_type as devices
from torchlike_autograd.testing._internal.autograd_function_db import autograd_function_db
from torchlike_autograd.testing._internal.common_methods_invocations import OpInfo, SampleInput, op_db
from torchlike_autograd.testing._internal.common_modules import module_db, modules
from torchlike_autograd.testing._internal.common_utils import TestCase, TestGradients
from torchlike_autograd.testing._internal.custom_op_db import custom_op_db

SLOW = ("linalg", "nn.functional", "special", "fft")
QUICK = [o for o in op_db if o.sample_inputs_func is not None and torch.float64 in o.dtypes and not o.name.startswith(SLOW)]


@pytest.mark.parametrize("op", sample(QUICK, 6), ids=lambda o: o.formatted_name)
def test_samples_run(op):
    for s in op.sample_inputs("cpu", torch.float64, requires_grad=op.supports_autograd):
        op(s.input, *s.args, **s.kwargs)


def test_every_operator_of_pytorch_is_named():
    names = {(o.name, o.variant_test_name) for o in op_db}
    assert len(names) == len(op_db) > 700
    assert {("add", ""), ("div", "floor_rounding"), ("nn.functional.conv2d", "")} <= names
    nothing = next(o for o in op_db if o.sample_inputs_func is None)
    with pytest.raises(unittest.SkipTest, match="no samples"):
        nothing.sample_inputs("cpu", torch.float32)


def test_tests_of_operators():
    some = [o for o in op_db if o.name in ("add", "sin")]

    class Each(TestCase):
        @devices.skipOps({devices.skip("sin")})
        @devices.ops(some, allowed_dtypes=(torch.float32, torch.int64))
        def test_it(self, device, dtype, op):
            for s in op.sample_inputs(device, dtype):
                self.assertEqual(s.input.dtype, dtype)

    scope = {}
    devices.instantiate_device_type_tests(Each, scope)
    found = unittest.defaultTestLoader.loadTestsFromTestCase(scope["EachCPU"])
    assert {t._testMethodName for t in found} == {f"test_it_{n}_cpu_{d}" for n in ("add", "sin") for d in ("float32", "int64")}
    result = unittest.TestResult()
    found.run(result)
    assert result.testsRun == 4 and len(result.skipped) == 2 and result.wasSuccessful()


@pytest.mark.parametrize("op", [o for o in autograd_function_db + custom_op_db if o.supports_autograd and "Grad" not in o.name], ids=lambda o: o.name)
def test_gradients(op):
    case = TestGradients()
    case._grad_test_helper("cpu", torch.float64, op, op.get_op(), check_batched_grad=False)


def test_gradients_that_are_wrong_fail():
    op = next(o for o in autograd_function_db if o.name.startswith("ScaleGrad"))
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        TestGradients()._grad_test_helper("cpu", torch.float64, op, op.get_op(), check_batched_grad=False)


def test_own_description():
    op = OpInfo("mul", dtypes=(torch.float32,), sample_inputs_func=lambda info, device, dtype, requires_grad, **_: [SampleInput(torch.ones(2), 3)])
    (s,) = op.sample_inputs("cpu", torch.float32)
    assert op(s.input, *s.args).tolist() == [3, 3] and op.inplace_variant is torch.Tensor.mul_
    with pytest.raises(TypeError, match="unexpected keyword"):
        OpInfo("mul", nonsense=1)


def test_modules():
    class Each(TestCase):
        @modules([m for m in module_db if m.module_cls in (torch.nn.Linear, torch.nn.BatchNorm1d)])
        def test_it(self, device, dtype, module_info, training):
            for given in module_info.module_inputs_func(module_info, device=device, dtype=dtype, requires_grad=False, training=training):
                m = module_info.module_cls(*given.constructor_input.args, dtype=dtype).train(training)
                self.assertEqual(m(*given.forward_input.args).dtype, dtype)

    scope = {}
    devices.instantiate_device_type_tests(Each, scope)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(scope["EachCPU"]).run(result)
    assert result.testsRun == 6 and result.wasSuccessful(), result.errors


def test_every_optimizer_is_made_and_refuses():
    from torchlike_autograd.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

    assert {o.optim_cls for o in optim_db} == {c for c in map(torch.optim.__dict__.get, torch.optim.__all__)
                                               if isinstance(c, type) and issubclass(c, torch.optim.Optimizer)} - {torch.optim.Optimizer}
    for info in optim_db:
        for given in info.optim_inputs_func(device="cpu"):
            info.optim_cls([torch.nn.Parameter(torch.ones(2, 3))], **given.kwargs)
        for refused in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
            assert refused.error_on is OptimizerErrorEnum.CONSTRUCTION_ERROR
            given = refused.optimizer_error_input
            params = [torch.nn.Parameter(torch.ones(2, 3))] if given.params is None else given.params
            catch = pytest.warns if issubclass(refused.error_type, Warning) else pytest.raises
            with catch(refused.error_type, match=refused.error_regex):
                info.optim_cls(params, **given.kwargs)


def test_every_module_is_made_and_differentiated():
    assert len({m.module_cls for m in module_db}) == len(module_db) == 114
    for info in sample(module_db, 12):
        for given in info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True, training=True):
            made, called = given.constructor_input, given.forward_input
            out = info.module_cls(*made.args, **made.kwargs).to(torch.float64)(*called.args, **called.kwargs)
            (out[0] if isinstance(out, tuple) else out).sum().backward()


def test_facts_of_kinds_of_operators():
    by = {(o.name, o.variant_test_name): o for o in op_db}
    assert by["acosh", ""].domain == [1, None] and by["lcm", ""].ref is np.lcm and by["special.erfcx", ""].ref is not None
    assert by["sum", ""].identity == 0 and by["argmax", ""].result_dtype is torch.int64 and not by["argmax", ""].supports_multiple_dims
    assert by["fft.fft2", ""].ndimensional.name == "TwoD" and by["add", ""].inplace_operator_variant is operator.iadd
    kept = np.array([[True, False], [True, True]])
    assert by["masked.sum", ""].ref(np.arange(4).reshape(2, 2), dim=[1], keepdim=True, mask=kept, identity=0).tolist() == [[0], [5]]
    assert by["var", ""].ref(np.arange(4.0), dim=0, unbiased=True) == np.var(np.arange(4.0), ddof=1)
    assert [by[n, ""].ref(np.array([-2, 0, 3])).tolist() for n in ("sign", "sgn")] == [[-1, 0, 1]] * 2
    assert any(d.is_active("TestUnaryUfuncs", "test_out_arg_all_dtypes", "cpu", torch.complex64, {}) for d in by["abs", ""].decorators)
