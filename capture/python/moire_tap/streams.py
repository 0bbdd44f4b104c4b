# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables 0 … 10 on their way into a file: records gathered since the last commit, counts, running digests."""

import numpy as np

from .digests import MASK, digest_bytes
from .names import layer_of
from .schema import (CHOICES, DTYPE_NUMBERS, ENDINGS, ENVIRONMENT, EVENTS, FIELD_KINDS, LEVELS, NO_SAMPLE, RECORD_TYPES,
                     ROUTERS, ROWS, RUN, SAMPLES, TAP_INPUTS, TAP_KINDS, TAPS, TEXT, TOKENS, run_tables)


class Stream:
    def __init__(self):
        self.gathered = bytearray()
        self.written = 0
        self.count = 0
        self.digest = 0


class Streams:
    def __init__(self):
        self.tables = run_tables()
        self.streams = [Stream() for _ in range(ROWS)]

    @property
    def gathered_bytes(self):
        return sum(len(stream.gathered) for stream in self.streams)

    def _add_bytes(self, table, data):
        spec, stream = self.tables[table], self.streams[table]
        before = stream.count * spec.record_bytes // spec.digest_bytes
        stream.digest = stream.digest + digest_bytes(data, spec.digest_bytes, before) & MASK
        stream.count += len(data) // spec.record_bytes
        stream.gathered += data

    def _text(self, text):
        data = text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")
        if not data:
            return 0, 0
        offset = self.streams[TEXT].count
        self._add_bytes(TEXT, data)
        return offset, len(data)

    def _add(self, table, refs, **fields):
        """One record; `refs` are texts by field name."""
        path = self.tables[table].path
        record = np.zeros(1, RECORD_TYPES[path])
        for name, text in refs.items():
            record[f"{name}_offset"], record[f"{name}_length"] = self._text(text)
        for name, value in fields.items():
            record[name] = value
        self._add_bytes(table, record.tobytes())

    def add_header(self, header, rows_per_chunk):
        self._add(RUN, {}, level=LEVELS[header.level], logits_dtype=DTYPE_NUMBERS[header.logits_dtype],
                  vocabulary=header.vocabulary, top_k=header.top_k, asked=header.asked, rows_per_chunk=rows_per_chunk)
        places = {tap.name: place for place, tap in enumerate(header.taps)}
        for tap in header.taps:
            inputs = [places.get(name, name) for name in tap.inputs]
            begin = self.streams[TAP_INPUTS].count
            self._add_bytes(TAP_INPUTS, np.array(inputs, "<u4").tobytes())
            self._add(TAPS, {"name": tap.name}, layer=layer_of(tap.name) if tap.layer is None else tap.layer,
                      kind=TAP_KINDS[tap.kind], dtype=DTYPE_NUMBERS[tap.dtype], width=tap.width,
                      inputs_complete=tap.inputs_complete, reads_earlier_rows=tap.reads_earlier_rows, slots=tap.slots,
                      inputs_begin=begin, inputs_count=len(inputs), rank=tap.rank, partial=tap.partial,
                      tp_sensitive=tap.tp_sensitive)
        for router in header.routers:
            self._add(ROUTERS, {"module": router.module},
                      layer=layer_of(router.module) if router.layer is None else router.layer, experts=router.experts,
                      chosen=router.chosen, logit_dtype=DTYPE_NUMBERS[router.logit_dtype],
                      weight_dtype=DTYPE_NUMBERS[router.weight_dtype], has_scores=router.has_scores)
        self._add_token_records(NO_SAMPLE, range(len(header.token_bytes)), header.token_bytes, None, False)
        self.add_environment(header.environment)

    def add_environment(self, fields):
        for key, value in fields.items():
            if isinstance(value, (bool, np.bool_)):
                self._add(ENVIRONMENT, {"key": key}, kind=FIELD_KINDS["boolean"], integer=int(value))
            elif isinstance(value, (int, np.integer)):
                self._add(ENVIRONMENT, {"key": key}, kind=FIELD_KINDS["integer"], integer=int(value))
            elif isinstance(value, (float, np.floating)):
                self._add(ENVIRONMENT, {"key": key}, kind=FIELD_KINDS["real"], real=float(value))
            else:
                self._add(ENVIRONMENT, {"key": key, "text": value}, kind=FIELD_KINDS["text"])

    def add_sample(self, sample):
        begin = self.streams[CHOICES].count
        for choice in sample.choices:
            self._add(CHOICES, {}, **dict(zip(("offset", "length"), self._text(choice))))
        self._add(SAMPLES, {"id": sample.id, "category": sample.category, "text": sample.text, "label": sample.label,
                            "replay_source": sample.replay_source},
                  choices_begin=begin, choices_count=len(sample.choices), repeat=sample.repeat)

    def add_tokens(self, sample, ids, pieces, offset, response):
        """`pieces`: what each id decodes to, or None; `offset`: byte at which the first begins, or None."""
        self._add_token_records(sample, ids, pieces or [b""] * len(ids), offset, response)

    def _add_token_records(self, sample, ids, pieces, offset, response):
        if not len(ids):
            return
        records = np.zeros(len(ids), RECORD_TYPES["/tokens"])
        lengths = np.array([len(piece) for piece in pieces], np.int64)
        before = np.cumsum(lengths) - lengths
        records["sample"], records["id"], records["response"] = sample, ids, response
        records["text_offset"] = -1 if offset is None else offset + before
        records["bytes_offset"] = np.where(lengths > 0, self.streams[TEXT].count + before, 0)
        records["bytes_length"] = lengths
        self._add_bytes(TEXT, b"".join(pieces))
        self._add_bytes(TOKENS, records.tobytes())

    def add_event(self, row, kind, text):
        self._add(EVENTS, {"kind": kind, "text": text}, row=row)

    def add_ending(self, sample, stop_reason, prediction):
        self._add(ENDINGS, {"stop_reason": stop_reason, "prediction": prediction}, sample=sample)


def chunk_records(table, streams, expected_rows, rows_per_chunk, row_table_count):
    """Records a chunk of tables 0 … 13 holds."""
    rows = 4096 if expected_rows == 0 else min(expected_rows, 1 << 30)
    count = streams.streams[table].count if table < ROWS else 0
    if table == TEXT:
        return max(-(-count // 4096) * 4096, min(max(rows * 8, 4096), 1 << 20))
    if table in (RUN, TAPS, TAP_INPUTS, ROUTERS):
        return max(1, count)
    if table == TOKENS:
        return count + min(max(rows, 64), 1 << 16)
    if table in (SAMPLES, ENDINGS):
        return min(max(rows // 32, 16), 1 << 12)
    if table == ROWS:
        return rows_per_chunk
    if table > ROWS:
        return 2 if table == ROWS + 1 else max(256, 4 * row_table_count)
    return 64


def row_chunk(tables, expected_rows):
    """Rows a chunk of the row tables holds: few chunks for long runs, a small file for short ones."""
    row_bytes = sum(table.record_bytes for table in tables)
    most = max(1, 0xFFFFFFFF // max(table.record_bytes for table in tables))
    if expected_rows == 0:
        return min(most, min(max((64 << 20) // row_bytes, 16), 256))
    generations = max(1, min(512, -(-expected_rows * row_bytes // (256 << 20))))
    return max(1, min(most, -(-expected_rows // generations)))
