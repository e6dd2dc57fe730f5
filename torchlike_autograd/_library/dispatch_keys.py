"""Names of dispatch keys (layer 8)."""

from __future__ import annotations

import re

_BACKENDS = "CPU|CUDA|HIP|XLA|MPS|IPU|XPU|HPU|VE|Lazy|MTIA|MAIA|PrivateUse[123]|Meta"
_OTHERS = (
    "Undefined|Dense|FPGA|Vulkan|Metal|CustomRNGKeyId|MkldnnCPU|Sparse|SparseCsr|Quantized|NestedTensor|BackendSelect|Python|Fake|FuncTorchDynamicLayerBackMode|"
    "Functionalize|Named|Conjugate|Negative|ZeroTensor|ADInplaceOrView|AutogradOther|AutogradFunctionality|AutogradNestedTensor|Tracer|Autocast|"
    "FuncTorchBatched|BatchedNestedTensor|FuncTorchVmapMode|Batched|VmapMode|FuncTorchGradWrapper|DeferredInit|PythonTLSSnapshot|"
    "FuncTorchDynamicLayerFrontMode|TESTING_ONLY_GenericWrapper|TESTING_ONLY_GenericMode|PreDispatch|PythonDispatcher|Autograd|CompositeImplicitAutograd|"
    "CompositeImplicitAutogradNestedTensor|CompositeExplicitAutograd|CompositeExplicitAutogradNonFunctional|FuncTorchBatchedDecomposition")
_ONE = re.compile(rf"(?:(?:Sparse|SparseCsr|Quantized|NestedTensor|Autograd|Autocast)?(?:{_BACKENDS})|{_OTHERS})")


def is_one(name):
    """Whether there is a dispatch key of this name."""
    return _ONE.fullmatch(name) is not None
