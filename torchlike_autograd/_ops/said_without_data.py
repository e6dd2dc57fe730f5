"""torch's words for shapes that do not fit, on device "meta" (layer 2): there they are checked by other code, which says it otherwise."""

from __future__ import annotations

import re

from .._core.nothing import KEY

_BROADCAST = "The size of tensor a ("
_KEPT = frozenset(("_copy_", "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"))  # whose kernels broadcast by themselves there too


def formed(spec, avals, make):
    """make(spec, avals); where one of the types is on "meta", its errors in torch's words for that device."""
    if all(a.device != KEY for a in avals):
        return make(spec, avals)
    try:
        return make(spec, avals)
    except RuntimeError as error:
        words = reworded(spec.op.name, [a.shape for a in avals if a.device != "number"], str(error))
        raise (error if words is None else RuntimeError(words)) from None


def reworded(name, shapes, said):
    """The words for an operator and the shapes of its tensors; None where they are those of other devices."""
    if "on the expected device" in said:
        return None
    if name in ("mm", "addmm"):
        return _product(shapes[-2:], shapes[:-2])
    if name == "addmv":
        return broadcast([shapes[1][:1], shapes[0]]) if len(shapes[1]) == 2 and shapes[1][1:] == shapes[2] else None
    if name == "mv":
        a, b = shapes
        return f"matrix @ vector expected, got {len(a)}, {len(b)}" if (len(a), len(b)) != (2, 1) else f"size mismatch, got input ({a[0]}x{a[1]}), vec ({b[0]})"
    if name == "dot":
        return said.replace("to have the same", "to have thesame")
    if name == "cat":
        return _joined(shapes, said)
    if name == "native_layer_norm" and said.startswith("Given normalized_shape"):
        return f"{said.replace('[*, ', '[').rpartition('size')[0]}size {_size(shapes[0])}"
    if name == "native_layer_norm" and said.startswith("Expected weight"):
        return said.replace("of shape [", "of shape torch.Size([").replace("] and", "]) and")
    if name == "stack":
        return f"stack expects each tensor to be equal size, but got {_size(shapes[0])} at entry 0 "
    if name in ("convolution", "conv1d", "conv2d", "conv3d") and said.startswith("Given groups="):
        return "Invalid channel dimensions"
    if name == "masked_fill":
        return broadcast([shapes[1], (), shapes[0]])
    return broadcast(shapes) if said.startswith(_BROADCAST) and name not in _KEPT else None


def _joined(shapes, said):
    if said.startswith("Tensors must have"):
        first = next(len(s) for s in shapes if s != (0,))
        place = next(i for i, s in enumerate(shapes) if s != (0,) and len(s) != first)
        return (f"Number of dimensions of tensors must match.  Expected {first}-D tensors, but got {len(shapes[place])}-D for tensor number {place} in the "
                "list")
    m = re.fullmatch(r"(Sizes of tensors must match except in dimension (\d+)\. Expected) size \d+ but got size \d+ (for tensor number (\d+) in the list)\.", said)
    if m is None:
        return None
    first, other = next(s for s in shapes if s != (0,)), shapes[int(m[4])]
    at = next(i for i, (a, b) in enumerate(zip(first, other)) if a != b and i != int(m[2]))
    return f"{m[1]} {first[at]} in dimension {at} but got {other[at]} {m[3]}"


def _product(factors, added):
    a, b = factors
    if len(a) != 2 or len(b) != 2:
        return "a must be 2D" if len(a) != 2 else "b must be 2D"
    if a[1] != b[0]:
        return f"a and b must have same reduction dim, but got {list(a)} X {list(b)}."
    return broadcast([(a[0], b[1]), *added])


def broadcast(shapes):
    """What is said of the first shape that does not fit those before it; None where all fit."""
    common = [1] * max(map(len, shapes), default=0)
    for place, shape in enumerate(shapes):
        for i in range(-1, -1 - len(shape), -1):
            if common[i] == 1:
                common[i] = shape[i]
            elif shape[i] not in (1, common[i]):
                return (f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index {place} had {_size(shape)}; but "
                        f"expected shape should be broadcastable to {common}")
    return None


def _size(shape):
    return f"torch.Size({list(shape)})"


__all__ = ["broadcast", "formed", "reworded"]
