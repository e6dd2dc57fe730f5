"""torch.testing._internal.autocast_test_lists (layer 8): operators under autocast with arguments, and the comparison with what is cast by hand."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from ..._core import publish as _publish
from .._creation import make_tensor
from .common_utils import TestCase

torch = importlib.import_module(__package__.split(".")[0])
_HERE, _N = "torch.testing._internal.autocast_test_lists", 8
AutocastTestLists = _publish.refused_class(_HERE, "AutocastTestLists", "the lists for GPUs are not here")


class AutocastCPUTestLists:
    """For the host: (operator, arguments, and keywords or, for those that promote by themselves, arguments with float16 and the dtype of the result)."""

    def __init__(self, dev):
        single, lower, half, whole = torch.float32, torch.bfloat16, torch.float16, torch.int64

        def made(*shape, dtype=single, low=0.1, high=0.9):
            return make_tensor(shape, dtype=dtype, device=dev, low=low, high=high)

        wide, pair, triple, image = made(_N), (_N, _N), (_N,) * 3, (_N,) * 4
        mixed, mixed_half = (wide, made(_N, dtype=lower)), (wide, made(_N, dtype=half))
        mat, batch, low = made(*pair), made(*triple), made(*pair, dtype=lower)
        classes, signs = torch.zeros(_N, dtype=whole, device=dev), torch.ones(_N, dtype=lower, device=dev)
        self.torch_expect_builtin_promote = [
            *((name, mixed, mixed_half, torch.bool) for name in ("eq", "ge", "gt", "le", "lt", "ne")),
            *((name, mixed, mixed_half, single) for name in ("add", "div", "mul"))]
        self.methods_expect_builtin_promote = [(f"__{name}__", *rest) for name, *rest in self.torch_expect_builtin_promote]
        self.torch_16 = [
            *((f"{name}{n}d", (made(*(_N,) * (n + 2)),) * 2) for name in ("conv", "conv_transpose") for n in (1, 2, 3)),
            ("bmm", (batch, batch)), ("mm", (mat, mat)), ("matmul", (mat, mat)), ("baddbmm", (batch, batch, batch)), ("addmm", (mat, mat, mat)),
            ("addbmm", (mat, batch, batch)), ("conv_tbc", (made(10, 7, 3), made(5, 3, 5), made(5), 0)), ("prelu", (wide, made(1)))]
        self.torch_fp32 = [
            ("poisson_nll_loss", (low, low, True, False, 1e-8, 1)),
            ("cosine_embedding_loss", (low[:1], low[1:2], torch.ones(1, dtype=torch.int32, device=dev))),
            ("hinge_embedding_loss", (low, torch.ones(_N, dtype=torch.int32, device=dev))), ("margin_ranking_loss", (low, low, signs)),
            ("triplet_margin_loss", (low, low, low)), ("binary_cross_entropy_with_logits", (low, low))]
        self.nn_16 = [("linear", (mat, mat), {})]
        self.nn_fp32 = [
            ("avg_pool3d", (made(*image, dtype=lower),), {"kernel_size": (3, 3, 3), "stride": (1, 1, 1)}),
            ("reflection_pad1d", (made(*triple, dtype=lower),), {"padding": (3, 3)}),
            ("nll_loss", (low, classes)), ("nll_loss2d", (made(*image, dtype=lower), torch.zeros(triple, dtype=whole, device=dev))),
            *((name, (low, low)) for name in ("binary_cross_entropy", "l1_loss", "smooth_l1_loss", "mse_loss", "huber_loss")),
            *((name, (low, torch.ones(pair, dtype=whole, device=dev))) for name in ("multilabel_margin_loss", "soft_margin_loss")),
            ("multi_margin_loss", (low, classes))]
        self.torch_need_autocast_promote = [
            (name, ((made(_N, dtype=lower), wide),), ((made(_N, dtype=half), wide),)) for name in ("cat", "stack")]


def _cast(x, dtype):
    if isinstance(x, torch.Tensor):
        return x.to(dtype) if x.is_floating_point() else x
    return type(x)(_cast(part, dtype) for part in x) if isinstance(x, Iterable) else x


def _same(x, y):
    if isinstance(x, torch.Tensor):
        return torch.equal(x, y)
    return all(map(_same, x, y)) if isinstance(x, Iterable) else x == y


class TestAutocast(TestCase):
    """What tests of autocast derive from."""

    def args_maybe_kwargs(self, op_with_args):
        """(operator, arguments, keywords) of an entry that may have no keywords."""
        return op_with_args if len(op_with_args) == 3 else (*op_with_args, {})

    def _run_autocast_outofplace(self, op, args, run_as_type, device, out_type=None, module=torch, add_kwargs=None, amp_dtype=torch.bfloat16):
        """The function of `module` and the method, where there are such, give `out_type` and what they give for arguments cast to `run_as_type`."""
        kwargs, out_type = add_kwargs or {}, out_type or run_as_type
        calls = [getattr(where, op) for where in (module, torch.Tensor) if where is not None and hasattr(where, op)]
        self.assertTrue(calls, f"{op} is neither a method nor in {module}")
        with torch.amp.autocast(device_type=device, dtype=amp_dtype):
            found = [f(*args, **kwargs) for f in calls]
            with torch.amp.autocast(device_type=device, enabled=False):
                self.assertFalse(torch.is_autocast_enabled(device_type=device))
                expected = calls[0](*_cast(args, run_as_type), **kwargs)
            self.assertTrue(torch.is_autocast_enabled(device_type=device))
        self.assertFalse(torch.is_autocast_enabled(device_type=device))
        for x in found:
            if isinstance(x, torch.Tensor):
                self.assertTrue(x.dtype == out_type, f"autocast for {op} produced {x.dtype}, should produce {out_type}")
            self.assertTrue(type(x) is type(expected) and _same(x, expected), f"{op} under autocast is not what it gives for arguments that are cast")


__getattr__ = _publish.missing(_HERE)
