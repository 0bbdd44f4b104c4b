# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Writer: makes a capture from arrays."""

import os
import time
from array import array
from dataclasses import dataclass

import numpy as np

from .block import Block
from .digests import MASK, digest_bytes
from .dtypes import as_floats, bits_of, dtype_of
from .errors import MoireError
from .header import HEAD, Header, Sample, check_header, infer_taps
from .part_file import PartFile, prepare_target
from .schema import CONSTRUCTIONS, LEVELS, PHASES, ROWS, row_tables
from .streams import Streams, chunk_records, row_chunk
from .summaries import TopK, score, summarise
from .tokens import token_bytes

_FIRST_ROOM = 1 << 30


@dataclass
class _Lane:
    """A sample under way: its tokens, how many bytes they decode to, and where its next row goes."""

    ids: array
    text_bytes: int | None
    next_position: int = 0
    asked: tuple = ()
    awaiting: tuple | None = None  # row, its logits, their log-sum-exp: the token that follows is not known yet


@dataclass
class LogitsRows:
    """What is recorded of some rows of logits."""

    dtype: object
    vocabulary: int
    table: TopK
    asked_ids: np.ndarray
    asked_values: np.ndarray
    awaiting: list  # (lane, row, logits, their log-sum-exp): the token that follows is not known yet


def _score(record, logits, log_sum_exp, token):
    if 0 <= token < logits.size:
        logit, log_prob, rank = score(logits, log_sum_exp, token)
        record["score_id"], record["score_logit"] = token, logit
        record["score_log_prob"], record["score_rank"] = log_prob, rank


