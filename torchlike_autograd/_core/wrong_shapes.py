"""torch's words for results that do not have the shape of the tensor they are to be written to (layer 6)."""

from __future__ import annotations

_BAD_CALL = frozenset(("addmm", "addmv", "baddbmm"))


def wrong_shape(name, own, found, operands, device="cpu"):
    """The error of an in-place call; operands: the shapes of all that takes part."""
    if device == "meta":
        return RuntimeError(f"output with shape torch.Size({list(own)}) doesn't match the broadcast shape ({', '.join(map(str, found))})")
    own, found = list(own), list(found)
    if name in _BAD_CALL:
        return RuntimeError(f"Bad in-place call: input tensor size {own} and output tensor size {found} should match")
    if name == "addr":
        if len(own) != 2:
            return RuntimeError(f"2D tensor expected, got {len(own)}D tensor for input")
        return RuntimeError(f"size mismatch, input: {own}, v1: {list(operands[1])}, v2: {list(operands[2])}")
    return RuntimeError(f"output with shape {own} doesn't match the broadcast shape {found}")


__all__ = ["wrong_shape"]
