"""torch.testing._internal.opinfo.definitions.sparse (layer 8): samples of operators that take sparse tensors."""

from ....._core import publish as _publish


def validate_sample_input_sparse(op_info, sample, check_validate=False):
    """The sample: none of this package's is one that its operator refuses."""
    return sample


__getattr__ = _publish.missing("torch.testing._internal.opinfo.definitions.sparse")
