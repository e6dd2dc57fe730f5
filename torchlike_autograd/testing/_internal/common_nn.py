"""torch.testing._internal.common_nn (layer 8): a test case that compares Jacobians of modules, small networks, and what tests of modules are made with.

`module_tests` and `criterion_tests`, from which PyTorch's file generates tests of its modules, are empty: `common_modules.module_db` describes modules here.
"""

from __future__ import annotations

import importlib
import tempfile
import unittest

from ..._core import publish as _publish
from ..._tensor import Tensor
from ...autograd.gradcheck import get_numerical_jacobian
from .common_nn_losses import *  # noqa: F403
from .common_nn_losses import loss_reference_fns  # noqa: F401
from .common_utils import TestCase, freeze_rng_state

_torch = importlib.import_module(__package__.split(".")[0])
nn = _torch.nn
module_tests: list = []
criterion_tests: list = []


def _iter_tensors(x, only_requiring_grad=False):
    """The tensors of a tensor or of nested sequences of them."""
    if isinstance(x, Tensor):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, (list, tuple)):
        for a in x:
            yield from _iter_tensors(a, only_requiring_grad)


def get_new_module_tests():
    """No further ones."""
    return []


def get_reduction(m):
    """The reduction of a loss, its old flag first."""
    result = getattr(m, "reduction", None)
    if result is None:
        result = nn._reduction.legacy_get_string(getattr(m, "sizeAverage", None), True, emit_warning=False)
    return result


def get_weight(m):
    """The weight of a module, or None."""
    result = getattr(m, "weight", None)
    return result if result is not None else getattr(m, "weights", None)


def single_batch_reference_fn(input, parameters, module):
    """What a module gives for one example as a batch of one, without the dim of the batch."""
    alone = lambda x: x.unsqueeze(0) if isinstance(x, Tensor) else x  # noqa: E731
    with freeze_rng_state():
        return module(*(alone(x) for x in (input if isinstance(input, (list, tuple)) else (input,)))).squeeze(0)


