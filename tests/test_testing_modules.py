"""torch.testing._internal: tests of modules, losses written out, rules of samples, what optimizers refuse."""

import unittest
import warnings

import pytest

import torchlike_autograd as torch
from torchlike_autograd.testing._internal import common_device_type as devices
from torchlike_autograd.testing._internal import common_methods_invocations as invocations
from torchlike_autograd.testing._internal import common_nn, common_optimizers, common_utils
from torchlike_autograd.testing._internal.opinfo import core

F = torch.nn.functional


def run(cls):
    """(number of tests, errors and failures, number of skipped ones)."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return result.testsRun, [text for _, text in result.failures + result.errors], len(result.skipped)


def test_names_of_numbers():
    @common_utils.instantiate_parametrized_tests
    class Tests(common_utils.TestCase):
        @common_utils.parametrize("s", [-1.5, "a.b", (1,)])
        def test_it(self, s):
            pass

    assert sorted(n for n in dir(Tests) if n.startswith("test_")) == ["test_it_s2", "test_it_s_-1_5", "test_it_s_a_b"]


def test_jacobians_of_modules():
    class Tests(common_nn.NNTestCase):
        def _forward(self, module, input):
            return module(input)

        def _backward(self, module, input, output, grad_output, create_graph=False):
            output.backward(grad_output, retain_graph=True, create_graph=create_graph)
            return None if input.grad is None else input.grad.data

        def _get_parameters(self, module):
            return list(module.parameters()), [p.grad for p in module.parameters()]

        def _zero_grad_parameters(self, module):
            for p in module.parameters():
                p.grad = None

        def test_linear(self):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                described = common_nn.NewModuleTest(torch.nn.Linear, constructor_args=(3, 2), input_size=(2, 3), default_dtype=torch.float64,
                                                    reference_fn=lambda x, p, _: x @ p[0].t() + p[1])
                assert described.get_name() == "test_Linear"
                described(self)

        def test_wrong(self):
            class Wrong(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2

                @staticmethod
                def backward(ctx, g):
                    return g * 3

            class Module(torch.nn.Module):
                def forward(self, x):
                    return Wrong.apply(x)

            with warnings.catch_warnings(), self.assertRaises(AssertionError):
                warnings.simplefilter("ignore")
                self.check_jacobian(Module(), torch.ones(2, dtype=torch.float64, requires_grad=True))

    assert run(Tests) == (2, [], 0)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_written_out(reduction):
    torch.manual_seed(0)
    x, w, t = torch.randn(5, 4, dtype=torch.float64), torch.rand(4, dtype=torch.float64), torch.randint(0, 4, (5,))
    written, near = common_nn.loss_reference_fns, torch.testing.assert_close
    near(written["NLLLoss"](x.log_softmax(1), t, w, reduction=reduction), F.nll_loss(x.log_softmax(1), t, w, reduction=reduction))
    near(written["CrossEntropyLoss"](x, t, w, reduction=reduction, label_smoothing=0.1), F.cross_entropy(x, t, w, reduction=reduction, label_smoothing=0.1))
    near(written["MultiMarginLoss"](x, t, weight=w, reduction=reduction), F.multi_margin_loss(x, t, weight=w, reduction=reduction))
    logs, labels = torch.randn(6, 2, 4, dtype=torch.float64).log_softmax(-1), torch.tensor([[1, 1, 2], [3, 2, 1]])
    near(written["CTCLoss"](logs, labels, [6, 5], [3, 2], reduction=reduction), F.ctc_loss(logs, labels, [6, 5], [3, 2], reduction=reduction))


def test_rules_of_samples():
    sine = next(o for o in invocations.op_db if o.name == "sin")
    scalars = core.XFailRule(sample_match_fn=lambda device, sample: sample.input.ndim == 0, error_type=ValueError, error_msg="scalar")
    others = core.SkipRule(sample_match_fn=lambda device, sample: sample.input.ndim == 1)
    scope, seen = {}, []

    class Tests(common_utils.TestCase):
        @core.sample_skips_and_xfails([scalars, others])
        @devices.ops([sine], allowed_dtypes=(torch.float32,))
        def test_it(self, device, dtype, op):
            for sample, subtest, expected in op.sample_inputs(device, dtype, use_subtests=True):
                with subtest(self), expected(self):
                    seen.append(sample.input.ndim)
                    if sample.input.ndim == 0:
                        raise ValueError("scalar")

        @core.sample_skips_and_xfails([scalars])
        @devices.ops([sine], allowed_dtypes=(torch.float32,))
        def test_without(self, device, dtype, op):
            with self.assertRaisesRegex(RuntimeError, "use_subtests=True"):
                op.sample_inputs(device, dtype)

    scope["Tests"] = Tests
    devices.instantiate_device_type_tests(Tests, scope)
    count, wrong, _ = run(scope["TestsCPU"])
    assert (count, wrong) == (2, [])
    assert 0 in seen and 1 not in seen


def test_what_optimizers_refuse():
    for given in common_optimizers.get_error_inputs_for_all_optims("cpu", torch.float32):
        call = given.optimizer_error_input
        params = [torch.nn.Parameter(torch.ones(1))] if call.params is None else call.params
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(given.error_type, match=given.error_regex):
                torch.optim.SGD(params, **{"lr": 0.1, **call.kwargs})


def test_tensors_in_order():
    class Tests(common_utils.TestCase):
        def test_it(self):
            kept, t = common_optimizers.TensorTracker(), torch.ones(2)
            kept.add(t)
            t.add_(1e-7)
            kept.pop_check_set(t, self)
            self.assertTrue(kept.all_popped())
            self.assertEqual(t, torch.ones(2), rtol=0, atol=0)

    assert run(Tests) == (1, [], 0)
