"""The records of a checkpoint (layer 7): a zip file as PyTorch writes and reads one, with its errors; check sums are not looked at, as there."""

from __future__ import annotations

import io
import os
import struct
import zipfile

_OLDEST, _NEWEST = 1, 10  # versions of files that torch 2.13 reads
_END = 22  # bytes of the shortest zip file
_ALIGNMENT = 64


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
        if ".format_version" in self:
            self.read(".format_version")
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

    def _place(self, name):
        """Where the bytes of a record that is stored as it is begin."""
        info = self._records.get(name)
        if info is None:
            raise broken(f"locating file {name}: file not found")
        self._zip.fp.seek(info.header_offset)
        head = self._zip.fp.read(30)
        if head[:4] != b"PK\x03\x04":
            raise broken(f"reading file {name}: invalid header or archive is corrupted")
        return info, info.header_offset + 30 + sum(struct.unpack("<HH", head[26:]))

    def read(self, name):
        """The bytes of a record, in memory of their own."""
        info, begin = self._place(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return bytearray(self._zip.read(info))
        self._zip.fp.seek(begin)
        return taken(self._zip.fp, info.file_size)


def taken(file, count):
    """The next bytes of a file in memory of their own: large ones are there once."""
    if not hasattr(file, "readinto"):
        return bytearray(file.read(count))
    out = bytearray(count)
    got = file.readinto(out)
    return out if got == count else out[:got]


class PyTorchFileReader(Archive):
    """The same by PyTorch's names, of a path or an open file."""

    def __init__(self, file):
        super().__init__(open(file, "rb") if isinstance(file, (str, os.PathLike)) else file)  # noqa: SIM115

    def get_record(self, name):
        """The bytes of a record."""
        return bytes(self.read(name))

    def has_record(self, name):
        """Whether there is a record."""
        return name in self

    def get_all_records(self):
        """The names of the records."""
        return list(self._records)

    def get_record_offset(self, name):
        """Where the bytes of a record begin in the file."""
        return self._place(name)[1]

    def get_record_header_offset(self, name):
        """Where the header of a record begins in the file."""
        return self._place(name)[0].header_offset

    def get_record_size(self, name):
        """Bytes of a record."""
        return self._place(name)[0].file_size

    def serialization_id(self):
        """The number of the file, from its contents."""
        return self.get_record(".data/serialization_id").decode() if ".data/serialization_id" in self else ""


class PyTorchFileWriter:
    """Writes a path, or into an open file, a zip file of records whose bytes begin at multiples of 64."""

    def __init__(self, file, compute_crc32=True, storage_alignment=_ALIGNMENT):
        path = isinstance(file, (str, os.PathLike))
        self._name = os.path.splitext(os.path.basename(os.fspath(file)))[0] if path else "archive"
        self._file, self._own, self._alignment, self._written = open(file, "wb") if path else file, path, storage_alignment, []  # noqa: SIM115
        self._out = self._file if _can_seek(self._file) else io.BytesIO()
        self._zip = zipfile.ZipFile(self._out, "w", zipfile.ZIP_STORED)

    def archive_name(self):
        """The folder that the records lie in."""
        return self._name

    def get_all_written_records(self):
        """The names of what was written."""
        return set(self._written)

    def write_record(self, name, data, size):
        """One record of the first bytes of something."""
        data = memoryview(data.encode() if isinstance(data, str) else data).cast("B")[:size]
        info = zipfile.ZipInfo(f"{self._name}/{name}", (1980, 1, 1, 0, 0, 0))
        pad = -(self._zip.fp.tell() + 30 + len(info.filename.encode()) + 4) % self._alignment
        info.extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
        self._zip.writestr(info, data)
        self._written.append(name)

    def write_end_of_file(self):
        """The end: what says where the records are."""
        if "version" not in self._written:
            self.write_record("version", b"3\n", 2)
        self._zip.close()
        if self._out is not self._file:
            self._file.write(self._out.getvalue())
        if self._own:
            self._file.close()

    def abandon(self):
        """Write no end."""
        self._zip.fp = None
        if self._own:
            self._file.close()


def _can_seek(file):
    return hasattr(file, "seek") and hasattr(file, "tell") and getattr(file, "seekable", lambda: True)()
