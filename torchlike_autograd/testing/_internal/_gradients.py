"""`TestGradients` (layer 8): the checks that tests of the gradients of many operators call."""

from __future__ import annotations

import unittest

from ..._tensor import Tensor
from ...autograd import forward_ad
from .common_utils import TestCase, gradcheck, gradgradcheck


class TestGradients(TestCase):
    """Checks gradients of an operator (`OpInfo`) at its samples."""

    exact_dtype = True

    def _get_safe_inplace(self, inplace_variant):
        """A method in place, called on a copy."""
        return lambda t, *args, **kwargs: inplace_variant(t.clone(), *args, **kwargs)

    def _skip_helper(self, op, device, dtype):
        if dtype not in op.supported_backward_dtypes("cpu"):
            self.skipTest("Skipped! Op doesn't support autograd for this dtype.")
        if not op.supports_autograd and not op.supports_forward_ad:
            self.skipTest("Skipped! autograd not supported.")

    def _check_helper(self, device, dtype, op, variant, check, *, check_forward_ad=False, check_backward_ad=True, check_batched_grad=None,
                      check_batched_forward_grad=False):
        if variant is None:
            self.skipTest("Skipped! Variant not implemented.")
        samples = op.sample_inputs(device, dtype, requires_grad=True)
        for sample in samples:
            if sample.broadcasts_input and self._inplace(op, variant):
                continue
            self._one(op, variant, sample, check, {"check_forward_ad": check_forward_ad, "check_backward_ad": check_backward_ad,
                      "check_batched_grad": check_batched_grad, "check_batched_forward_grad": check_batched_forward_grad})

    def _inplace(self, op, variant):
        return variant in (op.inplace_variant, op.inplace_operator_variant)

    def _one(self, op, variant, sample, check, options):
        first = list(sample.input) if isinstance(sample.input, (list, tuple)) else [sample.input]
        n, many = len(first), isinstance(sample.input, (list, tuple))
        others = [a for a in sample.args if isinstance(a, Tensor) and a.requires_grad]

        def fn(*inputs):
            left = iter(inputs[n:])
            args = [next(left) if isinstance(a, Tensor) and a.requires_grad else a for a in sample.args]
            out = op.gradcheck_wrapper(variant, type(sample.input)(inputs[:n]) if many else inputs[0], *args, **sample.kwargs)
            return sample.output_process_fn_grad(_differentiable(out))

        inputs = (*first, *others)
        if check == "gradcheck":
            if options["check_batched_grad"] is None:
                options["check_batched_grad"] = op.check_batched_grad
            self.assertTrue(gradcheck(fn, inputs, check_grad_dtypes=True, nondet_tol=op.gradcheck_nondet_tol, fast_mode=op.gradcheck_fast_mode,
                                      check_undefined_grad=True, **options))
            return
        if check == "bwgrad_bwgrad":
            kind = {"check_fwd_over_rev": False, "check_rev_over_rev": True, "check_batched_grad": op.check_batched_gradgrad}
        elif check == "fwgrad_bwgrad":
            kind = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False, "check_batched_grad": False}
        else:
            raise RuntimeError("Unknown check type")
        self.assertTrue(gradgradcheck(fn, inputs, gen_non_contig_grad_outputs=True, check_grad_dtypes=True, nondet_tol=op.gradcheck_nondet_tol,
                                      fast_mode=op.gradcheck_fast_mode, **kind))

    def _grad_test_helper(self, device, dtype, op, variant, *, check_forward_ad=False, check_backward_ad=True, check_batched_grad=None,
                          check_batched_forward_grad=False):
        return self._check_helper(device, dtype, op, variant, "gradcheck", check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad,
                                  check_batched_grad=check_batched_grad, check_batched_forward_grad=check_batched_forward_grad)

    def _gradgrad_test_helper(self, device, dtype, op, variant):
        return self._check_helper(device, dtype, op, variant, "bwgrad_bwgrad")

    def _forward_grad_helper(self, device, dtype, op, variant, is_inplace):
        if op.supports_forward_ad:
            batched = op.check_inplace_batched_forward_grad if is_inplace else op.check_batched_forward_grad
            self._grad_test_helper(device, dtype, op, variant, check_forward_ad=True, check_backward_ad=False, check_batched_grad=False,
                                   check_batched_forward_grad=batched)
            return
        with self.assertRaisesRegex(NotImplementedError, r"Trying to use forward AD with .* that does not support it"):
            self._forward_once(device, dtype, op, variant)

    def _forward_once(self, device, dtype, op, variant):
        for sample in op.sample_inputs(device, dtype):
            with forward_ad.dual_level():
                x = sample.input
                if not isinstance(x, Tensor):
                    raise unittest.SkipTest("the first argument is no tensor")
                variant(forward_ad.make_dual(x.detach(), x.detach().clone()), *sample.args, **sample.kwargs)


def _differentiable(out):
    """What a check can look at: the results with gradients, one of them alone."""
    if isinstance(out, Tensor):
        return out
    found = tuple(o for o in out if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex()))
    return found[0] if len(found) == 1 else found


