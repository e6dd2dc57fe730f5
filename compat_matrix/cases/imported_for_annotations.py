"""Names that programs import from torch._C although nothing can be made of them."""

from compat_matrix.case import case
from compat_matrix.observe import raises


@case("imported_for_annotations.value")
def _(torch):
    from importlib import import_module

    found = import_module(torch._C.__name__).Value
    yield "name", found.__name__, isinstance(torch.ones(1), found)
    yield "made", raises(found)
