# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""A capture while it is written (FORMAT.md, section 6): records at their addresses, index, commits."""

import errno
import fcntl
import functools
import os
import re
import struct
from pathlib import Path

import numpy as np

from .digests import MASK, digest_bytes
from .errors import MoireError
from .schema import COMMITS, INDEX, INDEX_LINK, MAGIC, RECORD_TYPES, USER_BLOCK, VERSION
from .skeleton import Skeleton

_COMMIT_BYTES = 256
_ENTRY_BYTES = 16
# struct flock, of a 64-bit Linux: type, whence, start, length, pid.
_FLOCK = "hhqqi"


def prepare_target(path):
    """Checks that `path` can become a capture; an older partial file becomes PATH.part.old. Returns PATH.part."""
    path = Path(path)
    folder = path.parent
    if path.is_dir():
        raise MoireError(f"{path} is a folder; name a file")
    if not folder.is_dir():
        raise MoireError(f"there is no folder {folder}; make it first, or choose another one")
    part = path.with_name(path.name + ".part")
    if part.exists():
        with open(part, "rb") as file:
            if is_being_written(file.fileno()):
                raise MoireError(f"another process is recording into {part}; wait for it to end, or choose another name")
        os.replace(part, part.with_name(part.name + ".old"))
    return part


def is_being_written(descriptor):
    """Whether some open file holds the writer's lock."""
    asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
    try:
        found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, asked)
    except OSError:
        return False
    return struct.unpack(_FLOCK, found)[0] != fcntl.F_UNLCK


def _in_one_sentence(method):
    """The system's and HDF5's errors as ours."""

    @functools.wraps(method)
    def called(self, *args):
        try:
            return method(self, *args)
        except (OSError, RuntimeError, ValueError) as error:
            number = getattr(error, "errno", None) or _number_in(str(error))
            why = os.strerror(number) if number else str(error).splitlines()[0]
            raise MoireError(f"cannot write {self.path}: {why}; what was committed before stays in it") from error

    return called


def _number_in(text):
    """The errno that HDF5 wrote into its message."""
    found = re.search(r"errno = (\d+)", text)
    return int(found.group(1)) if found else None


