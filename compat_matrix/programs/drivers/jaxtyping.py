"""Annotated functions that a type checker looks at."""
# ruff: noqa: F722 (strings in annotations are shapes)

import torch
from beartype import beartype
from jaxtyping import Bool, Complex, Float, Int, Shaped, jaxtyped
from torch import Tensor


@jaxtyped(typechecker=beartype)
def rows(x: Float[Tensor, "b d"], y: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
    return (x * y).sum(1)


def accepted(*args):
    try:
        return rows(*args)
    except Exception as e:
        return type(e).__name__


def program():
    x = torch.ones(2, 3, requires_grad=True)
    yield "called", accepted(x, x), accepted(x, torch.ones(2, 4)), accepted(x.int(), x), accepted(x.half(), x)
    for name, kind in {"Float": Float, "Int": Int, "Bool": Bool, "Complex": Complex, "Shaped": Shaped}.items():
        yield name, [isinstance(torch.zeros(2, dtype=d), kind[Tensor, "2"]) for d in (
            torch.float32, torch.float64, torch.bfloat16, torch.int8, torch.int64, torch.uint8, torch.bool, torch.complex64)]
    yield "numbers", isinstance(3.0, Float[Tensor, ""])
    yield "shapes", isinstance(x, Float[Tensor, "..."]), isinstance(x, Float[Tensor, "2 _"]), isinstance(x, Float[Tensor, "3 2"])
