# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""One forward pass on its way into a capture. The taps of a model are known after its first pass only."""

import os
import tempfile

import numpy as np

from .block import Block
from .errors import MoireError

# Values of the first pass kept in memory before they go to a file.
_IN_MEMORY = 64 << 20


class Spool:
    """Values of the first pass, until the capture's file can be made."""

    def __init__(self, path):
        """`path` of the capture, or None: then in the system's folder."""
        folder = None if path is None else os.path.dirname(os.path.abspath(path))
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=folder)

    def put(self, bits):
        self._file.seek(0, os.SEEK_END)
        begin = self._file.tell()
        self._file.write(memoryview(np.ascontiguousarray(bits)).cast("B"))
        return begin, bits.shape, bits.dtype

    def get(self, where):
        begin, shape, kind = where
        self._file.seek(begin)
        return np.frombuffer(self._file.read(int(np.prod(shape)) * kind.itemsize), kind).reshape(shape)

    def close(self):
        self._file.close()


class Pass:
    """Gathers taps, routing and logits of one pass; finish() makes them rows."""

    def __init__(self, writer, spool, call, rows):
        self.call, self.rows = call, rows
        self.shape = call.batch, call.length
        every = call.batch * call.length
        self.pick = None if rows.pick.size == every and (rows.pick == np.arange(every)).all() else rows.pick
        self.taps = {}  # name -> (dtype, width, summary, place in the spool) in the order of execution
        self.routing = {}  # module -> (ids, weights, logits) as tensors
        self.held = {}  # module -> logits of a router whose choice is still to come
        self.skipped = []
        self.logits = None  # LogitsRows
        self.noted = writer.header is not None
        self._writer, self._spool, self.depth = writer, spool, 0
        self._block = None
        if writer.header is not None:
            self._places = {tap.name: t for t, tap in enumerate(writer.header.taps)}
            if rows.pick.size:
                self._block = Block(writer, rows.pick.size)
    
    @property
    def has_logits(self):
        return self.logits is not None

    def has(self, tap):
        return tap in self.taps

    def skip(self, tap):
        """A tensor without a row for every token."""
        if self._block is None:
            self.skipped.append(tap)

    def add(self, tap, bits, dtype, summary, width=None):
        width = width or sum(summary.counts[0].tolist())  # every element is of one class
        where = None
        if self._block is None:
            where = self._spool.put(bits) if bits is not None else None
        else:
            self._put(tap, bits, dtype, width, summary)
        self.taps[tap] = (dtype, width, summary, where)

    def _put(self, tap, bits, dtype, width, summary):
        place = self._places.get(tap)
        if place is None:
            return  # not there in the first pass: the file has no place for it
        spec = self._writer.header.taps[place]
        if (dtype.name, width) != (spec.dtype, spec.width):
            raise MoireError(f"{tap} was {spec.dtype} x {spec.width} and is now {dtype.name} x {width}; record such runs"
                             " into files of their own")
        self._block.put(place, bits, summary)

    def add_logits(self, bits, dtype):
        self.logits = self._writer.judge_logits(self.rows.records, bits, dtype, await_next=True)

    def finish(self):
        if self._block is None:
            self._block = Block(self._writer, self.rows.pick.size)
            for place, tap in enumerate(self._writer.header.taps):
                _, _, summary, where = self.taps[tap.name]
                self._block.put(place, None if where is None else self._spool.get(where), summary)
            self._spool.close()
        for tap in self._writer.header.taps:
            if tap.name not in self.taps:
                raise MoireError(f"{tap.name} was there in the first pass and is not in a later one; leave it out:"
                                 f" taps=['*', '!{tap.name}']")
        for place, router in enumerate(self._writer.header.routers):
            if router.module not in self.routing:
                raise MoireError(f"{router.module} routed in the first pass and not in a later one")
            self._block.put_routing(place, *self.routing[router.module])
        if self._writer.header.vocabulary:
            if self.logits is None:
                raise MoireError("a pass made no logits, as the first did; record it into a file of its own")
            self._block.put_logits(self.logits)
        self._block.records[:] = self.rows.records
        self._block.finish()