class Writer:
    """Writes one capture; until it is finished the file is PATH.part, which opens at any time, also after kill -9.

        with moire_tap.Writer("mine.moire") as writer:
            sample = writer.sample("question 1", tokens=[3, 1, 4])
            writer.append(sample, {"model.layers.0.out": hidden, "lm_head.out": logits})

    `taps`: a list of Tap; None: taken from the first arrays that are appended. `level`: full, topk (no values, but
    statistics) or digest. `tokenizer`: a tokenizer of transformers or tokenizers, so that tokens have text.
    `environment`: fields of FORMAT.md ("model.name", …). `expected_rows` sizes the file's chunks, when known.
    Errors are MoireError, one sentence.
    """

    def __init__(self, path, taps=None, *, routers=(), level="full", vocabulary=None, logits_dtype=None, top_k=64,
                 asked=0, tokenizer=None, environment=None, expected_rows=0, flush_seconds=0.25, flush_bytes=16 << 20):
        if level not in LEVELS:
            raise MoireError(f"there is no level {level}; levels are full, topk and digest")
        self.path = os.fspath(path)
        self._settings = dict(routers=list(routers), level=level, vocabulary=vocabulary, logits_dtype=logits_dtype,
                              top_k=top_k, asked=asked, environment=dict(environment or {}),
                              token_bytes=token_bytes(tokenizer) if tokenizer is not None else [])
        self._expected, self._flush_seconds, self._flush_bytes = expected_rows, flush_seconds, flush_bytes
        self._streams = Streams()
        self._lanes = []
        self._awaiting = {}  # row -> lane
        self._events = []
        self._early = []  # what was said of samples before the taps were known
        self._file = None
        self._finished = False
        self._rows = 0  # rows whose values are in the file
        self._pending = []  # (first row, row records) not yet committed
        self._committed = 0
        self._row_digest = 0
        self._unflushed = 0
        self._last_flush = time.monotonic()
        self.header = None
        self._part = self._prepare()
        if taps is not None:
            self._open(list(taps))

    def _prepare(self):
        return prepare_target(self.path)

    # Samples and tokens

    def sample(self, id=None, tokens=(), *, response_from=None, asked=(), **fields):
        """Begins a sample and returns its number. `tokens`: the ids known by now; those from place `response_from`
        on are its response. `asked`: ids whose logits are recorded at every row (answer letters). Other fields:
        text, category, label, choices, replay_source, repeat."""
        number = len(self._lanes)
        self._tell("add_sample", Sample(str(number) if id is None else str(id), **fields))
        self._lanes.append(_Lane(array("q"), 0 if self._settings["token_bytes"] else None, asked=tuple(asked)))
        tokens = [int(token) for token in tokens]
        cut = len(tokens) if response_from is None else response_from
        self.add_tokens(number, tokens[:cut], response=False)
        self.add_tokens(number, tokens[cut:], response=True)
        return number

    def add_tokens(self, sample, ids, response=True):
        """Tokens of a sample as they come."""
        lane = self._lane(sample)
        ids = [int(token) for token in ids]
        known = self._settings["token_bytes"]
        pieces = [known[i] if 0 <= i < len(known) else b"" for i in ids] if known else None
        self._tell("add_tokens", sample, ids, pieces, lane.text_bytes, response)
        if pieces:
            lane.text_bytes += sum(map(len, pieces))
        if ids and lane.awaiting is not None:
            self._settle(lane, ids[0])
        lane.ids.extend(ids)

    def end_sample(self, sample, stop_reason="", prediction=""):
        """No more tokens of a sample. `stop_reason`: end, length, cancelled or nothing."""
        lane = self._lane(sample)
        if stop_reason or prediction:
            self._tell("add_ending", sample, stop_reason, prediction)
        if lane.awaiting is not None:
            self._settle(lane, -1)

    def tokens(self, sample):
        """The ids of a sample known by now."""
        return list(self._lane(sample).ids)

    def event(self, kind, text):
        """Something that happened: kind is gap, drop or warning."""
        self._check_open()
        self._events.append((self._rows, kind, text))

    def _lane(self, sample):
        if not 0 <= sample < len(self._lanes):
            raise MoireError(f"there is no sample {sample}; begin it with Writer.sample")
        return self._lanes[sample]

    def _tell(self, method, *args):
        """Now, or once the header is written: the vocabulary's tokens come before all others."""
        self._check_open()
        if self._file is None:
            self._early.append((method, args))
        else:
            getattr(self._streams, method)(*args)

    # Rows

    def append(self, sample, values, *, position=None, logits=None, routing=None, phase="forced", construction="once",
               step=0, batch_slot=0, await_next=False):
        """Appends consecutive rows of one sample. `values`: for every tap an array rows x width (one row may be 1-D).
        `position` of the first (unless given, it follows the last one appended). `logits`: unless given, those of the tap
        lm_head.out. `routing`: for every router (ids, weights, logits) or (ids, weights, logits, scores).
        `await_next`: the token that follows the last row will be given by add_tokens; the row is kept open until then."""
        values = {name: np.atleast_2d(v) if not hasattr(v, "detach") else v.reshape(-1, v.shape[-1])
                  for name, v in values.items()}
        if logits is not None and not hasattr(logits, "detach"):
            logits = np.atleast_2d(logits)
        if self._file is None:
            self._open(infer_taps(values), HEAD in values or logits is None, logits)
        lane = self._lane(sample)
        block = Block(self, len(next(iter(values.values()), [] if logits is None else logits)))
        self._put_values(block, values)
        begin = lane.next_position if position is None else int(position)
        lane.next_position = begin + block.count
        rows = block.records
        rows["sample"], rows["position"] = sample, np.arange(begin, begin + block.count)
        rows["step"], rows["batch_slot"] = step, batch_slot
        rows["phase"], rows["construction"] = PHASES[phase], CONSTRUCTIONS[construction]
        if self.header.vocabulary:
            bits, dtype = bits_of(values[HEAD] if logits is None else logits, self.header.logits_dtype)
            block.put_logits(self.judge_logits(rows, bits, dtype, await_next))
        self._put_routing(block, routing or {})
        block.finish()

    def _put_values(self, block, values):
        places = {tap.name: t for t, tap in enumerate(self.header.taps)}
        unknown = [name for name in values if name not in places and name != HEAD]
        missing = [name for name in places if name not in values]
        if unknown or missing:
            raise MoireError(f"there is no tap {unknown[0]} in this capture" if unknown
                             else f"the rows have no values of {missing[0]}; every row holds every tap")
        for name, t in places.items():
            bits, dtype = bits_of(values[name], self.header.taps[t].dtype)
            block.put(t, bits, summarise(bits, dtype))

    def _put_routing(self, block, routing):
        for j, router in enumerate(self.header.routers):
            if router.module not in routing:
                raise MoireError(f"the rows have no routing of {router.module}; every row holds every router")
            block.put_routing(j, *routing[router.module])

    def judge_logits(self, records, bits, dtype, await_next=False):
        """LogitsRows of rows x V bits, and the scores in `records`, which say sample and position of each row."""
        k, asked = min(self._settings["top_k"], bits.shape[1]), self._settings["asked"]
        judged = LogitsRows(dtype, bits.shape[1], TopK.empty(len(records), k), np.full((len(records), asked), -1, np.int32),
                            np.zeros((len(records), asked), np.float32), [])
        for r, record in enumerate(records):
            logits = as_floats(bits[r], dtype).astype(np.float32)
            judged.table.put(r, logits)
            lane = self._lanes[record["sample"]]
            ids = list(lane.asked[:asked])
            judged.asked_ids[r, : len(ids)], judged.asked_values[r, : len(ids)] = ids, logits[ids]
            following, log_sum_exp = int(record["position"]) + 1, judged.table.log_sum_exp[r]
            if following < len(lane.ids):
                _score(records[r : r + 1], logits, log_sum_exp, lane.ids[following])
            elif await_next:
                judged.awaiting.append((lane, r, logits, log_sum_exp))
        return judged

    def _settle(self, lane, token):
        row, logits, log_sum_exp = lane.awaiting
        lane.awaiting = None
        del self._awaiting[row]
        for first, records in self._pending:
            if first <= row < first + len(records):
                _score(records[row - first : row - first + 1], logits, log_sum_exp, token)

    def _settle_all(self):
        for lane in list(self._awaiting.values()):
            self._settle(lane, -1)

    # The file

    def _open(self, taps, logits_from_head=True, logits=None):
        settings = dict(self._settings)
        head = next((tap for tap in taps if tap.name == HEAD), None)
        if logits is not None:
            settings["vocabulary"], settings["logits_dtype"] = logits.shape[-1], dtype_of(logits.dtype).name
        elif settings["vocabulary"] is None and head is not None and logits_from_head:
            settings["vocabulary"], settings["logits_dtype"] = head.width, head.dtype
        settings["vocabulary"] = settings["vocabulary"] or 0
        settings["logits_dtype"] = dtype_of(settings["logits_dtype"] or "fp32").name
        settings["top_k"] = min(settings["top_k"], settings["vocabulary"])
        settings["asked"] = settings["asked"] if settings["vocabulary"] else 0
        self.open(Header(taps=taps, **settings))

    def header_with(self, taps, routers, vocabulary, logits_dtype, environment):
        """This writer's settings and what only the run's first rows tell."""
        settings = {**self._settings, "routers": routers, "vocabulary": vocabulary, "logits_dtype": logits_dtype,
                    "environment": {**self._settings["environment"], **environment}}
        settings["top_k"] = min(settings["top_k"], vocabulary)
        settings["asked"] = settings["asked"] if vocabulary else 0
        return Header(taps=taps, **settings)

    def open(self, header):
        """Makes the file. Called by the constructor or the first append."""
        check_header(header)
        self.header = header
        self.tables = row_tables(header)
        per_chunk = row_chunk(self.tables, self._expected)
        self._streams.add_header(header, per_chunk)
        every = self._streams.tables + self.tables[1:]
        chunks = [chunk_records(t, self._streams, self._expected, per_chunk, len(self.tables)) if t < 14 else per_chunk
                  for t in range(len(every))]
        self._places = [ROWS, *range(14, len(every))]
        self._file = PartFile(self._part, every, chunks)
        try:
            for table in range(ROWS):
                self._write_stream(table)
            self._make_room(1)
            self._file.start_swmr()
            self._commit(0)
        except MoireError:
            self._file.close()
            self._finished = True
            self._part.unlink(missing_ok=True)  # it holds nothing yet
            raise
        for method, args in self._early:
            getattr(self._streams, method)(*args)

    def _check_open(self):
        if self._finished:
            raise MoireError(f"{self.path} is finished; nothing can be added")

    def place_of(self, table):
        """A row table's place in the file's list, from its place among the row tables."""
        return self._places[table]

    def reserve(self, count):
        self._check_open()
        self._make_room(self._rows + count)
        return self._rows

    def write(self, table, first, data):
        self._file.write(table, first, data)

    def take(self, block):
        """The block's rows are all in the file: they now count."""
        for lane, r, logits, log_sum_exp in block.awaiting:
            lane.awaiting = (block.first + r, logits, log_sum_exp)
            self._awaiting[block.first + r] = lane
        self._pending.append((block.first, block.records))
        self._rows += block.count
        self._unflushed += block.count * sum(table.record_bytes for table in self.tables)
        if self._unflushed + self._streams.gathered_bytes >= self._flush_bytes \
                or time.monotonic() - self._last_flush >= self._flush_seconds:
            self.flush()

    def _make_room(self, count):
        per_chunk, have = self._file.chunks[ROWS], self._file.chunk_count(ROWS)
        need = -(-count // per_chunk)
        if need <= have:
            return
        chunks = max(need, have + have // 2)
        if self._expected:
            expected = -(-self._expected // per_chunk)
            if have == 0:
                row_bytes = sum(table.record_bytes for table in self.tables)
                chunks = max(chunks, min(expected, _FIRST_ROOM // (row_bytes * per_chunk)))
            chunks = max(need, min(chunks, expected))
        length = chunks * per_chunk
        if count <= self._expected:
            length = min(length, self._expected)
        self._file.make_room(self._places, chunks, length)

    def _write_stream(self, table):
        stream = self._streams.streams[table]
        if stream.gathered:
            per_chunk = self._file.chunks[table]
            chunks = -(-stream.count // per_chunk)
            self._file.make_room([table], chunks, chunks * per_chunk)
            self._file.write(table, stream.written, bytes(stream.gathered))
            stream.written = stream.count
            stream.gathered = bytearray()

    def flush(self):
        """Writes and commits what is there, up to the first row whose following token is not known yet."""
        self._check_open()
        if self._file is None:
            return
        limit = min(self._awaiting, default=self._rows)
        while self._events and self._events[0][0] <= limit:
            self._streams.add_event(*self._events.pop(0))
        for table in range(ROWS):
            self._write_stream(table)
        while self._pending and self._pending[0][0] < limit:
            first, records = self._pending.pop(0)
            done, rest = records[: limit - first], records[limit - first :]
            data = done.tobytes()
            self._file.write(ROWS, first, data)
            self._row_digest = self._row_digest + digest_bytes(data, 8, first * 7) & MASK
            self._committed = first + len(done)
            if len(rest):
                self._pending.insert(0, (self._committed, rest))
                break
        self._commit(0)
        self._unflushed, self._last_flush = 0, time.monotonic()

    def _commit(self, file_bytes):
        words = {"state": 1 if file_bytes else 0, "expected_rows": self._expected, "file_bytes": file_bytes}
        for table, stream in enumerate(self._streams.streams):
            path = self._streams.tables[table].path[1:]
            words[f"{path}_count"], words[f"{path}_digest"] = stream.count, stream.digest
        words["rows_count"], words["rows_digest"] = self._committed, self._row_digest
        self._file.commit(words)

    def finish(self, **closing):
        """No more rows: the file is completed and takes its name. `closing`: environment fields known only now,
        with "__" for the dot (run__wall_seconds=…)."""
        self._check_open()
        if self._file is None:
            if self.header is None and not self._early:
                raise MoireError(f"nothing was recorded into {self.path}; append rows before the end")
            self._open([])
        self._settle_all()
        self._streams.add_environment({name.replace("__", "."): value for name, value in closing.items()})
        self.flush()
        lengths = [stream.count for stream in self._streams.streams]
        lengths += [self._rows] * (14 - ROWS + len(self.tables) - 1)
        self._commit(self._file.close_at(lengths))
        self._file.close()
        try:
            os.replace(self._part, self.path)
        except OSError as error:
            raise MoireError(f"cannot rename {self._part} to {self.path}: {error.strerror}") from error
        self._finished = True

    def close(self, **closing):
        """finish(), or where that fails, abandon()."""
        try:
            self.finish(**closing)
        except MoireError:
            self.abandon()
            raise

    def abandon(self, reason=""):
        """Stops without finishing: what was recorded stays in PATH.part, which says that it is incomplete."""
        if self._file is not None and not self._finished:
            try:
                self._settle_all()
                if reason:
                    self.event("warning", reason)
                self.flush()
            except MoireError:
                pass  # nothing more can be written: the reason given is the one that counts
            self._file.close()
        self._finished = True

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        else:
            self.abandon(f"recording ended early: {kind.__name__}: {value}")
