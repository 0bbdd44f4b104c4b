# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""LiveWriter: a Writer whose rows become messages of a run (PROTOCOL.md, section 4) instead of a file."""

import time

import numpy as np

from .errors import MoireError
from .header import check_header
from .names import layer_of
from .schema import (ASKED_IDS, ASKED_VALUES, COUNTS, DIGESTS, FIRST_ROUTER, LOG_SUM_EXP, REMAINING, ROWS, STATISTICS,
                     TABLES_PER_ROUTER, TAP_KINDS, TOP_IDS, TOP_VALUES, row_tables)
from .writer import Writer

# Of rows in one message, about.
_MESSAGE_BYTES = 4 << 20
_RECORD = np.dtype({"names": ["sample", "position", "step", "batch_slot", "phase", "construction", "score_id",
                              "score_logit", "score_rank", "roll_up", "score_log_prob"],
                    "formats": ["<u4", "<u4", "<u4", "<u4", "u1", "u1", "<i4", "<f4", "<i4", "<u8", "<f8"],
                    "offsets": [0, 4, 8, 12, 16, 17, 20, 24, 28, 32, 40], "itemsize": 48})
_KINDS = {ROWS: "rows", DIGESTS: "digests", COUNTS: "counts", STATISTICS: "statistics", TOP_IDS: "top-ids",
          TOP_VALUES: "top-values", LOG_SUM_EXP: "top-lse", REMAINING: "top-mass", ASKED_IDS: "asked-ids",
          ASKED_VALUES: "asked-values"}
_ROUTE_KINDS = ("route-ids", "route-weights", "route-logits", "route-scores")


def _environment(fields):
    """[[key, value]] with values as the wire has them."""
    plain = (bool, int, float, np.bool_, np.integer, np.floating)
    return [[key, value if isinstance(value, plain) else str(value)] for key, value in fields.items()]


class _Messages:
    """Takes the place of Streams: what a Writer says of samples and tokens, as messages."""

    def __init__(self, log):
        self._log = log
        self._counts = []  # tokens of each sample
        self._sample = None  # fields of a sample whose prompt is still to come
        self.gathered_bytes = 0

    def tell_sample(self):
        """A sample waits for its prompt, which travels with it."""
        if self._sample is not None:
            fields, self._sample = self._sample, None
            self._log.append("sample", fields)

    def add_sample(self, sample):
        self.tell_sample()
        self._sample = {"sample": len(self._counts), "name": sample.id, "repeat": sample.repeat, "category": sample.category,
                        "text": sample.text, "choices": list(sample.choices), "label": sample.label,
                        "replay": sample.replay_source, "tokens": _tokens([], None, None, False)}
        self._counts.append(0)

    def add_tokens(self, sample, ids, pieces, offset, response):
        if not len(ids):
            return
        tokens, first = _tokens(ids, pieces, offset, response), self._counts[sample]
        self._counts[sample] += len(ids)
        if self._sample is not None and self._sample["sample"] == sample and not first and not response:
            self._sample["tokens"] = tokens
            self.tell_sample()
            return
        self.tell_sample()
        self._log.append("tokens", {"sample": sample, "first": first, "tokens": tokens})

    def add_ending(self, sample, stop_reason, prediction):
        self.tell_sample()
        self._log.append("sample-end", {"sample": sample, "stop": stop_reason, "prediction": prediction})

    def add_event(self, row, kind, text):
        self.tell_sample()
        self._log.append("event", {"row": row, "kind": kind, "text": text})


def _tokens(ids, pieces, offset, response):
    pieces = pieces or [b""] * len(ids)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    begins = ends - [len(piece) for piece in pieces] if len(ids) else ends
    offsets = [-1] * len(ids) if offset is None else (offset + begins).tolist()
    return {"ids": list(ids), "response": bool(response), "offsets": offsets, "ends": ends.tolist(), "bytes": b"".join(pieces)}


