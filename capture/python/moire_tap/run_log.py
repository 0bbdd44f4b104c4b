# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The numbered messages of one run that is published (PROTOCOL.md, section 4), in bounded memory."""

import threading
import time

from . import cbor

FINAL = ("finish", "broken")
# Bytes that the fields of a small message are taken to hold in memory.
_SMALL = 200


class Entry:
    """One message. Rows that were dropped keep their numbers and their place."""

    __slots__ = ("fields", "frames", "bytes", "first", "count")

    def __init__(self, fields, frames=()):
        self.fields, self.frames = fields, list(frames)
        self.first, self.count = (fields["first"], fields["count"]) if fields["t"] == "rows" else (0, 0)
        self.bytes = sum(len(memoryview(frame).cast("B")) for frame in self.frames)

    @property
    def is_rows(self):
        return self.count > 0


class Hold:
    """The memory that rows of all runs of a server may take together."""

    def __init__(self, limit):
        self.limit, self.held = limit, 0
        self.logs = []  # the oldest first
        self.closed = False  # nobody waits any longer
        self.changed = threading.Condition()


class RunLog:
    """One thread appends, the server's thread reads. Rows beyond the limit wait for the lossless streams that still need
    them; where nobody does the oldest become a gap."""

    def __init__(self, run, hold, grown):
        self.run, self._hold, self._grown = run, hold, grown
        self.entries = []
        self.rows = self.total_bytes = 0
        self.waited = 0.0
        self.waiting = self.closed = False
        self.state, self.sentence = "running", ""
        self._needed = {}  # lossless stream -> first message that it still needs
        self._oldest = 0  # no rows are held before this message
        self.began = time.monotonic()
        self.ended = None
        with hold.changed:
            hold.logs.append(self)

    # By the run's thread

    def append(self, type, fields, frames=()):
        """Adds a message. Waits for room where a lossless stream must not lose rows."""
        entry = Entry({"t": type, "run": self.run, "seq": len(self.entries), **fields}, frames)
        with self._hold.changed:
            if entry.is_rows:
                self._make_room(entry.bytes)
                self._hold.held += entry.bytes
                self.rows = entry.first + entry.count
            self.total_bytes += entry.bytes + _SMALL
            self.entries.append(entry)
            if type in FINAL:
                self.closed, self.ended = True, time.monotonic()
                self.state = fields.get("state", "finished")
                self.sentence = fields.get("sentence", "")
        self._grown()

    def _make_room(self, wanted):
        hold, began = self._hold, None
        while hold.held and hold.held + wanted > hold.limit and not hold.closed:
            if any(log._drop_oldest() for log in hold.logs):
                continue
            if not any(log._needed for log in hold.logs):
                break  # one message that is larger than the limit
            began = began or time.monotonic()
            self.waiting, self.state = True, "waiting"
            hold.changed.wait(0.1)
        if began is not None:
            self.waited += time.monotonic() - began
            self.waiting, self.state = False, "running"

    def _drop_oldest(self):
        """Forgets the oldest rows that are held and nobody needs; whether there were any."""
        needed = min(self._needed.values(), default=len(self.entries))
        while self._oldest < min(needed, len(self.entries)):
            entry = self.entries[self._oldest]
            self._oldest += 1
            if entry.is_rows:
                entry.frames = None
                self._hold.held -= entry.bytes
                return True
        return False

    def forget(self):
        """Gives back all memory."""
        with self._hold.changed:
            self._needed.clear()
            while self._drop_oldest():
                pass
            self._hold.logs.remove(self)
            self._hold.changed.notify_all()

    # By the server's thread

    def keep_for(self, stream, sequence):
        with self._hold.changed:
            self._needed[stream] = sequence
            self._hold.changed.notify_all()

    def release(self, stream):
        with self._hold.changed:
            self._needed.pop(stream, None)
            self._hold.changed.notify_all()

    @property
    def streams(self):
        return len(self._needed)

    def __len__(self):
        return len(self.entries)

    def read(self, sequence, values):
        """(fields, frames, the sequence after it) of a message; `values`: True, False or a set of taps."""
        with self._hold.changed:
            entry = self.entries[sequence]
            if entry.frames is not None:
                fields, frames = _chosen(entry, values)
                return fields, frames, sequence + 1
            end = sequence
            while end < len(self.entries) and self.entries[end].frames is None:
                end += 1
            last = self.entries[end - 1]
            gap = {"t": "gap", "run": self.run, "seq": sequence, "from": sequence, "to": end, "first": entry.first,
                   "count": last.first + last.count - entry.first,
                   "sentence": "the publisher had no memory left for these rows, and nobody was receiving them losslessly"}
            return gap, [], end


def _chosen(entry, values):
    """Without the values of taps that are not wanted."""
    if values is True or not entry.is_rows:
        return entry.fields, entry.frames
    layout, frames, place = [], [], 0
    for kind, index, count in entry.fields["frames"]:
        for n in range(index, index + count):
            if kind != "values" or (values and n in values):
                if layout and layout[-1][0] == kind and layout[-1][1] + layout[-1][2] == n:
                    layout[-1][2] += 1
                else:
                    layout.append([kind, n, 1])
                frames.append(entry.frames[place])
            place += 1
    return {**entry.fields, "frames": layout}, frames


def packed(fields, frames):
    """Header and frames as bytes, and how many there are."""
    parts = [cbor.encode(fields), *frames]
    return parts, len(parts[0]) + sum(memoryview(frame).nbytes for frame in frames)
