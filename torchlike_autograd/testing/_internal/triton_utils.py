"""torch.testing._internal.triton_utils (layer 8): there is no device that Triton writes kernels for."""

import unittest

from ..._core import publish as _publish

requires_cuda_and_triton = unittest.skipUnless(False, "requires cuda and triton")
requires_xpu_and_triton = unittest.skipUnless(False, "requires xpu and triton")
requires_gpu_and_triton = unittest.skipUnless(False, "requires gpu and triton")
requires_gpu = unittest.skipUnless(False, "requires gpu")

__getattr__ = _publish.missing("torch.testing._internal.triton_utils")
