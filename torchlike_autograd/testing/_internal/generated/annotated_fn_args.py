"""torch.testing._internal.generated.annotated_fn_args (layer 8): the parameters of functions that can be overridden."""

from ...._overridable import annotated

annotated_args = annotated()
