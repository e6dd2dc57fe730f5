"""Checks of tensors made full or empty that tests of `common_utils` call (layer 8)."""

from __future__ import annotations

from ..._core import publish as _publish


def do_test_dtypes(self, dtypes, layout, device):
    """`zeros` and its kin of each dtype say the dtype, layout and device they were asked for."""
    make = _publish.load_all()["torch.zeros"]
    for dtype in dtypes:
        if str(dtype) == "torch.float16":
            continue
        out = make((2, 3), dtype=dtype, layout=layout, device=device)
        self.assertIs(dtype, out.dtype)
        self.assertIs(layout, out.layout)
        self.assertEqual(device, out.device)


def _check(self, value, dtype, layout, device, fill, requires_grad):
    self.assertEqual((2, 3), tuple(value.shape))
    self.assertIs(dtype, value.dtype)
    self.assertIs(layout, value.layout)
    self.assertEqual(value.requires_grad, requires_grad)
    if device is not None:
        self.assertEqual(device, value.device)
    if fill is not None:
        self.assertTrue(bool((value == fill).all()))


def do_test_empty_full(self, dtypes, layout, device):
    """`empty`, `full`, `new_empty`, `new_full`, `empty_like` and `full_like` of each dtype."""
    table = _publish.load_all()
    for dtype in dtypes:
        wants = dtype.is_floating_point
        how = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": wants}
        of = lambda fill, value, w=wants, d=dtype: _check(self, value, d, layout, device, fill, w)  # noqa: E731
        v = table["torch.empty"]((2, 3), **how)
        of(None, v)
        of(None, v.new_empty((2, 3), **how))
        of(None, table["torch.empty_like"](v, **how))
        one = True if str(dtype) == "torch.bool" else 7
        full = table["torch.full"]((2, 3), one, **how)
        of(one, full)
        of(one, full.new_full((2, 3), one, **how))
        of(one, table["torch.full_like"](v, one, **how))
