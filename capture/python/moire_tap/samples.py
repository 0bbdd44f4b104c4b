# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward passes as rows of samples: batches, padding, packed sequences, decoding with a cache."""

import weakref
from dataclasses import dataclass, field

import numpy as np

from .errors import MoireError
from .schema import CONSTRUCTIONS, PHASES, RECORD_TYPES


@dataclass
class Lane:
    """One sample in one slot of a batch."""

    sample: int
    columns: int = 0  # columns of its cache, padding included
    position: int = 0  # of its next token
    step: int = 0
    ended: bool = False


@dataclass
class Generation:
    """A call of generate() under way."""

    prompt: int  # columns of the padded prompts
    ends: frozenset  # ids that end a sample
    sampling: str  # as run.sampling says it
    lanes: list = field(default_factory=list)


@dataclass
class PassRows:
    """The rows that one pass adds: where they are among batch x length, and what is said of each."""

    pick: np.ndarray
    records: np.ndarray
    lanes: list


class Samples:
    """Gives every pass its rows. `writer` gets samples and tokens; `rows` chooses positions."""

    def __init__(self, writer, rows=None):
        self._writer = writer
        self._rows = rows
        self._caches = []  # (reference to a cache, its lanes)
        self._names = []
        self.generation = None
        self._waiting = set()  # samples whose last row waits for the next token

    def name_next(self, ids, fields):
        if ids is None and not fields:
            return
        count = len(ids) if ids is not None else len(next(iter(fields.values())))
        for n in range(count):
            named = {name: values[n] for name, values in fields.items()}
            self._names.append((None if ids is None else ids[n], named))

    def begin(self, call):
        """The rows of a pass that is about to run."""
        lanes = self._lanes_of(call)
        if lanes is None:
            if call.past and self.generation is None and not call.real.any():
                raise MoireError("the pass has no token that is not padding")
            lanes, parts = self._begin_samples(call)
        else:
            parts = self._go_on(call, lanes)
        self._end_others({lane.sample for lane in lanes})
        return self._rows_of(parts, lanes)

    def replay(self):
        """Environment fields: a run of generate() is free, any other scores what it is given."""
        if self.generation is None:
            return {"run.replay": "forced", "run.construction": "once"}
        return {"run.replay": "free", "run.construction": "steps", "run.sampling": self.generation.sampling}

    def end(self, cache, lanes, batch):
        """Remembers whose cache it is; `cache` is the one that the pass was given or made."""
        if cache is None or len(lanes) != batch:
            return
        self._caches = [(ref, known) for ref, known in self._caches if ref() is not None and ref() is not cache][-8:]
        try:
            reference = weakref.ref(cache)
        except TypeError:
            reference = lambda: cache  # noqa: E731 - a tuple cannot be referred to weakly
        self._caches.append((reference, lanes))

    def _lanes_of(self, call):
        if not call.past:
            return None
        for reference, lanes in self._caches:
            if reference() is call.cache and len(lanes) == call.batch:
                if call.past != max(lane.columns for lane in lanes):
                    raise MoireError("the key-value cache was cut or filled elsewhere between two passes (assisted"
                                     " generation does that); record plain decoding")
                return lanes
        return None

    def _begin_samples(self, call):
        lanes, parts = [], []
        for b in range(call.batch):
            columns = np.flatnonzero(call.real[b])
            cuts = np.flatnonzero(call.starts[b, columns]) if not call.past else []
            for segment in np.split(columns, cuts):
                if segment.size == 0:
                    continue
                name, fields = self._names.pop(0) if self._names else (None, {})
                ids = call.ids[b, segment]
                responses = call.responses[b, segment] if call.responses is not None else None
                first = fields.pop("response_from", None)
                if first is None and responses is not None and responses.any():
                    first = int(np.argmax(responses))
                sample = self._writer.sample(name, [-1] * call.past, **fields)
                self._writer.add_tokens(sample, ids[:first] if first is not None else ids, response=False)
                if first is not None:
                    self._writer.add_tokens(sample, ids[first:], response=True)
                lane = Lane(sample, call.past + call.length, call.past + segment.size)
                lanes.append(lane)
                # The last token of a response predicts nothing that belongs to the sample.
                recorded = segment[:-1] if first is not None and first < segment.size else segment
                parts.append((b, lane, recorded, call.past, self._first_phase(call), "once"))
        if self.generation is not None:
            self.generation.lanes = lanes
        return lanes, [(*part, call.length) for part in parts]

    def _first_phase(self, call):
        if self.generation is not None:
            return "prefill"
        return "decode" if call.past and call.length == 1 else "forced"

    def _go_on(self, call, lanes):
        parts = []
        for b, lane in enumerate(lanes):
            columns = np.flatnonzero(call.real[b])
            in_prompt = self.generation is not None and lane.columns < self.generation.prompt
            decodes = not in_prompt and (self.generation is not None or call.length == 1)
            lane.columns += call.length
            if lane.ended or columns.size == 0:
                continue
            ids = call.ids[b, columns]
            self._writer.add_tokens(lane.sample, ids, response=decodes)
            if self.generation is not None and decodes and int(ids[-1]) in self.generation.ends:
                self._finish(lane, "end")
                continue
            phase = "decode" if decodes else "prefill" if self.generation is not None else "forced"
            parts.append((b, lane, columns, lane.position, phase, "steps" if decodes else "once", call.length))
            lane.position += columns.size
        return parts

    def _rows_of(self, parts, lanes):
        picks, records = [np.empty(0, np.int64)], [np.empty(0, RECORD_TYPES["/rows"])]
        for b, lane, columns, position, phase, construction, length in parts:
            places = position + np.arange(columns.size)
            kept = self._wanted(places)
            lines = np.zeros(int(kept.sum()), RECORD_TYPES["/rows"])
            lines["sample"], lines["position"], lines["batch_slot"] = lane.sample, places[kept], b
            lines["step"], lines["phase"], lines["construction"] = lane.step, PHASES[phase], CONSTRUCTIONS[construction]
            lines["score_id"] = lines["score_rank"] = -1
            lane.step += 1
            picks.append(b * length + columns[kept])
            records.append(lines)
            self._waiting.add(lane.sample)
        return PassRows(np.concatenate(picks), np.concatenate(records), lanes)

    def _wanted(self, positions):
        if self._rows is None:
            return np.ones(positions.shape, bool)
        if callable(self._rows):
            return np.array([bool(self._rows(int(position))) for position in positions], bool)
        if isinstance(self._rows, slice):
            begin, end, step = self._rows.start or 0, self._rows.stop, self._rows.step or 1
            return (positions >= begin) & ((positions - begin) % step == 0) & (positions < (end or np.inf))
        return positions % int(self._rows) == 0

    def _end_others(self, going_on):
        """Outside generate() a sample that a pass leaves out has no next token."""
        for sample in self._waiting - going_on:
            self._writer.end_sample(sample)
        self._waiting &= going_on

    def _finish(self, lane, reason):
        lane.ended = True
        self._writer.end_sample(lane.sample, reason)
        self._waiting.discard(lane.sample)

    def finish_generation(self, sequences):
        """`sequences`: what generate() returned, batch x columns: the last token never went through the model."""
        lanes = self.generation.lanes
        if sequences is not None and len(lanes) == len(sequences):
            for lane, ids in zip(lanes, sequences):
                if not lane.ended and len(ids) > lane.columns:
                    last = int(ids[lane.columns])
                    self._writer.add_tokens(lane.sample, [last])
                    self._finish(lane, "end" if last in self.generation.ends else "length")
        self.generation = None
