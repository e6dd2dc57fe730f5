"""torch.backends.cuda: switches that keep what is written to them."""

import types

matmul = types.SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True)


def is_built() -> bool:
    """Whether support for CUDA was built."""
    return False
