"""torch's words about checkpoints (layer 7)."""

from __future__ import annotations

WITHOUT_CHOICE = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint without "
    "use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can "
    "pass use_reentrant=True. Refer to "
    "docs for more details on the differences between the two variants.")
WITHOUT_CHOICE_SEQUENTIAL = (
    "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version 2.9 we will raise an exception if "
    "use_reentrant is not passed. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two variants.")
UNPACKED_TWICE = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are calling ctx.saved_tensors in backward, "
    "make sure to do so only once. Otherwise please open an issue with details on your use case.")
TIP = """

Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""


def mismatch(count, first, second, check_types):
    """What is wrong with a second run, or None; `first` and `second` are the types of what the runs saved."""
    if count != len(second):
        return ("torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {count}\nNumber of tensors saved during recomputation: {len(second)}.")
    different = [(i, a, b) for i, (a, b) in enumerate(zip(first, second)) if a != b] if check_types else ()
    if not different:
        return None
    lines = "".join(f"tensor at position {i}:\nsaved metadata: {a}\nrecomputed metadata: {b}\n" for i, a, b in different)
    return f"torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n{lines}."


def debug_report(first, second):
    """The report of `debug=True`: what both runs saved."""
    def rows(types):
        return "\n".join(f"  {i}: {t['dtype']} {list(t['shape'])}" for i, t in enumerate(types)) or "  nothing"

    return (" An error happened while unpacking tensors; dumping logs of latest computation\nbecause you passed `debug=True` to "
            f"`torch.utils.checkpoint.checkpoint()`.\nSaved by the original forward:\n{rows(first)}\nSaved by the recomputation:\n{rows(second)}\n"
            " ERROR: Detected non-determinism while running activation checkpointing\n\n You are seeing this error because you passed `debug=True` to "
            "checkpoint and what the recomputation\n saved is not what the original forward saved: compare the lists above.\n")


UNPACKED_TWICE_TOGETHER = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. Performing two backward calls that overlap (i.e. require "
    "the same saved activation in order to compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. If you are calling "
    "ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details on your use case.")