class PartFile:
    """Knows where every chunk lies. Tables are named by their place in the list given."""

    def __init__(self, path, tables, chunks):
        self.path = path
        self._tables = tables
        self.chunks = chunks
        self._addresses = [[] for _ in tables]
        self._sequence = 0
        self._new_entries = []
        self._index_count = 0
        self._index_digest = 0
        self._descriptor = self._skeleton = None
        self._create()

    @_in_one_sentence
    def _create(self):
        self._skeleton = Skeleton(self.path, self._tables, self.chunks)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        self._lock()
        self._base = self._find_base()
        self._grow_index()
        self._write_user_block()

    def _lock(self):
        lock = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, lock)
        except OSError:
            pass  # a file system without locks: nobody can tell then that this writer lives

    def _find_base(self):
        """HDF5 versions differ in whether addresses count from the user block's end: a record written shows it."""
        mark = b"\xa5" * (2 * _COMMIT_BYTES)
        self._skeleton.extend(COMMITS, 2)
        self._skeleton.write_records(COMMITS, np.frombuffer(mark, RECORD_TYPES["/commit"]).copy())
        self._skeleton.flush()
        address = self._skeleton.chunk_address(COMMITS, 0)
        for base in (0, USER_BLOCK):
            if os.pread(self._descriptor, len(mark), address + base) == mark:
                self._addresses[COMMITS] = [address + base]
                self._write_at(address + base, bytes(len(mark)))
                return base
        raise MoireError("this version of HDF5 does not say where it puts chunks; install h5py with HDF5 1.10 or later")

    def _write_user_block(self):
        head = MAGIC + struct.pack("<IIQQQQ", VERSION, USER_BLOCK, self._addresses[COMMITS][0], self._addresses[INDEX][0],
                                   self.chunks[INDEX], _COMMIT_BYTES)
        block = head + struct.pack("<Q", digest_bytes(head, 8))
        self._write_at(0, block.ljust(USER_BLOCK, b"\0"))

    @_in_one_sentence
    def start_swmr(self):
        self._skeleton.start_swmr()

    def chunk_count(self, table):
        return len(self._addresses[table])

    def _address(self, table, chunk):
        address = self._skeleton.chunk_address(table, chunk) + self._base
        if address % 8:
            raise MoireError("this version of HDF5 does not align chunks; install another h5py")
        return address

    def _grow_index(self):
        chunk = len(self._addresses[INDEX])
        self._skeleton.extend(INDEX, (chunk + 1) * self.chunks[INDEX])
        self._addresses[INDEX].append(self._address(INDEX, chunk))

    def _append_index(self, number, records, address):
        per_chunk = self.chunks[INDEX]
        if (self._index_count + len(self._new_entries)) % per_chunk == per_chunk - 1:
            self._grow_index()
            self._new_entries.append((INDEX_LINK, per_chunk, self._addresses[INDEX][-1]))
        self._new_entries.append((number, records, address))

    @_in_one_sentence
    def make_room(self, tables, chunks, records):
        """Room for `chunks` chunks in each of the tables, which then are `records` long in HDF5."""
        first = self.chunk_count(tables[0])
        for chunk in range(first, chunks):
            for table in tables:
                per_chunk = self.chunks[table]
                last = chunk + 1 == chunks
                self._skeleton.extend(table, max(records, chunk * per_chunk + 1) if last else (chunk + 1) * per_chunk)
                address = self._address(table, chunk)
                self._addresses[table].append(address)
                self._append_index(self._tables[table].number, per_chunk, address)
        if chunks > first:
            self._skeleton.flush()

    @_in_one_sentence
    def write(self, table, first, data):
        """Writes bytes of whole records from record `first` on; requires room."""
        size, per_chunk = self._tables[table].record_bytes, self.chunks[table]
        data = memoryview(data).cast("B")
        while data.nbytes:
            taken = min((per_chunk - first % per_chunk) * size, data.nbytes)
            self._write_at(self._addresses[table][first // per_chunk] + first % per_chunk * size, data[:taken])
            data, first = data[taken:], first + taken // size

    def _write_at(self, address, data):
        data = memoryview(data)
        while data.nbytes:
            done = os.pwrite(self._descriptor, data, address)
            if done <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            data, address = data[done:], address + done

    @_in_one_sentence
    def commit(self, words):
        """`words`: a commit record by names, without sequence, index and digest."""
        if self._new_entries:
            entries = np.array(self._new_entries, RECORD_TYPES["/index"]).tobytes()
            self.write(INDEX, self._index_count, entries)
            self._index_digest = self._index_digest + digest_bytes(entries, 8, self._index_count * 2) & MASK
            self._index_count += len(self._new_entries)
            self._new_entries = []
        self._sequence += 1
        record = np.zeros(1, RECORD_TYPES["/commit"])
        for name, value in {**words, "sequence": self._sequence, "index_count": self._index_count,
                            "index_digest": self._index_digest}.items():
            record[name] = value
        record["digest"] = digest_bytes(record.tobytes()[:-8], 8)
        self._write_at(self._addresses[COMMITS][0] + self._sequence % 2 * _COMMIT_BYTES, record.tobytes())

    @_in_one_sentence
    def close_at(self, lengths):
        """Cuts every table to its length and closes the HDF5 side; commit() still works. Returns the file's size."""
        lengths = list(lengths)
        lengths[COMMITS], lengths[INDEX] = 2, self._index_count
        self._skeleton.close()
        self._skeleton.cut(lengths)
        return os.fstat(self._descriptor).st_size

    def close(self):
        """Closes the file as it is. HDF5 cannot close a file that it cannot write: then it stays as it is on disk."""
        if self._descriptor is not None:
            try:
                self._skeleton.close()
            except (OSError, RuntimeError, ValueError):
                pass
            os.close(self._descriptor)
            self._descriptor = None
