"""torch.utils.tensorboard (layer 9): event files, written with the `tensorboard` package; ModuleNotFoundError without it."""

import tensorboard  # noqa: F401 - says at once what is missing
from tensorboard.summary.writer.record_writer import RecordWriter

from ..._core import publish as _publish
from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
__getattr__ = _publish.missing("torch.utils.tensorboard")
