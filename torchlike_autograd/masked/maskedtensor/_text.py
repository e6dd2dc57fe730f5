"""How a masked tensor is printed (layer 8)."""

from __future__ import annotations

from ..._core.overriding import Off
from ...sparse._tensor import dense_of
from .core import has_places


def shown(x):
    """The numbers that are there, "--" for the others."""
    with Off():
        data, mask = x._masked_data, x._masked_mask
        if has_places(x):
            data, mask = dense_of(data), dense_of(mask)
        dims, data, mask = data.ndim, data.tolist(), mask.tolist()
    if not dims:
        return f"MaskedTensor({_number(data) if mask else '--'}, {mask})"
    return "MaskedTensor(\n" + _indented(_rows(data, mask, dims)) + "\n)"


def _number(x):
    return f"{x:8.4f}" if isinstance(x, float) else str(x)


def _indented(text):
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _rows(data, mask, dims):
    if dims == 1:
        numbers = [_number(x) for x in data]
        width = max((len(text) if there else 8 for text, there in zip(numbers, mask)), default=0)
        return "[" + ", ".join(text if there else "--".rjust(width) for text, there in zip(numbers, mask)) + "]"
    return "[\n" + ",\n".join(_indented(_rows(*row, dims - 1)) for row in zip(data, mask)) + "\n]"
