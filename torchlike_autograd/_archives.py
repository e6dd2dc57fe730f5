"""The records of a checkpoint (layer 8): a zip file as PyTorch reads one, with its errors; check sums are not looked at, as there."""

from __future__ import annotations

import struct
import zipfile

_OLDEST, _NEWEST = 1, 10  # versions of files that torch 2.13 reads
_END = 22  # bytes of the shortest zip file


def broken(what):
    """What PyTorch says of a file that is damaged."""
    return RuntimeError(
        f"PytorchStreamReader failed {what}. This is an internal miniz error. If you are seeing this error, there is a high likelihood that your checkpoint "
        "file is corrupted. This can happen if the checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving.")


def _refused(line, said):
    return RuntimeError(f"[enforce fail at inline_container.cc:{line}] . {said}")


class Archive:
    """The records of an open file by their names, without the folder that all of them lie in."""

    def __init__(self, file):
        start = file.tell()
        size = file.seek(0, 2) - start
        file.seek(start)
        if size < _END:
            raise broken("reading zip archive: not a ZIP archive")
        try:
            self._zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise broken("reading zip archive: failed finding central directory") from None
        folder, inside, _ = self._zip.namelist()[0].partition("/")
        if not inside:
            raise _refused(180, f"file in archive is not in a subdirectory: {folder}")
        self._records = {i.filename.removeprefix(f"{folder}/"): i for i in self._zip.infolist()}
        self._check_version()

    def __contains__(self, name):
        return name in self._records

    def _check_version(self):
        if "version" not in self:
            raise RuntimeError('Expected hasRecord("version") to be true, but got false.  (Could this error message be improved?  If so, please report an '
                               "enhancement request to PyTorch.)")
        said = self.read("version").decode()
        try:
            version = int(said)
        except ValueError:
            raise _refused(215, f"Couldn't parse the version {said} as Long Long.") from None
        if version < _OLDEST:
            raise _refused(219, f"Attempted to read a PyTorch file with version {version}, but the minimum supported version for reading is {_OLDEST}. Your "
                                "PyTorch script module file is too old. Please regenerate it with latest version of PyTorch to mitigate this issue.")
        if version > _NEWEST:
            raise _refused(230, f"Attempted to read a PyTorch file with version {version}, but the maximum supported version for reading is {_NEWEST}. The "
                                "version of your PyTorch installation may be too old, please upgrade PyTorch to latest version to mitigate this issue.")

    def read(self, name):
        """The bytes of a record."""
        info = self._records.get(name)
        if info is None:
            raise broken(f"locating file {name}: file not found")
        if info.compress_type != zipfile.ZIP_STORED:
            return self._zip.read(info)
        file = self._zip.fp
        file.seek(info.header_offset)
        file.seek(info.header_offset + 30 + sum(struct.unpack("<HH", file.read(30)[26:])))
        return file.read(info.file_size)