def _create_basic_net():
    """(a layer with a parameter and a buffer, a net around it with both, a Sequential that holds the net twice)."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer_dummy_param = nn.Parameter(_torch.empty(3, 5))
            self.layer_dummy_buf = nn.Buffer(_torch.zeros(1, 3, 3, 7))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1 = Layer()
            self.dummy_param = nn.Parameter(_torch.empty(3, 5))
            self.dummy_buf = nn.Buffer(_torch.zeros(7, 3, 3, 1))

    net = Net()
    return net.l1, net, nn.Sequential(net, net)


def _test_bfloat16_ops(test_case, op, device, inp_dims=(), prec=1e-2, scale_factor=None):
    """Values and gradients of a module in bfloat16 are near those in float32."""
    small = _torch.randn(inp_dims, device=device).bfloat16()
    wide, small = small.float().requires_grad_(), small.requires_grad_()
    expected, made = op(wide), op.to(device).bfloat16()(small) if isinstance(op, nn.Module) else op(small)
    g = _torch.randn_like(expected)
    expected.backward(g)
    made.backward(g.bfloat16())
    test_case.assertEqual(expected, made, atol=prec, rtol=prec, exact_dtype=False)
    test_case.assertEqual(wide.grad, small.grad, atol=prec, rtol=prec, exact_dtype=False)


def _test_module_empty_input(test_case, module, inp, check_size=True, inference=False):
    """A module takes an input without elements; its gradient is of the same shape."""
    if not inference:
        inp.requires_grad_(True)
    out = module(inp)
    if check_size:
        test_case.assertEqual(out.size(), inp.size())
    if not inference:
        out.backward(_torch.rand_like(out))
        for p in module.parameters():
            if p.requires_grad:
                test_case.assertEqual(p.grad, _torch.zeros_like(p.grad))
        test_case.assertEqual(inp.grad, _torch.zeros_like(inp))


class NNTestCase(TestCase):
    """Tests of modules; a subclass says how to call one forward and backward."""

    def _forward(self, *args, **kwargs):
        raise NotImplementedError

    def _backward(self, module, input, output, grad_output, create_graph=False):
        raise NotImplementedError

    def _get_parameters(self, module):
        raise NotImplementedError

    def _zero_grad_parameters(self, module):
        raise NotImplementedError

    def _jacobian(self, input, num_out):
        """Zeros of the shape of a Jacobian: (elements of the input, `num_out`), for each tensor of the input."""
        if isinstance(input, (tuple, list)):
            return type(input)(self._jacobian(x, num_out) for x in input)
        return _torch.zeros(input.nelement(), num_out)

    def _flatten_tensors(self, x):
        if isinstance(x, Tensor):
            return x.to_dense().view(-1) if x.is_sparse else x.view(-1)
        return tuple(self._flatten_tensors(a) for a in x)

    def _zero_grad_input(self, input):
        for x in _iter_tensors(input, True):
            if x.grad is not None:
                with _torch.no_grad():
                    x.grad.zero_()
                x.grad.detach_()

    def _analytical_jacobian(self, module, input, jacobian_input=True, jacobian_parameters=True):
        """The Jacobians that backward passes give, of the inputs and of the parameters, by the wish of the flags."""
        output = self._forward(module, input)
        _, d_params = self._get_parameters(module) if jacobian_parameters else ((), ())
        size = output.nelement()
        of_input, rows = self._jacobian(input, size) if jacobian_input else None, []
        for i in range(size):
            d_out = _torch.zeros_like(output)
            d_out.view(-1)[i] = 1
            if jacobian_parameters:
                self._zero_grad_parameters(module)
            if jacobian_input:
                self._zero_grad_input(input)
            d_input = self._backward(module, input, output, d_out)
            if jacobian_input:
                self._write(of_input, d_input, i)
            if jacobian_parameters:
                _, d_params = self._get_parameters(module)
                rows.append(_torch.cat([d.detach().clone().view(-1) for d in d_params if d is not None]))
        result = (of_input,) if jacobian_input else ()
        return (*result, _torch.stack(rows, 1)) if jacobian_parameters else result

    def _write(self, into, d, i):
        if isinstance(into, Tensor):
            into[:, i] = 0 if d is None else d.contiguous().view(-1)
            return
        for x, y in zip(into, d, strict=True):
            self._write(x, y, i)

    def _numerical_jacobian(self, module, input, jacobian_input=True, jacobian_parameters=True):
        """Those of finite differences."""
        result = ()
        if jacobian_input:
            result += (get_numerical_jacobian(lambda x: self._forward(module, x if isinstance(input, tuple) else x[0]), input, eps=1e-6),)
        if jacobian_parameters:
            params, _ = self._get_parameters(module)
            of = lambda p: get_numerical_jacobian(lambda _: self._forward(module, input), p, p, eps=1e-6)[0]  # noqa: E731
            result += (_torch.cat([of(p) for p in params], 0),)
        return result

    def check_jacobian(self, module, input, jacobian_input=True):
        """Both are near each other."""
        parameters = bool(self._get_parameters(module)[0])
        analytical = self._analytical_jacobian(module, input, jacobian_input, parameters)
        numerical = self._numerical_jacobian(module, input, jacobian_input, parameters)
        pairs = zip(_iter_tensors(analytical), _iter_tensors(numerical), strict=True)
        far = [float((a - n).abs().max()) for a, n in pairs if a.numel()]
        self.assertLessEqual(max(far, default=0.0), 1e-5)


class TestBase:
    """One described test: how to make a module, its input, its name."""

    _required_arg_names = {"constructor_args", "input", "extra_args"}

    def __init__(self, constructor, desc="", reference_fn=None, fullname=None, **kwargs):
        self.constructor, self.desc, self.reference_fn, self.fullname = constructor, desc, reference_fn, fullname
        for name in self._required_arg_names:
            if not {name, f"{name}_fn", f"{name}_size"} & set(kwargs):
                if name not in ("constructor_args", "extra_args"):
                    raise ValueError(f"{self.get_name()}: Specify {name} by a value, a function to generate it, or it's size!")
                kwargs[name] = ()
        self._extra_kwargs, self._arg_cache = kwargs, {}

    def get_name(self):
        """The name of the test."""
        return f"test_{self.fullname}" if self.fullname is not None else "_".join(x for x in (f"test_{self.constructor.__name__}", self.desc) if x)

    def _get_arg(self, name, unpack):
        if name not in self._arg_cache:
            given, size = self._extra_kwargs, f"{name}_size"
            self._arg_cache[name] = given[name] if name in given else given[f"{name}_fn"]() if f"{name}_fn" in given else _made(given[size])
        return self._arg_cache[name]

    def _get_input(self, unpack=True):
        return self._get_arg("input", unpack)

    @property
    def constructor_args(self):
        """Arguments of the constructor."""
        return self._get_arg("constructor_args", True)

    @property
    def extra_args(self):
        """Further arguments of the call."""
        return self._get_arg("extra_args", True)

    def __call__(self, test_case):
        raise NotImplementedError


def _made(sizes):
    if isinstance(sizes, list):
        return [_made(s) for s in sizes]
    return _torch.randn(sizes) if not sizes or isinstance(sizes[0], int) else tuple(_made(s) for s in sizes)


class ModuleTest(TestBase):
    """A module against its reference, and its Jacobian; saved and loaded it gives the same."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.jacobian_input, self.should_test_cuda = kwargs.get("jacobian_input", True), False
        self.check_forward_only = kwargs.get("check_forward_only", False)
        self.default_dtype = kwargs.get("default_dtype") or _torch.get_default_dtype()

    def __call__(self, test_case):
        """Run it."""
        before = _torch.get_default_dtype()
        _torch.set_default_dtype(self.default_dtype)
        try:
            module, input = self.constructor(*self.constructor_args), self._get_input()
            if self.reference_fn is not None:
                given = input if isinstance(input, tuple) else (input,)
                test_case.assertEqual(test_case._forward(module, input), self.reference_fn(*given, test_case._get_parameters(module)[0], module))
            if self.check_forward_only:
                return
            self._again(test_case, module, input)
            self._do_test(test_case, module, input)
        finally:
            _torch.set_default_dtype(before)

    def _again(self, test_case, module, input):
        with tempfile.TemporaryFile() as f:
            test_case._forward(module, input)
            _torch.save(module, f)
            f.seek(0)
            test_case.assertEqual(test_case._forward(module, input), test_case._forward(_torch.load(f, weights_only=False), input))

    def _do_test(self, test_case, module, input):
        test_case.check_jacobian(module, input, self.jacobian_input)

    def test_cuda(self, test_case):
        """Skipped: there is no CUDA in the sense of these tests."""
        raise unittest.SkipTest("Excluded from CUDA tests")


