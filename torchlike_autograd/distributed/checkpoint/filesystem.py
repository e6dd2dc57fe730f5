"""torch.distributed.checkpoint.filesystem (layer 9): checkpoints as two files of a folder: what there is, and the values by their paths.

The files are those of `torch.save`, not PyTorch's: one process writes a whole checkpoint here, and reads it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ...serialization import load, save

__all__ = ["FileSystemReader", "FileSystemWriter", "Metadata"]
_DATA, _METADATA = "__0_0.distcp", ".metadata"


@dataclass
class Metadata:
    """What a checkpoint holds: {path: size of a tensor, or None}."""

    state_dict_metadata: dict = field(default_factory=dict)


class FileSystemWriter:
    """Writes a folder."""

    def __init__(self, path, single_file_per_rank=True, sync_files=True, thread_count=1, overwrite=True):
        self.path, self.overwrite = os.fspath(path), overwrite

    def write(self, values):
        """Write {path: value}."""
        os.makedirs(self.path, exist_ok=True)
        if not self.overwrite and os.path.exists(os.path.join(self.path, _METADATA)):
            raise RuntimeError(f"Checkpoint already exists and self.overwrite={self.overwrite}.")
        told = {k: getattr(v, "shape", None) for k, v in values.items()}
        save(values, os.path.join(self.path, _DATA))
        save(told, os.path.join(self.path, _METADATA))
        return Metadata(told)


class FileSystemReader:
    """Reads what a FileSystemWriter wrote."""

    def __init__(self, path):
        self.path = os.fspath(path)

    def read_metadata(self):
        """What there is."""
        return Metadata(load(os.path.join(self.path, _METADATA), weights_only=False))

    def read(self):
        """{path: value}."""
        self.read_metadata()
        return load(os.path.join(self.path, _DATA), weights_only=False)