class LiveWriter(Writer):
    """Publishes into a RunLog. Its errors and its order of rows are Writer's; a row whose following token is not known yet
    is published when it is."""

    def __init__(self, log, *, taps=None, **options):
        self._log = log
        self._blocks = []  # (first, count, bytes of every row table by its place, without /rows)
        self._open_block = {}
        super().__init__(log.run, None, flush_seconds=0, **options)
        self._streams = _Messages(log)
        if taps is not None:
            self._open(list(taps))

    def _prepare(self):
        return None

    def open(self, header):
        check_header(header)
        self.header = header
        self.tables = row_tables(header)
        self._places = list(range(len(self.tables)))
        self._file = self._log
        vocabulary = header.token_bytes
        frames = [np.cumsum([len(piece) for piece in vocabulary], dtype="<u8"), b"".join(vocabulary)] if vocabulary else []
        self._log.append("begin", {
            "format": 1, "level": header.level, "environment": _environment(header.environment),
            "taps": self._tap_fields(), "routers": self._router_fields(),
            "logits": {"vocabulary": header.vocabulary, "top": header.top_k, "dtype": header.logits_dtype,
                       "asked": header.asked},
            "planned": self._expected, "exact": False, "vocabulary": len(vocabulary)}, frames)
        for method, args in self._early:
            getattr(self._streams, method)(*args)
        row_bytes = sum(table.record_bytes for table in self.tables)
        self._rows_per_message = max(1, _MESSAGE_BYTES // row_bytes)

    def _tap_fields(self):
        places = {tap.name: place for place, tap in enumerate(self.header.taps)}
        return [{"name": tap.name, "layer": layer_of(tap.name) if tap.layer is None else tap.layer,
                 "kind": TAP_KINDS[tap.kind], "dtype": tap.dtype, "width": tap.width, "slots": tap.slots,
                 "inputs": [places.get(name, name) for name in tap.inputs], "complete": tap.inputs_complete,
                 "earlier": tap.reads_earlier_rows, "rank": tap.rank, "partial": tap.partial,
                 "sensitive": tap.tp_sensitive} for tap in self.header.taps]

    def _router_fields(self):
        return [{"module": router.module, "layer": layer_of(router.module) if router.layer is None else router.layer,
                 "experts": router.experts, "chosen": router.chosen, "logits": router.logit_dtype,
                 "weights": router.weight_dtype, "scores": router.has_scores} for router in self.header.routers]

    def reserve(self, count):
        self._check_open()
        self._open_block = {}
        return self._rows

    def write(self, table, first, data):
        data = np.ascontiguousarray(data)
        self._open_block[table] = data.reshape(data.shape[0], -1).copy()  # it may lie in the model's own memory

    def take(self, block):
        self._blocks.append((block.first, block.count, self._open_block))
        self._open_block = {}
        super().take(block)

    def end_sample(self, sample, stop_reason="", prediction=""):
        super().end_sample(sample, stop_reason, prediction)
        if self._file is not None:
            self.flush()

    def flush(self):
        """Publishes what is there, up to the first row whose following token is not known yet."""
        self._check_open()
        if self._file is None:
            return
        limit = min(self._awaiting, default=self._rows)
        self._streams.tell_sample()
        while self._pending and self._pending[0][0] < limit:
            first, records = self._pending.pop(0)
            while self._events and self._events[0][0] <= first:
                self._streams.add_event(*self._events.pop(0))
            done, rest = records[: limit - first], records[limit - first :]
            self._publish(first, done)
            self._committed = first + len(done)
            if len(rest):
                self._pending.insert(0, (self._committed, rest))
                break
        while self._events and self._events[0][0] <= limit:
            self._streams.add_event(*self._events.pop(0))
        self._unflushed, self._last_flush = 0, time.monotonic()

    def _publish(self, first, records):
        """Rows of one block, in messages of about 4 MiB."""
        while self._blocks[0][0] + self._blocks[0][1] <= first:
            self._blocks.pop(0)
        block_first, block_count, tables = self._blocks[0]
        lines = np.zeros(len(records), _RECORD)
        for name in _RECORD.names:
            lines[name] = records[name]
        for begin in range(0, len(records), self._rows_per_message):
            end = min(begin + self._rows_per_message, len(records))
            frames, layout = [memoryview(lines[begin:end].tobytes())], [["rows", 0, 1]]
            at = first + begin - block_first
            for place, table in enumerate(self.tables[1:], 1):
                kind, index = self._kind_of(table.number)
                if layout[-1][0] == kind:
                    layout[-1][2] += 1
                else:
                    layout.append([kind, index, 1])
                frames.append(tables[place][at:at + end - begin].data.cast("B"))
            self._log.append("rows", {"first": first + begin, "count": end - begin, "frames": layout}, frames)
        if first + len(records) >= block_first + block_count:
            self._blocks.pop(0)

    def _kind_of(self, number):
        if number in _KINDS:
            return _KINDS[number], 0
        router, part = divmod(number - FIRST_ROUTER, TABLES_PER_ROUTER)
        if router < len(self.header.routers):
            return _ROUTE_KINDS[part], router
        return "values", number - FIRST_ROUTER - TABLES_PER_ROUTER * len(self.header.routers)

    def finish(self, **closing):
        """No more rows: the run is complete."""
        self._check_open()
        if self._file is None:
            if self.header is None and not self._early:
                raise MoireError("nothing was recorded; append rows before the end")
            self._open([])
        self._settle_all()
        self.flush()
        self._log.append("finish", {"environment": _environment({name.replace("__", "."): value
                                                                 for name, value in closing.items()})})
        self._finished = True

    def abandon(self, reason="", state="failed"):
        """The run ends here and says that it is incomplete."""
        if self._finished:
            return
        if self._file is not None:
            self._settle_all()
            self.flush()
        self._finished = True
        self._log.append("broken", {"state": state, "sentence": reason or "the recording was ended before the run did"})
