"""torch.profiler.profiler (layer 8): where PyTorch defines what torch.profiler gives on."""

from . import ProfilerAction, ProfilerActivity, profile, schedule, supported_activities, tensorboard_trace_handler

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "schedule", "supported_activities", "tensorboard_trace_handler"]


def _default_schedule_fn(_):
    """What a profile without a schedule does in each step."""
    return ProfilerAction.RECORD