class InputVariableMixin:
    """Inputs that want gradients."""

    def _get_input(self):
        given = TestBase._get_input(self, False)
        for x in _iter_tensors(given):
            if x.is_floating_point() or x.is_complex():
                x.requires_grad_()
        return given


class NewModuleTest(InputVariableMixin, ModuleTest):
    """A module whose gradients are also checked by `gradcheck`."""

    def _do_test(self, test_case, module, input):
        test_case.check_jacobian(module, input, self.jacobian_input)
        params = tuple(module.parameters())
        inputs = input if isinstance(input, tuple) else (input,)
        check = lambda *args: test_case._forward(module, args[:len(inputs)] if isinstance(input, tuple) else args[0])  # noqa: E731
        test_case.assertTrue(_torch.autograd.gradcheck(check, inputs + params))
        if self._extra_kwargs.get("check_gradgrad", True):
            test_case.assertTrue(_torch.autograd.gradgradcheck(check, inputs + params))


class CriterionTest(InputVariableMixin, TestBase):
    """A loss against its reference, and its gradients."""

    _required_arg_names = TestBase._required_arg_names | {"target"}

    def _get_target(self):
        return self._get_arg("target", True)

    def __call__(self, test_case):
        """Run it."""
        module, input, target = self.constructor(*self.constructor_args), self._get_input(), self._get_target()
        if self.reference_fn is not None:
            out = test_case._forward_criterion(module, input, target, extra_args=self.extra_args)
            test_case.assertEqual(out, self.reference_fn(input, target, *self.extra_args, module))
        inputs = input if isinstance(input, tuple) else (input,)
        call = lambda *args: module(*args, target, *self.extra_args)  # noqa: E731
        test_case.assertTrue(_torch.autograd.gradcheck(call, inputs))
        if self._extra_kwargs.get("check_gradgrad", True):
            test_case.assertTrue(_torch.autograd.gradgradcheck(call, inputs))

    def test_cuda(self, test_case, dtype=None, extra_args=None):
        """Skipped."""
        raise unittest.SkipTest("Excluded from CUDA tests")


__getattr__ = _publish.missing("torch.testing._internal.common_nn")
