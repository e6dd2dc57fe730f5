"""torch.testing._internal.common_methods_invocations (layer 8): the list of operators for tests over all of them (`opinfo/`), and helpers."""

from ..._core import publish as _publish
from ...random import manual_seed
from .common_utils import freeze_rng_state
from .opinfo import definitions as _definitions
from .opinfo.core import (  # noqa: F401
    _NOTHING,
    XS,
    AliasInfo,
    BinaryUfuncInfo,
    DecorateInfo,
    ElementwiseBinaryPythonRefInfo,
    ElementwiseUnaryPythonRefInfo,
    ErrorInput,
    L,
    M,
    OpInfo,
    PythonRefInfo,
    ReductionOpInfo,
    ReductionPythonRefInfo,
    S,
    SampleInput,
    ShapeFuncInfo,
    SpectralFuncInfo,
    SpectralFuncType,
    UnaryUfuncInfo,
    _elementwise,
    gradcheck_wrapper_hermitian_input,
    gradcheck_wrapper_triangular_input,
)
from .opinfo.elementwise import *  # noqa: F403
from .opinfo.foreach import (  # noqa: F401
    ForeachFuncInfo,
    ForeachSampleInput,
    foreach_binary_op_db,
    foreach_other_op_db,
    foreach_pointwise_op_db,
    foreach_reduce_op_db,
    foreach_unary_op_db,
)

op_db = _definitions.op_db()
_of = lambda kind: [o for o in op_db if isinstance(o, kind)]  # noqa: E731
unary_ufuncs, binary_ufuncs, reduction_ops = _of(UnaryUfuncInfo), _of(BinaryUfuncInfo), _of(ReductionOpInfo)
spectral_funcs, shape_funcs = _of(SpectralFuncInfo), _of(ShapeFuncInfo)

sparse_unary_ufuncs, sparse_csr_unary_ufuncs, sparse_masked_reduction_ops = [], [], []  # there are no such layouts
python_ref_db: list = []  # this package describes no references in Python
ops_and_refs, reference_filtered_ops = [*op_db, *python_ref_db], [o for o in op_db if o.ref is not None]
reference_masked_ops = [o for o in reference_filtered_ops if o.name.startswith("masked.")]


def wrapper_set_seed(op, *args, **kwargs):
    """Call an operator from the same random state each time."""
    with freeze_rng_state():
        manual_seed(42)
        return op(*args, **kwargs)


def mask_not_all_zeros(shape):
    """A random mask of a non-empty shape with at least one True."""
    table = _publish.load_all()
    while True:
        mask = table["torch.randn"](shape).gt(0)
        if mask.sum() > 0:
            return mask


def index_variable(shape, max_indices, device="cpu"):
    """Random indices below `max_indices`."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    return _publish.load_all()["torch.randint"](0, max_indices, shape, device=device)


def gather_variable(shape, index_dim, max_indices, duplicate=False, device="cpu"):
    """Indices of a shape of two dims: along the other dim, a permutation each (or twice the same)."""
    table = _publish.load_all()
    rows = [table["torch.randperm"](max_indices, device=device)[:shape[index_dim]] for _ in range(shape[1 - index_dim])]
    if duplicate:
        rows[1] = rows[0]
    out = table["torch.stack"](rows)
    return out.t().contiguous() if index_dim == 0 else out


def sample_inputs_elementwise_unary(op_info, device, dtype, requires_grad, **kwargs):
    """Samples of an operator of one operand."""
    return _elementwise(op_info, device, dtype, requires_grad)


__getattr__ = _publish.missing("torch.testing._internal.common_methods_invocations")
