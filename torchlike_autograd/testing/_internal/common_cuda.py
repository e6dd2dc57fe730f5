"""torch.testing._internal.common_cuda (layer 8): there is no CUDA in the sense of these flags."""

from ..._core import publish as _publish

TEST_CUDA = TEST_MULTIGPU = TEST_CUDNN = TEST_MAGMA = SM53OrLater = SM60OrLater = SM70OrLater = SM80OrLater = False
TEST_CUDNN_VERSION = 0
CUDA_DEVICE = None

__getattr__ = _publish.missing("torch.testing._internal.common_cuda")
